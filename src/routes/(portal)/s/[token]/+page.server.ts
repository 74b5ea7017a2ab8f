import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { formatDuration } from '#lib/duration.ts';
import { formatMoney } from '#lib/money.ts';
import { readFields } from '#lib/pay-form.ts';
import { offeredMethods } from '#lib/payment-methods.ts';
import { formatMobile } from '#lib/phone.ts';
import { phoneHint } from '#lib/phone-hint.ts';
import { HINT_AFTER_SECONDS } from '#lib/purchase-state.ts';
import { boundsText, quote } from '#lib/quote.ts';
import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/api-client.ts';
import { showBrand } from '#lib/server/http/brand.ts';
import { PriceChanged } from '#lib/server/purchases/purchases.ts';
import { qrSvg } from '#lib/server/wifi-qr-svg.ts';
import { clockText } from '#lib/when.ts';
import { wifiQrText } from '#lib/wifi-qr.ts';
import { notSent, orCalmly, readForm } from '../../calm.ts';
import { paymentRefusal, type RefusedFields } from '../../refusal.ts';
import type { Actions, PageServerLoad } from './$types';
import { otherNotes, receiptLines, stateOf, type Purchase } from './view.ts';

const UNREACHABLE = 'Your purchase cannot be read at the moment. It is recorded and your payment is safe.';

/**
 * A page that loads itself again without script is answered when there is news, or after this time: the browser shows
 * the old page meanwhile, the news is there at once, and the service is asked a few times a minute instead of twenty.
 */
const HOLD_SECONDS = 10;

const PRICE_CHANGED = 'The price has changed. Look at it, then press the button again.';

async function findPurchase(event: RequestEvent<{ token: string }>): Promise<Purchase> {
	const { purchases } = event.locals.app;
	const holds = event.request.method === 'GET' && event.url.searchParams.has('held');
	const found = await orCalmly(
		purchases.find(apiClient(event), event.params.token, holds ? HOLD_SECONDS : 0),
		UNREACHABLE
	);
	if (!found) error(404, 'This address belongs to no purchase. Check that it is complete.');
	return found;
}

/** What paying again costs: the agreed price while this order can be paid, else today's. */
function priceAgain({ router, session }: Purchase): number | null {
	if (session.status === 'pending_payment') return session.amount;
	return quote(router, session.duration)?.amount ?? null;
}

export const load: PageServerLoad = async (event) => {
	const purchase = await findPurchase(event);
	// This purchase goes on in the one that replaced it; the old address leads there.
	if (purchase.successor !== null && event.request.method === 'GET') {
		redirect(303, `/s/${purchase.successor}`);
	}
	const { config } = event.locals.app;
	const { router, session, payment } = purchase;
	const now = new Date(event.locals.app.clock.now());
	const state = stateOf(purchase, now, config.reportTimezone);
	const { password } = session;

	const again = priceAgain(purchase);
	const canPay = again !== null && (session.status === 'pending_payment' || router.status === 'online');
	const asksAgain = event.url.searchParams.has('again') || event.request.method === 'POST';
	const showsForm =
		canPay &&
		(state.action === 'retry' || state.action === 'renew' || (state.action === 'wait-or-retry' && asksAgain));

	return {
		state,
		brand: showBrand(event, router),
		router: { id: router.id, name: router.name, open: router.security === 'nopass' },
		ssid: session.ssid,
		money: formatMoney(session.amount, session.currency),
		notes: otherNotes(purchase),
		lines: receiptLines(purchase, now, config.reportTimezone),
		asOf: clockText(now, config.reportTimezone),
		ageSeconds: payment ? Math.max(0, (now.getTime() - Date.parse(payment.created_at)) / 1000) : 0,
		hintAfterSeconds: HINT_AFTER_SECONDS,
		pass:
			password === null
				? null
				: {
						password,
						qr: qrSvg(wifiQrText({ ssid: session.ssid, security: router.security, password })),
						remainingSeconds: session.remaining_seconds ?? 0,
						totalSeconds: session.duration_seconds
					},
		again: showsForm
			? {
					amount: again,
					money: formatMoney(again, session.currency),
					words: formatDuration(session.duration),
					methods: offeredMethods(router.payment_methods),
					network: session.payment_method,
					phone: formatMobile(payment?.phone ?? session.phone),
					hint: phoneHint(config.defaultRegion)
				}
			: null,
		offersAgain: canPay && state.action === 'wait-or-retry' && !asksAgain
	};
};

export const actions: Actions = {
	/** Pays this purchase again, or the same time anew where it can no longer be paid. */
	retry: async (event) => {
		const purchase = await findPurchase(event);
		const entry = readFields(await readForm(event.request), ['network', 'phone', 'quoted']);
		const errors: RefusedFields = {
			...(offeredMethods(purchase.router.payment_methods).includes(entry.network)
				? {}
				: { network: 'Choose a network.' }),
			...(entry.phone === '' ? { phone: 'Type the number that pays.' } : {})
		};
		// The amount that is charged is the amount that was shown.
		if (entry.quoted !== String(priceAgain(purchase))) {
			errors.form = PRICE_CHANGED;
		}
		if (Object.keys(errors).length > 0) return fail(400, { entry, errors });

		let token: string;
		try {
			token = await event.locals.app.purchases.retry(apiClient(event), event.params.token, {
				paymentMethod: entry.network,
				phone: entry.phone,
				amount: Number(entry.quoted),
				currency: purchase.session.currency
			});
		} catch (problem) {
			if (problem instanceof ApiUnavailable) {
				const form = notSent(problem, 'try again: you will not be charged twice.');
				return fail(503, { entry, errors: { form } });
			}
			if (problem instanceof PriceChanged) return fail(400, { entry, errors: { form: PRICE_CHANGED } });
			if (!(problem instanceof ApiProblem)) throw problem;
			return fail(400, {
				entry,
				errors: paymentRefusal(problem, {
					region: phoneHint(event.locals.app.config.defaultRegion),
					bounds: boundsText(purchase.router)
				})
			});
		}
		redirect(303, `/s/${token}`);
	},

	/** Ends running time before its end. Asked twice, it has ended once. */
	end: async (event) => {
		const { session } = await findPurchase(event);
		try {
			if (session.status === 'active') await orCalmly(apiClient(event).endSession(session.id), UNREACHABLE);
		} catch (problem) {
			if (!(problem instanceof ApiProblem && problem.code === 'session_not_active')) throw problem;
		}
		redirect(303, `/s/${event.params.token}`);
	}
};

import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { sellsNothing } from '#lib/checkout/price.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { dataWords } from '#lib/checkout/purchase/data.ts';
import type { PurchaseState } from '#lib/checkout/purchase/state.ts';
import { waitFor } from '#lib/checkout/purchase/waits.ts';
import { apiClient, ApiProblem } from '#lib/server/portal/api-client.ts';
import type { PurchasePart } from '#lib/server/portal/purchases/purchases.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { clockText } from '#lib/format/when.ts';
import { orUnavailable } from '../../api-errors.ts';
import { enterAgain } from '../../splash/splash.ts';
import { addForm, addTime, routerToAdd } from './add-time.ts';
import {
	adoptCaptiveSession,
	deviceOf,
	goOnline,
	isLetIn,
	isOnline,
	mayHaveLeft,
	onlineHeading,
	watchText
} from './go-online.ts';
import { codeBySms, sendCode } from './code-by-sms.ts';
import { findPurchase } from './purchase.ts';
import { hasReceipt, pageAddress, shortLines } from './receipt.ts';
import { payAgain, priceAgain, retryForm } from './retry.ts';
import type { Actions, PageServerLoad, PageServerLoadEvent } from './$types';
import { purchaseShown, type Purchase, type PurchaseShown } from './view.ts';
import { endText, moveTo } from './move-to.ts';
import { signInInstructions, takesCode, type SignIn } from './sign-in-instructions.ts';

export const load: PageServerLoad = async (event) => {
	const purchase = await findPurchase(event);
	await adoptCaptiveSession(event, purchase.router.id);
	// A replaced purchase redirects to its replacement.
	if (purchase.successor !== null && event.request.method === 'GET') {
		await event.locals.app.captiveSessions.moveToPurchase(event.params.token, purchase.successor);
		redirect(303, link(`/s/${purchase.successor}`));
	}
	const { config, clock } = event.locals.app;
	const { router, session, code } = purchase;
	const now = new Date(clock.now());
	const shown = purchaseShown(purchase, now, config.reportTimezone);
	const { state, added, pass, part, waiting, notes, watch } = shown;
	const payment = waiting?.payment ?? part.payment;
	const buyer = await deviceOf(event, router.id);
	const buyPath = pathToBuy(event, purchase, buyer);
	if (buyer && event.request.method === 'GET' && event.url.searchParams.has('buy')) {
		redirect(303, buyPath === BUY ? await enterAgain(event, buyer) : buyPath);
	}
	const device = pass && buyer && !mayHaveLeft(buyer) ? buyer : null;
	const sms = await codeBySms(event, event.params.token, shown);
	const { gateways } = event.locals.app;
	const here = pass && (await gateways.signInAt(router.id));
	const signIn = here?.method ?? 'typed';
	const startAddress = device ? null : (here?.startAddress ?? null);
	return {
		state: { ...state, ...headingOf(event, shown, { device, signIn }) },
		brand: showBrand(event, router),
		added,
		watch: watchText(watch, device, sms?.state),
		sms,
		code,
		keepsCode: pass === null && mayReturn(state, part),
		routerName: router.name,
		buyPath,
		isWaiting: waiting !== null,
		money: formatMoney(payment?.amount ?? session.amount, session.currency),
		notes: event.url.searchParams.has('elsewhere')
			? [m.splash_other_router({ name: apart(router.name) }), ...notes]
			: notes,
		lines: shortLines(purchase, now, config.reportTimezone),
		hasReceipt: hasReceipt(purchase),
		asOf: clockText(now, config.reportTimezone),
		waits: waiting?.payment ? waitFor(waiting.payment, now) : null,
		online: goOnline(event, device, {
			page: link(`/s/${event.params.token}`),
			ssid: apart(session.ssid),
			signIn
		}),
		/** The buyer's part of the API cannot end extra time. */
		endText: pass?.session.isExtra ? null : endText(session, signIn),
		...passData(event, purchase, shown, { device, signIn, startAddress }),
		...payingAgain(event, purchase, shown),
		...addingTime(event, purchase, shown)
	};
};

const BUY = '?buy';

/** Leads to prices; what is bought there connects the same device. */
function pathToBuy(
	{ locals: { app } }: PageServerLoadEvent,
	purchase: Purchase,
	device: Access['device']
): string {
	if (!device) return link(`/r/${purchase.router.id}`);
	// At the end of the time, or when nothing let the device in, only a new redirect names it to the gateway.
	const isForgotten = [purchase, ...purchase.added].some(
		({ session }) => session.starts_at !== null || session.status_reason === 'provisioning_failed'
	);
	const hasRedirect = app.captiveSessions.startAddress(device.gateway) !== null;
	const isStale = hasRedirect && (isForgotten || device.entry.state === 'online');
	return isStale ? link(`/splash/${device.gateway.key}`) : BUY;
}

interface Access {
	device: Awaited<ReturnType<typeof deviceOf>>;
	signIn: SignIn;
}

/** Changes the words of the state for a connected device, and for a buyer who types a code. */
function headingOf(event: PageServerLoadEvent, { state, pass }: PurchaseShown, { device, signIn }: Access) {
	const asksCode = pass !== null && takesCode(pass.session, signIn);
	return {
		// They find the next step below.
		...((asksCode || isLetIn(device)) && { text: '' }),
		...(asksCode && { next: m.purchase_code_text() }),
		...(isOnline(event, device) && onlineHeading(state))
	};
}

function passData(
	{ locals, params }: PageServerLoadEvent,
	{ code }: Purchase,
	{ pass }: PurchaseShown,
	{ device, signIn, startAddress }: Access & { startAddress: string | null }
) {
	const address = pageAddress(locals.origin, params.token);
	return {
		pass: pass && {
			instructions: signInInstructions(pass.session, {
				...{ shownOn: device ? 'gateway' : 'page', signIn, code, startAddress }
			}),
			remainingSeconds: pass.remainingSeconds,
			totalSeconds: pass.totalSeconds,
			warnSeconds: pass.warnSeconds,
			data: pass.data && dataWords(pass.data)
		},
		move: pass && moveTo(pass.session, { address, code, signIn })
	};
}

const asksFor = ({ url, request }: PageServerLoadEvent, name: 'again' | 'more'): boolean =>
	url.searchParams.has(name) || request.method === 'POST';

function payingAgain(event: PageServerLoadEvent, purchase: Purchase, { state: { action } }: PurchaseShown) {
	const price = priceAgain(purchase);
	const sells = purchase.session.status === 'pending_payment' || purchase.router.status === 'online';
	const canPayAgain = price !== null && sells;
	const asksAgain = asksFor(event, 'again');
	const mayWait = action === 'wait-or-retry';
	const showsAgain = canPayAgain && (action === 'retry' || action === 'renew' || (mayWait && asksAgain));
	return {
		again: showsAgain ? retryForm(purchase, price, event.locals.app.config.defaultRegion) : null,
		offersAgain: canPayAgain && mayWait && !asksAgain
	};
}

function addingTime(event: PageServerLoadEvent, purchase: Purchase, { pass, added, part }: PurchaseShown) {
	const { config, purchases } = event.locals.app;
	// The API adds no time to a session that has expired.
	const hasTime = pass !== null && !pass.session.isExtra;
	const mayAdd = hasTime && purchase.router.status === 'online' && added?.action !== 'none';
	const offersAdd = mayAdd && !sellsNothing(routerToAdd(purchase));
	const asksMore = asksFor(event, 'more');
	// Only on request or after a refusal: pages stay small, and a reload would empty the form.
	const showsAdd = offersAdd && (asksMore || (added !== null && added.refreshSeconds === null));
	const hint = phoneHint(config.defaultRegion);
	return {
		offersAdd,
		asksMore,
		add: showsAdd ? { ...addForm(purchase, part, purchases.newToken()), hint } : null
	};
}

/** The code leads back to a result that is still to come. */
const mayReturn = ({ refreshSeconds }: PurchaseState, { payment }: PurchasePart): boolean =>
	refreshSeconds !== null || payment?.status === 'refund_failed';

export const actions: Actions = {
	retry: payAgain,
	extend: addTime,
	sms: sendCode,

	move: async (event) => {
		const { token } = event.params;
		const isMoved = await event.locals.app.captiveSessions.moveSlots(token);
		redirect(303, link(`/s/${token}`) + (isMoved ? '?moved' : '?later'));
	},

	/** Ends the running time, including added time. Repeating it changes nothing. */
	end: async (event) => {
		const { session, added } = await findPurchase(event);
		const active = [session, ...added.map((part) => part.session)].filter(
			({ status, isExtra }) => status === 'active' && !isExtra
		);
		active.sort((a, b) => Date.parse(a.starts_at ?? '') - Date.parse(b.starts_at ?? ''));
		const [first] = active;
		try {
			if (first) await orUnavailable(apiClient(event).endSession(first.id), m.purchase_unreachable());
		} catch (problem) {
			if (!(problem instanceof ApiProblem && problem.code === 'session_not_active')) throw problem;
		}
		redirect(303, link(`/s/${event.params.token}`));
	}
};

import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { link } from '#lib/language/current.ts';
import * as m from '#lib/language/messages.js';
import { readPayEntry, timeValue, wantedTime, type PayEntry } from '#lib/pay-form.ts';
import { offeredMethods } from '#lib/payment-methods.ts';
import { formatMobile } from '#lib/phone.ts';
import { phoneHint } from '#lib/phone-hint.ts';
import { boundsText, timeChoices, usualChoice, type TimeChoice } from '#lib/quote.ts';
import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/api-client.ts';
import { PriceChanged, type PurchasePart } from '#lib/server/purchases/purchases.ts';
import { readForm } from '../../calm.ts';
import { paymentRefusal, type RefusedFields } from '../../refusal.ts';
import { findPurchase } from './purchase.ts';
import { notSentAgain } from './retry.ts';
import type { Purchase } from './view.ts';

/** The form that adds time, as it stands on the page of a purchase: the router's own, with the payer filled in. */
export function addForm({ router }: Purchase, { session, payment }: PurchasePart, purchase: string) {
	const usual = usualChoice(timeChoices(router));
	const entry: PayEntry = {
		time: usual ? timeValue(usual) : '',
		count: '',
		unit: '',
		asked: '',
		quoted: '',
		pays: '',
		network: session.payment_method,
		phone: formatMobile(payment?.phone ?? session.phone),
		purchase
	};
	const { price, currency, min_duration, max_duration, payment_methods } = router;
	return { router: { price, currency, min_duration, max_duration, payment_methods }, entry };
}

/** Adds time to the pass of a purchase. Sent twice, it is added once. */
export async function addTime(event: RequestEvent<{ token: string }>) {
	const { purchases, config } = event.locals.app;
	const entry = readPayEntry(await readForm(event.request));
	const { router } = await findPurchase(event);
	const wanted = wantedTime(router, entry);
	const errors: RefusedFields = {
		...('error' in wanted ? { time: wanted.error } : {}),
		...(offeredMethods(router.payment_methods).includes(entry.network)
			? {}
			: { network: m.purchase_choose_network() }),
		...(entry.phone === '' ? { phone: m.purchase_type_number() } : {})
	};
	if ('error' in wanted || Object.keys(errors).length > 0) return fail(400, { more: entry, errors });
	if (!wanted.seen) {
		const shown = wanted.own ? { ...entry, time: 'own' } : entry;
		return { more: shown, quoted: quotation(wanted, entry.pays !== '') };
	}
	try {
		await purchases.extend(apiClient(event), event.params.token, {
			token: entry.purchase,
			duration: wanted.choice.duration,
			paymentMethod: entry.network,
			phone: entry.phone,
			amount: wanted.choice.amount,
			currency: router.currency
		});
	} catch (problem) {
		if (problem instanceof ApiUnavailable) {
			return fail(503, { more: entry, errors: { form: notSentAgain(problem) } as RefusedFields });
		}
		if (problem instanceof PriceChanged) {
			return fail(400, { more: entry, errors: { form: m.purchase_price_changed() } as RefusedFields });
		}
		if (!(problem instanceof ApiProblem)) throw problem;
		return fail(400, {
			more: entry,
			errors: paymentRefusal(problem, {
				region: phoneHint(config.defaultRegion),
				bounds: boundsText(router)
			})
		});
	}
	redirect(303, link(`/s/${event.params.token}`));
}

/** @param chosenAnew another time was chosen than the one whose price the button names */
function quotation({ choice, own }: { choice: TimeChoice; own: boolean }, chosenAnew: boolean) {
	const price = { time: choice.words, money: choice.money };
	const why = own || chosenAnew ? m.purchase_own_price(price) : m.purchase_new_price(price);
	return { choice, own, why };
}

import { OrderedBefore } from '#lib/server/portal/earlier-orders.ts';
import { retryPurchase } from '#lib/server/portal/ordering.ts';
import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { readTexts, type FormErrors, type PayAgain } from '#lib/checkout/pay-form.ts';
import { agreedWords } from '#lib/checkout/offer-words.ts';
import { chargingMethods } from '#lib/checkout/price.ts';
import { ANY_PAYMENT_METHOD } from '#lib/domain/payment-methods/payment-method-guess.ts';
import { methodName } from '#lib/domain/payment-methods/payment-methods.ts';
import { formatMobile } from '#lib/domain/phone.ts';
import { quote, quoteOffer } from '#lib/checkout/quote.ts';
import { takeDeviceOrder } from '#lib/server/web/portal/splash/limits.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '../api-errors.ts';
import { earlierNotice, ordererOf } from '../earlier-notice.ts';
import { manyUnpaid, orderRefusal, showAgain, type Refusal } from '../order-refusal.ts';
import { requirePurchase } from './find-purchase.ts';
import { ownPath, type PageEvent } from './page-path.ts';
import type { Purchase } from './purchase-shown.ts';

/** Describes how to pay again, at the agreed price while this order can be paid; null if its time is not sold any more. */
export function payingAgain(purchase: Purchase): PayAgain | null {
	const { router, session, payment } = purchase;
	const amount = priceAgain(purchase);
	const isSold = session.status === 'pending_payment' || router.status === 'online';
	if (amount === null || !isSold) return null;
	return {
		amount,
		money: formatMoney(amount, session.currency),
		words: agreedWords(session.duration, session.offer),
		...methodsAgain(purchase, amount),
		paymentMethod: session.payment_method,
		phone: formatMobile(payment?.phone ?? session.phone)
	};
}

const priceAgain = (purchase: Purchase): number | null =>
	purchase.session.status === 'pending_payment' ? purchase.session.amount : priceNow(purchase);

function priceNow({ router, session: { duration, offer } }: Purchase): number | null {
	return (offer ? quoteOffer(router, duration, offer.id) : quote(router, duration))?.amount ?? null;
}

/** Another method needs a new order, so it is missing while only this order keeps the agreed price. */
function methodsAgain(purchase: Purchase, amount: number): Pick<PayAgain, 'methods' | 'note'> {
	const { payment_method: own } = purchase.session;
	if (priceNow(purchase) === amount) return { methods: chargingMethods(purchase.router, amount), note: null };
	const note = own === ANY_PAYMENT_METHOD ? null : m.purchase_price_kept({ method: methodName(own) });
	return { methods: [own], note };
}

export interface RetryEntry {
	paymentMethod: string;
	phone: string;
	quoted: string;
	another: string;
}

/** Explains by field why a form cannot pay again. Only the amount that was shown is charged. */
export function retryProblems(purchase: Purchase, entry: RetryEntry): FormErrors {
	if (entry.quoted !== String(priceAgain(purchase))) return { form: m.purchase_price_changed() };
	const { methods, note } = methodsAgain(purchase, Number(entry.quoted));
	return {
		...(methods.includes(entry.paymentMethod) ? {} : { paymentMethod: note ?? m.router_choose_method() }),
		...(entry.phone === '' ? { phone: m.router_type_number() } : {})
	};
}

/**
 * Pays this purchase again, or buys the same time if it can't be paid any more. Returns the token to show.
 * @throws as `retryPurchase`
 */
export function retryFor(event: RequestEvent, token: string, { session }: Purchase, entry: RetryEntry) {
	const { paymentMethod, phone, quoted, another } = entry;
	const form = { paymentMethod, phone, amount: Number(quoted), currency: session.currency };
	const orderer = ordererOf(event, another);
	return retryPurchase(event.locals.app.purchases, apiClient(event), token, form, orderer);
}

/** Counts the payment for the device that the page's path names; null if it is admitted, otherwise the seconds to wait. */
async function takeRetry(event: PageEvent, { router }: Purchase): Promise<number | null> {
	const { token, device = null } = event.params;
	if (device === null) return null;
	const found = await event.locals.app.captiveSessions.ofPurchase({ token, routerId: router.id, device });
	return found?.isReader ? takeDeviceOrder(event, device, found.entry.clientMac) : null;
}

export async function payAgain(event: PageEvent) {
	const purchase = await requirePurchase(event);
	const entry = readTexts(await readForm(event.request), [
		...(['paymentMethod', 'phone', 'quoted', 'another'] as const)
	]);
	const refused = (refusal: Refusal) => showAgain(event, { retried: entry }, refusal);
	const errors = retryProblems(purchase, entry);
	if (Object.keys(errors).length > 0) return refused({ status: 400, errors });
	const wait = await takeRetry(event, purchase);
	if (wait !== null) return refused(manyUnpaid(wait));
	let token: string;
	try {
		token = await retryFor(event, event.params.token, purchase, entry);
	} catch (problem) {
		if (problem instanceof OrderedBefore) {
			const money = formatMoney(Number(entry.quoted), purchase.session.currency);
			const earlier = earlierNotice(event, problem.earlier, { fields: { ...entry }, money });
			return fail(409, { retried: entry, earlier });
		}
		return refused(orderRefusal(event, problem));
	}
	if (token !== event.params.token)
		await event.locals.app.captiveSessions.moveToPurchase(event.params.token, token);
	redirect(303, ownPath(event, token));
}

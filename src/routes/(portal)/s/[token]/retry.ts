import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { formatDuration } from '#lib/domain/duration.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { readFields, type FormErrors } from '#lib/checkout/pay-form.ts';
import { chargingMethods } from '#lib/checkout/price.ts';
import { formatMobile } from '#lib/domain/phone.ts';
import { phoneHint } from '#lib/checkout/phone-hint.ts';
import { quote } from '#lib/checkout/quote.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '../../api-errors.ts';
import { orderRefusal, PAID_AGAIN } from '../../refusal.ts';
import { findPurchase } from './purchase.ts';
import type { Purchase } from './view.ts';

/** Returns the agreed price while this order can be paid, otherwise the current one, or null. */
export function priceAgain({ router, session }: Purchase): number | null {
	if (session.status === 'pending_payment') return session.amount;
	return quote(router, session.duration)?.amount ?? null;
}

export function retryForm({ router, session, payment }: Purchase, amount: number, region: string) {
	return {
		amount,
		money: formatMoney(amount, session.currency),
		words: formatDuration(session.duration),
		methods: chargingMethods(router, amount),
		paymentMethod: session.payment_method,
		phone: formatMobile(payment?.phone ?? session.phone),
		hint: phoneHint(region)
	};
}

/** Pays this purchase again, or buys the same time if this purchase can't be paid any more. */
export async function payAgain(event: RequestEvent<{ token: string }>) {
	const purchase = await findPurchase(event);
	const entry = readFields(await readForm(event.request), ['paymentMethod', 'phone', 'quoted']);
	const errors: FormErrors = {
		...(chargingMethods(purchase.router, Number(entry.quoted)).includes(entry.paymentMethod)
			? {}
			: { paymentMethod: m.purchase_choose_network() }),
		...(entry.phone === '' ? { phone: m.purchase_type_number() } : {})
	};
	// Charges only the amount that was shown.
	if (entry.quoted !== String(priceAgain(purchase))) errors.form = m.purchase_price_changed();
	if (Object.keys(errors).length > 0) return fail(400, { retried: entry, errors });

	let token: string;
	try {
		token = await event.locals.app.purchases.retry(apiClient(event), event.params.token, {
			paymentMethod: entry.paymentMethod,
			phone: entry.phone,
			amount: Number(entry.quoted),
			currency: purchase.session.currency
		});
	} catch (problem) {
		const {
			status,
			errors,
			headers = {}
		} = orderRefusal(problem, PAID_AGAIN, {
			router: purchase.router,
			region: event.locals.app.config.defaultRegion
		});
		event.setHeaders(headers);
		return fail(status, { retried: entry, errors });
	}
	if (token !== event.params.token) await event.locals.app.captiveSessions.carry(event.params.token, token);
	redirect(303, link(`/s/${token}`));
}

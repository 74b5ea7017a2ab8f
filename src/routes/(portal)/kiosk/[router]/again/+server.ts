import * as m from '#lib/i18n/messages.js';
import { readFields } from '#lib/checkout/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '../../../api-errors.ts';
import { methodsAgain, priceAgain } from '../../../s/[token]/retry.ts';
import { answerOrder, refused, unsentOrder } from '../answers.ts';
import type { RequestHandler } from './$types';

/** Pays the purchase of the form's `token` again. Returns its new `{ token }`, or `{ errors }` by field. */
export const POST: RequestHandler = async (event) => {
	const entry = readFields(await readForm(event.request), ['token', 'paymentMethod', 'phone', 'quoted']);
	const { purchases } = event.locals.app;
	try {
		const purchase = await purchases.find(apiClient(event), entry.token);
		if (!purchase) return refused({ form: m.purchase_not_found() }, 404);
		const { router, session } = purchase;
		// Charges only the amount that was shown.
		if (entry.quoted !== String(priceAgain(purchase)))
			return refused({ form: m.purchase_price_changed() }, 409);
		const { methods, note } = methodsAgain(purchase, Number(entry.quoted));
		if (!methods.includes(entry.paymentMethod)) {
			return refused({ paymentMethod: note ?? m.purchase_choose_method() });
		}
		if (entry.phone === '') return refused({ phone: m.purchase_type_number() });
		const order = purchases.retry(apiClient(event), entry.token, {
			paymentMethod: entry.paymentMethod,
			phone: entry.phone,
			amount: Number(entry.quoted),
			currency: session.currency
		});
		return await answerOrder(event, router, order);
	} catch (problem) {
		return unsentOrder(problem);
	}
};

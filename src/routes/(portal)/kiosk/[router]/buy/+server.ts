import * as m from '#lib/i18n/messages.js';
import { readPayEntry, wantedTime } from '#lib/checkout/pay-form.ts';
import { chargingMethods } from '#lib/checkout/price.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm, routerOf } from '#lib/server/web/portal/api-errors.ts';
import { purchaseForm } from '#lib/server/web/portal/order.ts';
import { answerOrder, refused, unsentOrder } from '#lib/server/web/portal/kiosk/answers.ts';
import type { RequestHandler } from './$types';

/**
 * Buys the time of a form (pay-form.ts). Returns the purchase's `{ token }`, or `{ errors }` by field. Forms
 * with the same `purchase` make one purchase.
 */
export const POST: RequestHandler = async (event) => {
	const entry = readPayEntry(await readForm(event.request));
	const { purchases } = event.locals.app;
	try {
		const router = await routerOf(event);
		if (!router) return refused({ form: m.kiosk_no_router() }, 404);
		const wanted = wantedTime(router, entry);
		if ('error' in wanted) return refused({ [wanted.gone ? 'form' : 'time']: wanted.error });
		// Charges only the amount that was shown.
		if (!wanted.seen) return refused({ form: m.purchase_price_changed() }, 409);
		if (!chargingMethods(router, wanted.choice.amount).includes(entry.paymentMethod)) {
			return refused({ paymentMethod: m.router_choose_method() });
		}
		if (entry.phone === '') return refused({ phone: m.router_type_number() });
		const form = purchaseForm(router, entry, wanted.choice);
		return await answerOrder(event, router, purchases.buy(apiClient(event), entry.purchase, form));
	} catch (problem) {
		return unsentOrder(problem);
	}
};

import * as m from '#lib/i18n/messages.js';
import { readPayEntry, wantedTime } from '#lib/purchase/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm, readRouter } from '#lib/server/web/portal/pages.ts';
import { findOrderProblems, makePurchaseForm, readOrderer } from '#lib/server/web/portal/order.ts';
import { answerOrder } from '#lib/server/web/portal/kiosk.ts';
import type { RequestHandler } from './$types';
import { buyTime } from '#lib/server/portal/ordering.ts';

/** Buys the time of a form (pay-form.ts). Forms with the same `purchase` make one purchase. */
export const POST: RequestHandler = async (event) => {
	const entry = readPayEntry(await readForm(event.request));
	return answerOrder(event, async () => {
		const router = await readRouter(event);
		if (!router) return { status: 404, errors: { form: m.router_gone_offline() } };
		const wanted = wantedTime(router, entry);
		const errors = findOrderProblems(router, entry, wanted);
		if ('error' in wanted || Object.keys(errors).length > 0) return { status: 400, errors };
		// Charges only the amount that was shown.
		if (!wanted.seen) return { status: 409, errors: { form: m.purchase_price_changed() } };
		const form = makePurchaseForm(router, entry, wanted.choice);
		const orderer = readOrderer(event, entry.another);
		return buyTime(event.locals.app.purchases, apiClient(event), entry.purchase, form, orderer);
	});
};

import * as m from '#lib/i18n/messages.js';
import { readTexts } from '#lib/purchase/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '#lib/server/web/portal/pages.ts';
import { findRetryProblems, sendRetry } from '#lib/server/web/portal/purchase.ts';
import { answerOrder } from '#lib/server/web/portal/kiosk.ts';
import type { RequestHandler } from './$types';
import { findPurchase } from '#lib/server/portal/ordering.ts';

/** Pays the purchase of the form's `token` again. */
export const POST: RequestHandler = async (event) => {
	const entry = readTexts(await readForm(event.request), [
		...(['token', 'paymentMethod', 'phone', 'quoted', 'another'] as const)
	]);
	return answerOrder(event, async () => {
		const purchase = await findPurchase(event.locals.app.purchases, apiClient(event), entry.token);
		if (!purchase) return { status: 404, errors: { form: m.purchase_not_found() } };
		const errors = findRetryProblems(purchase, entry);
		if (Object.keys(errors).length > 0) return { status: 400, errors };
		return sendRetry(event, entry.token, purchase, entry);
	});
};

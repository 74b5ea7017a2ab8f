import * as m from '#lib/i18n/messages.js';
import { readTexts } from '#lib/checkout/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '#lib/server/web/portal/api-errors.ts';
import { retry, retryProblems } from '#lib/server/web/portal/purchase/retry.ts';
import { answerOrder, refused, unsentOrder } from '#lib/server/web/portal/kiosk/answers.ts';
import type { RequestHandler } from './$types';

/** Pays the purchase of the form's `token` again. Returns its new `{ token }`, or `{ errors }` by field. */
export const POST: RequestHandler = async (event) => {
	const entry = readTexts(await readForm(event.request), ['token', 'paymentMethod', 'phone', 'quoted']);
	try {
		const purchase = await event.locals.app.purchases.find(apiClient(event), entry.token);
		if (!purchase) return refused({ form: m.purchase_not_found() }, 404);
		const problems = retryProblems(purchase, entry);
		if (Object.keys(problems).length > 0) return refused(problems, problems.form === undefined ? 400 : 409);
		return await answerOrder(event, purchase.router, retry(event, entry.token, purchase, entry));
	} catch (problem) {
		return unsentOrder(problem);
	}
};

import { readTexts } from '#lib/checkout/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '#lib/server/web/portal/api-errors.ts';
import { sendCodeOf } from '#lib/server/web/portal/purchase/code-by-sms.ts';
import { answer, unanswered } from '#lib/server/web/portal/status.ts';
import { kioskPurchase } from '#lib/server/web/portal/kiosk/kiosk-purchase.ts';
import type { RequestHandler } from './$types';

/** Sends the code of the form's `token` by SMS. Returns the purchase (KioskPurchase); 404 if there is none. */
export const POST: RequestHandler = async (event) => {
	const { token } = readTexts(await readForm(event.request), ['token']);
	try {
		const found = await event.locals.app.purchases.find(apiClient(event), token);
		if (!found) return answer({ state: null }, 404);
		await sendCodeOf(event, token, found);
		return answer(await kioskPurchase(event, token, found));
	} catch (problem) {
		return unanswered(problem);
	}
};

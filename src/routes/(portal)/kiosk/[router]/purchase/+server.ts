import { readTexts } from '#lib/checkout/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '#lib/server/web/portal/api-errors.ts';
import { sendCodeOf } from '#lib/server/web/portal/purchase/code-by-sms.ts';
import { answer, unanswered } from '#lib/server/web/portal/status.ts';
import { kioskPurchase } from '#lib/server/web/portal/kiosk/kiosk-purchase.ts';
import type { RequestHandler } from './$types';
import { findPurchase } from '#lib/server/portal/ordering.ts';

/** Limits the chain of purchases that replaced each other. */
const MAX_STEPS = 8;

/**
 * Reads the purchase of the form's `token` (KioskPurchase) or its replacement; 404 if there is none. With `sms`, sends its
 * code to the number that paid.
 */
export const POST: RequestHandler = async (event) => {
	const form = readTexts(await readForm(event.request), ['token', 'sms']);
	let { token } = form;
	try {
		for (let steps = 0; steps < MAX_STEPS; steps += 1) {
			const found = await findPurchase(event.locals.app.purchases, apiClient(event), token);
			if (!found) return answer({ state: null }, 404);
			if (found.successor === null) {
				if (form.sms !== '') await sendCodeOf(event, token, found);
				return answer(await kioskPurchase(event, token, found));
			}
			token = found.successor;
		}
		return answer({ state: null }, 404);
	} catch (problem) {
		return unanswered(problem);
	}
};

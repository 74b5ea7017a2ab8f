import { readTexts } from '#lib/purchase/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { answerJson, answerUnavailable, pageAddress, readForm } from '#lib/server/web/portal/pages.ts';
import {
	type Purchase,
	describePurchase,
	describeRetry,
	queueCode,
	readCodeSms
} from '#lib/server/web/portal/purchase.ts';
import type { RequestHandler } from './$types';
import { findPurchase } from '#lib/server/portal/ordering.ts';
import type { RequestEvent } from '@sveltejs/kit';
import type { KioskPurchase } from '#lib/kiosk/client.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { hideMiddle } from '#lib/domain/phone.ts';
import { describeWait, formatDataLeft } from '#lib/purchase/state.ts';
import { qrSvg } from '#lib/server/portal/wifi-qr-svg.ts';
import { writeInstructions } from '#lib/server/web/portal/go-online.ts';
import { findSignIn } from '#lib/server/gateways/gateways.ts';

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
			if (!found) return answerJson({ state: null }, 404);
			if (found.successor === null) {
				if (form.sms !== '') await queueCode(event, token, found);
				return answerJson(await describeForKiosk(event, token, found));
			}
			token = found.successor;
		}
		return answerJson({ state: null }, 404);
	} catch (problem) {
		return answerUnavailable(problem);
	}
};

const PAYS_AGAIN: readonly string[] = ['retry', 'wait-or-retry', 'renew'];

/** Describes a purchase for the kiosk. Only the screen that paid gets the password. */
async function describeForKiosk(
	event: RequestEvent,
	token: string,
	purchase: Purchase
): Promise<KioskPurchase> {
	const { app } = event.locals;
	const { session, payment, code } = purchase;
	const shown = describePurchase(app, purchase);
	const { state, pass, notes, watch } = shown;
	const here = pass && (await findSignIn(app.gateways, purchase.router.id));
	const [signIn, startAddress] = [here?.method ?? 'typed', here?.startAddress ?? null];
	const again = PAYS_AGAIN.includes(state.action) ? describeRetry(purchase) : null;
	return {
		...state,
		token,
		watch,
		code,
		notes: [...(state.note === null ? [] : [state.note]), ...notes],
		money: formatMoney(session.amount, session.currency),
		waits: payment && describeWait(payment, new Date(app.clock.now())),
		phoneQr: qrSvg(pageAddress(event.locals.origin, token)),
		data: pass?.data ? formatDataLeft(pass.data).text : null,
		pass:
			pass &&
			writeInstructions(pass.session, {
				...{ shownOn: 'kiosk', signIn, hidden: purchase.router.hidden, code, startAddress }
			}),
		sms: await readCodeSms(event, token, shown),
		again: again && { ...again, phone: hideMiddle(again.phone) }
	};
}

import type { RequestEvent } from '@sveltejs/kit';
import type { KioskPurchase } from '#lib/kiosk/client.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { hideMiddle } from '#lib/domain/phone.ts';
import { dataWords } from '#lib/checkout/purchase/data.ts';
import { waitFor } from '#lib/checkout/purchase/waits.ts';
import { qrSvg } from '#lib/server/portal/wifi-qr-svg.ts';
import { pageAddress } from '../purchase/page-path.ts';
import { codeBySms } from '../purchase/code-by-sms.ts';
import { payingAgain } from '../purchase/retry.ts';
import { purchaseShown, type Purchase } from '../purchase/purchase-shown.ts';
import { signInInstructions } from '../purchase/sign-in-instructions.ts';

const PAYS_AGAIN: readonly string[] = ['retry', 'wait-or-retry', 'renew'];

/** Describes a purchase for the kiosk. Only the screen that paid gets the password. */
export async function kioskPurchase(
	event: RequestEvent,
	token: string,
	purchase: Purchase
): Promise<KioskPurchase> {
	const { app } = event.locals;
	const { session, payment, code } = purchase;
	const shown = purchaseShown(app, purchase);
	const { state, pass, notes, watch } = shown;
	const here = pass && (await app.gateways.signInAt(purchase.router.id));
	const [signIn, startAddress] = [here?.method ?? 'typed', here?.startAddress ?? null];
	const again = PAYS_AGAIN.includes(state.action) ? payingAgain(purchase) : null;
	return {
		...state,
		token,
		watch,
		code,
		notes: [...(state.note === null ? [] : [state.note]), ...notes],
		money: formatMoney(session.amount, session.currency),
		waits: payment && waitFor(payment, new Date(app.clock.now())),
		phoneQr: qrSvg(pageAddress(event.locals.origin, token)),
		data: pass?.data ? dataWords(pass.data).text : null,
		pass:
			pass &&
			signInInstructions(pass.session, {
				...{ shownOn: 'kiosk', signIn, hidden: purchase.router.hidden, code, startAddress }
			}),
		sms: await codeBySms(event, token, shown),
		again: again && { ...again, phone: hideMiddle(again.phone) }
	};
}

import type { RequestEvent } from '@sveltejs/kit';
import type { KioskPurchase } from '#lib/kiosk/client.ts';
import { agreedWords } from '#lib/checkout/offer-words.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { dataWords } from '#lib/checkout/purchase/data.ts';
import { waitFor } from '#lib/checkout/purchase/waits.ts';
import { formatMobile } from '#lib/domain/phone.ts';
import { hideMiddle } from '#lib/checkout/phone-hint.ts';
import { qrCode } from '#lib/server/portal/wifi-qr-svg.ts';
import { pageAddress } from '../purchase/page-path.ts';
import { codeBySms } from '../purchase/code-by-sms.ts';
import { methodsAgain, priceAgain } from '../purchase/retry.ts';
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
	const { kind, tone, title, text, next, note, action, polls } = state;
	const { ssid } = session;
	const here = pass && (await app.gateways.signInAt(purchase.router.id));
	const [signIn, startAddress] = [here?.method ?? 'typed', here?.startAddress ?? null];
	return {
		token,
		watch,
		kind,
		tone,
		title,
		text,
		next,
		action,
		polls,
		code,
		ssid,
		notes: [...(note === null ? [] : [note]), ...notes],
		money: formatMoney(session.amount, session.currency),
		waits: payment && waitFor(payment, new Date(app.clock.now())),
		phoneQr: qrCode(pageAddress(event.locals.origin, token)),
		data: pass?.data ? dataWords(pass.data).text : null,
		pass: pass && signInInstructions(pass.session, { shownOn: 'kiosk', signIn, code, startAddress }),
		sms: await codeBySms(event, token, shown),
		again: PAYS_AGAIN.includes(action) ? againOf(purchase) : null
	};
}

function againOf(purchase: Purchase): KioskPurchase['again'] {
	const { router, session, payment } = purchase;
	const amount = priceAgain(purchase);
	if (amount === null) return null;
	if (session.status !== 'pending_payment' && router.status !== 'online') return null;
	return {
		amount,
		money: formatMoney(amount, session.currency),
		words: agreedWords(session.duration, session.offer),
		methods: methodsAgain(purchase, amount).methods,
		paymentMethod: session.payment_method,
		number: hideMiddle(formatMobile(payment?.phone ?? session.phone))
	};
}

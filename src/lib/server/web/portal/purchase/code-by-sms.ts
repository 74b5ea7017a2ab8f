import { redirect, type RequestEvent } from '@sveltejs/kit';
import { SOON_SECONDS } from '#lib/checkout/purchase/seconds.ts';
import { DELETED_NUMBER, formatMobile, hideMiddle } from '#lib/domain/phone.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { requirePurchase } from './find-purchase.ts';
import { ownPath, type PageEvent } from './page-path.ts';
import { signInInstructions, type SignIn } from './sign-in-instructions.ts';
import { purchaseShown, type Purchase, type PurchaseShown } from './purchase-shown.ts';

/** The installation pays for an SMS with the code to the number that paid, and for a second if the first may be missing. */

type Notifications = PageEvent['locals']['app']['notifications'];
type Status = NonNullable<NonNullable<Awaited<ReturnType<Notifications['codeOf']>>>['status']>;

/** Describes the SMS of a purchase with a running pass. Returns null if the installation offers none. */
export async function codeBySms({ locals }: RequestEvent, token: string, shown: PurchaseShown) {
	const phone = payingNumber(shown);
	const sms = phone && (await locals.app.notifications.codeOf(token));
	if (!sms) return null;
	const hidden = (e164: string) => hideMiddle(formatMobile(e164));
	const isWaiting = sms.status === 'queued' || sms.status === 'sending';
	return {
		/** '' before the first one. */
		state: sms.status ?? '',
		ask: sms.mayAsk ? m.purchase_sms_ask({ number: hidden(phone) }) : null,
		text: sms.status && TEXTS[sms.status]({ number: hidden(sms.phone ?? phone) }),
		refreshSeconds: isWaiting ? SOON_SECONDS : null
	};
}

const TEXTS: Record<Status, (values: { number: string }) => string> = {
	queued: m.purchase_sms_sending,
	sending: m.purchase_sms_sending,
	sent: m.purchase_sms_sent,
	uncertain: m.purchase_sms_uncertain,
	failed: m.purchase_sms_failed
};

/** Returns the number whose payment bought the pass; null without a running pass. */
function payingNumber({ pass, part: { payment } }: PurchaseShown): string | null {
	const isKnown = pass !== null && payment?.applied && payment.phone !== DELETED_NUMBER;
	return isKnown ? payment.phone : null;
}

/** Sends the code, and leads back to the page. */
export async function sendCode(event: PageEvent): Promise<never> {
	const { token } = event.params;
	await sendCodeOf(event, token, await requirePurchase(event));
	redirect(303, ownPath(event));
}

/** Queues the SMS; a second request for the same one queues none. */
export async function sendCodeOf(
	{ locals: { app, origin } }: RequestEvent,
	token: string,
	purchase: Purchase
): Promise<void> {
	const shown = purchaseShown(app, purchase);
	const phone = payingNumber(shown);
	const { method: signIn } = await app.gateways.signInAt(purchase.router.id);
	const text = shown.pass && smsText(purchase, shown.pass.session, { signIn, origin });
	if (phone && text) await app.notifications.sendCode(token, { phone, text });
}

/** Writes what signs in without the page, then the code that opens it. */
function smsText(
	{ code, router: { hidden } }: Purchase,
	session: SessionBody,
	{ signIn, origin }: { signIn: SignIn; origin: string }
): string {
	const { user, password, folded } = signInInstructions(session, {
		...{ shownOn: 'page', signIn, hidden, code }
	});
	const login = folded === null ? [user, password].filter((one) => one !== null) : [];
	return [
		// The label of the password names the Wi-Fi too.
		...(login.length === 0 ? [session.ssid] : []),
		...login.map(({ label, text }) => `${label}: ${text}`),
		`${m.resume_label()}: ${code}`,
		`${new URL(origin).host}${link('/resume')}`
	].join('\n');
}

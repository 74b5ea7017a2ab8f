import { formatDuration } from '#lib/duration.ts';
import { formatMoney } from '#lib/money.ts';
import { methodName } from '#lib/payment-methods.ts';
import { formatMobile } from '#lib/phone.ts';
import { hideMiddle } from '#lib/phone-hint.ts';
import { purchaseState, refundNote, type PurchaseState } from '#lib/purchase-state.ts';
import type { PurchaseView } from '#lib/server/purchases/purchases.ts';
import type { PaymentBody, SessionBody } from '#lib/server/contract/schemas.ts';
import { momentText } from '#lib/when.ts';

export type Purchase = PurchaseView;

/** What the page says about a purchase at this moment. */
export function stateOf({ session, payment }: Purchase, now: Date, timeZone: string): PurchaseState {
	const until = session.expires_at && momentText(new Date(session.expires_at), now, timeZone);
	return purchaseState(
		session,
		payment,
		{
			...moneyWords(payment ?? session),
			network: methodName(payment?.payment_method ?? session.payment_method),
			ssid: session.ssid,
			until
		},
		now
	);
}

/** What happens to the money of further payments, one sentence each. */
export const otherNotes = ({ otherPayments }: Purchase): string[] =>
	otherPayments.flatMap((payment) => refundNote(payment, moneyWords(payment)) ?? []);

const moneyWords = ({ amount, currency, phone }: PaymentBody | SessionBody) => ({
	amount: formatMoney(amount, currency),
	number: hideMiddle(formatMobile(phone))
});

/** The lines of the receipt. */
export function receiptLines(
	{ router, session, payment }: Purchase,
	now: Date,
	timeZone: string
): [string, string][] {
	const paid = payment?.paid_at ?? null;
	const money = formatMoney(session.amount, session.currency);
	return [
		['Place', router.name],
		['Wi-Fi name', session.ssid],
		['Time', formatDuration(session.duration)],
		[payment?.applied ? 'Paid' : 'Price', money],
		['From', hideMiddle(formatMobile(payment?.phone ?? session.phone))],
		...(paid ? [['Paid at', momentText(new Date(paid), now, timeZone)] as [string, string]] : []),
		...(payment ? [['Payment number', String(payment.id)] as [string, string]] : [])
	];
}

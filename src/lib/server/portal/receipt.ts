import { redirect } from '@sveltejs/kit';
import type { AccessKind } from '#lib/domain/wifi.ts';
import { formatDuration, sumOfDurations } from '#lib/domain/time.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMinor, toMinor } from '#lib/domain/money.ts';
import { VOUCHER_METHOD, VOUCHER_RESTORED } from '#lib/domain/payment-methods.ts';
import { formatMobile, hideMiddle } from '#lib/domain/phone.ts';
import { moment } from '#lib/format/text.ts';
import { methodTitle, momentText } from '#lib/format/words.ts';
import type { PaymentBody } from '#lib/server/contract/payment.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import type { PurchasePart } from './purchases.ts';
import { showBrand } from './brand.ts';
import { formatTaken } from '#lib/purchase/state.ts';
import { type Purchase, requirePurchase } from './purchase-page.ts';
import { type PageEvent, ownPath, pageAddress } from './pages.ts';

/** What was ordered and paid under one code: a few lines on the page of the purchase, and the receipt. */

type Line = [label: string, value: string];

/** Describes the newest pass with all its time, or the order while nothing is bought. */
export function listShortLines(purchase: Purchase, now: Date, timeZone: string): Line[] {
	const { router, session, payment, waiting } = purchase;
	const bought = [purchase, ...purchase.added].filter((part) => part.payment?.applied);
	const last = bought.at(-1)?.session ?? session;
	const sessions = bought.map((part) => part.session).filter(({ pass_id }) => pass_id === last.pass_id);
	const shown = sessions.length > 0 ? sessions : [session];
	const paid = shown.length > 1 ? m.receipt_total() : m.receipt_paid();
	return [
		[m.receipt_place(), router.name],
		[m.router_ssid(), apart(session.ssid)],
		[m.receipt_time(), formatDuration(sumOfDurations(shown.map(({ duration }) => duration)))],
		...listDevices(last),
		[bought.length > 0 ? paid : m.router_price(), sum(shown)],
		formatFrom(payment ?? session),
		...listEnd(last, (at) => momentText(new Date(at), now, timeZone)),
		...(waiting === null || waiting === purchase ? [] : listAddedLines(waiting))
	];
}

/** A shared password works on any number of devices. */
const listDevices = ({ access: { kind, max_devices } }: SessionBody): Line[] =>
	kind === 'shared_password' ? [] : [[m.receipt_devices(), String(max_devices)]];

/** Time and number may differ from those of the first order. */
const listAddedLines = ({ session, payment }: PurchasePart): Line[] => [
	[m.receipt_added(), formatDuration(session.duration)],
	[m.router_price(), sum([session])],
	formatFrom(payment ?? session)
];

const formatFrom = ({ payment_method: method, phone }: PaymentBody | SessionBody): Line =>
	method === VOUCHER_METHOD
		? [m.router_payment_method(), methodTitle(method)]
		: [m.receipt_from(), hideMiddle(formatMobile(phone))];

/** Returns the end of a pass that ended early. */
function listEnd({ status, status_reason, ended_at }: SessionBody, when: (at: string) => string): Line[] {
	if (status !== 'ended' || ended_at === null) return [];
	const moment = when(ended_at);
	const by: Record<string, string> = {
		client_ended: m.receipt_ended_by_you({ moment }),
		admin_ended: m.receipt_ended_by_venue({ moment })
	};
	return [[m.receipt_ended(), by[status_reason ?? ''] ?? moment]];
}

/** Returns whether the operator took money, so that there is something to prove. */
export const hasReceipt = (purchase: Purchase): boolean =>
	[purchase, ...purchase.added].some(({ payment, otherPayments }) =>
		[payment, ...otherPayments].some(isPaid)
	);

/** The cash of a voucher that is valid again paid nothing yet. */
const isPaid = (payment: PaymentBody | null): payment is PaymentBody =>
	payment !== null && payment.paid_at !== null && payment.refund_reason !== VOUCHER_RESTORED;

/** Reads the receipt of the address. Redirects to the purchase while nothing is paid. */
export async function findReceipt(event: PageEvent) {
	const { token } = event.params;
	const purchase = await requirePurchase(event);
	if (purchase.successor !== null) redirect(303, `${ownPath(event, purchase.successor)}/receipt`);
	if (!hasReceipt(purchase)) redirect(303, ownPath(event));
	const { clock, config } = event.locals.app;
	const receipt = describeReceipt(purchase, new Date(clock.now()), config);
	const address = pageAddress(event.locals.origin, token);
	return { brand: showBrand(event, purchase.router), page: ownPath(event), receipt, address };
}

/** Everything that was bought and paid under one code. Attempts without a charge are missing. */
function describeReceipt(
	purchase: Purchase,
	now: Date,
	{ mode, reportTimezone: timeZone }: Pick<App.Locals['app']['config'], 'mode' | 'reportTimezone'>
) {
	const { router, code } = purchase;
	const parts = [purchase, ...purchase.added];
	// With the year, because a receipt is read later.
	const when = (text: string) => moment(Date.parse(text), timeZone, { year: 'numeric' });
	const kept = parts.flatMap(({ payment }) => (payment?.applied ? [payment] : []));
	return {
		/** Printed too, so that a test does not pass for a payment. */
		mark: mode === 'sandbox' ? m.common_test_mode() : null,
		head: [
			[m.receipt_place(), router.name],
			...(router.address === null ? [] : [[m.receipt_address(), router.address] satisfies Line]),
			[m.router_ssid(), apart(purchase.session.ssid)],
			[m.receipt_access(), ACCESS[purchase.session.access.kind]()],
			...listDevices(purchase.session),
			[m.receipt_code(), apart(code)]
		] satisfies Line[],
		/** One for each order (first and added) and each additional payment. */
		parts: parts.flatMap(({ session, payment, otherPayments }, index) => [
			...(isPaid(payment) ? [[...listTimes(session, index > 0, when), ...listPayment(payment, when)]] : []),
			...otherPayments.filter(isPaid).map((other) => listPayment(other, when))
		]),
		/** Of what was not refunded. */
		paid: kept.length > 0 ? sum(kept) : null,
		/** The sum of several payments that were not refunded. */
		total: kept.length > 1 ? ([m.receipt_total(), sum(kept)] satisfies Line) : null,
		asOf: m.receipt_made({ moment: when(now.toISOString()) })
	};
}

const ACCESS: Record<AccessKind, () => string> = {
	wpa_personal_per_client: m.receipt_access_own,
	wpa_enterprise: m.receipt_access_user,
	portal_login: m.receipt_access_login,
	shared_password: m.receipt_access_shared
};

function listTimes(session: SessionBody, isAdded: boolean, when: (text: string) => string): Line[] {
	const { duration, starts_at, expires_at, ended_at } = session;
	const lines: Line[] = [[isAdded ? m.receipt_added() : m.receipt_time(), formatDuration(duration)]];
	const ended = listEnd(session, when);
	const began = starts_at !== null && (ended.length === 0 || starts_at < (ended_at ?? ''));
	if (began) lines.push([m.receipt_starts(), when(starts_at)]);
	if (ended.length > 0) return [...lines, ...ended];
	if (expires_at !== null) lines.push([m.receipt_until(), when(expires_at)]);
	return lines;
}

function listPayment(payment: PaymentBody, when: (text: string) => string): Line[] {
	const { paid_at, provider_reference } = payment;
	const lines: Line[] = [[m.receipt_paid(), formatTaken(payment)], formatFrom(payment)];
	if (paid_at !== null) lines.push([m.receipt_paid_at(), when(paid_at)]);
	const label = payment.payment_method === VOUCHER_METHOD ? m.receipt_voucher() : m.receipt_reference();
	if (provider_reference !== null) lines.push([label, apart(provider_reference)]);
	const money = formatMoneyState(payment);
	if (money !== null) lines.push([m.receipt_money(), money]);
	return lines;
}

/** Describes money that did not buy time. Returns null if it did. */
function formatMoneyState({ status, applied }: PaymentBody): string | null {
	if (status === 'refunded') return m.receipt_went_back();
	if (status === 'refund_failed') return m.receipt_not_back();
	return applied && status === 'success' ? null : m.receipt_going_back();
}

function sum(amounts: readonly Pick<PaymentBody, 'amount' | 'currency'>[]): string {
	const [first] = amounts;
	if (!first) throw new Error('There is nothing to add up');
	const minor = amounts.reduce((total, { amount }) => total + (toMinor(amount, first.currency) ?? 0), 0);
	return formatMinor(minor, first.currency);
}

import type { AccessKind } from '#lib/domain/access-kind.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { link } from '#lib/i18n/current.ts';
import { apart, intlLocales } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney, toMajor, toMinor } from '#lib/domain/money.ts';
import { formatMobile } from '#lib/domain/phone.ts';
import { hideMiddle } from '#lib/checkout/phone-hint.ts';
import type { PaymentBody } from '#lib/server/api/contract/schemas.ts';
import type { PurchasePart } from '#lib/server/portal/purchases/purchases.ts';
import type { Purchase } from './view.ts';

export type Line = [label: string, value: string];

export function shortLines({ router, session, payment }: Purchase): Line[] {
	return [
		[m.receipt_place(), router.name],
		[m.receipt_wifi(), apart(session.ssid)],
		[m.receipt_time(), formatDuration(session.duration)],
		[payment?.applied ? m.receipt_paid() : m.receipt_price(), formatMoney(session.amount, session.currency)],
		[m.receipt_from(), hideMiddle(formatMobile(payment?.phone ?? session.phone))],
		...(payment ? [[m.receipt_payment(), String(payment.id)] satisfies Line] : [])
	];
}

/** Everything that was bought and paid under one code. */
export function receiptOf(purchase: Purchase, now: Date, timeZone: string) {
	const { router, code } = purchase;
	// An attempt without a charge is not on the receipt.
	const added = purchase.added.filter(({ payment }) => payment !== null && isMoney(payment));
	const parts = [purchase, ...added];
	const when = (text: string) => dateText(new Date(text), timeZone);
	const kept = parts.flatMap(({ payment }) => (payment?.applied ? [payment] : []));
	return {
		head: [
			[m.receipt_place(), router.name],
			...(router.address === null ? [] : [[m.receipt_address(), router.address] satisfies Line]),
			[m.receipt_wifi(), apart(purchase.session.ssid)],
			[m.receipt_access(), accessText(purchase.session.access.kind)],
			[m.receipt_code(), apart(code)]
		] satisfies Line[],
		/** One for each order (first and added) and each additional payment. */
		parts: parts.flatMap((part, index) => [
			partLines(part, index > 0, when),
			...part.otherPayments.flatMap((payment) => (isMoney(payment) ? [paymentLines(payment, when)] : []))
		]),
		/** The sum of several payments that were not refunded. */
		total: kept.length > 1 ? ([m.receipt_total(), sum(kept)] satisfies Line) : null,
		asOf: m.receipt_made({ moment: when(now.toISOString()) })
	};
}

function accessText(kind: AccessKind): string {
	switch (kind) {
		case 'wpa_personal_per_client':
			return m.receipt_access_own();
		case 'wpa_enterprise':
			return m.receipt_access_user();
		case 'portal_login':
			return m.receipt_access_login();
		case 'shared_password':
			return m.receipt_access_shared();
	}
}

/** Writes date and time in full, because a receipt is read later. */
function dateText(moment: Date, timeZone: string): string {
	return new Intl.DateTimeFormat(intlLocales(), {
		timeZone,
		day: 'numeric',
		month: 'short',
		year: 'numeric',
		hour: '2-digit',
		minute: '2-digit',
		hourCycle: 'h23'
	}).format(moment);
}

function partLines({ session, payment }: PurchasePart, isAdded: boolean, when: (text: string) => string) {
	const time = formatDuration(session.duration);
	const lines: Line[] = [[isAdded ? m.receipt_added() : m.receipt_time(), time]];
	if (session.starts_at !== null) lines.push([m.receipt_starts(), when(session.starts_at)]);
	if (session.expires_at !== null) lines.push([m.receipt_until(), when(session.expires_at)]);
	if (payment) return [...lines, ...paymentLines(payment, when)];
	return [...lines, [m.receipt_price(), formatMoney(session.amount, session.currency)] satisfies Line];
}

function paymentLines(payment: PaymentBody, when: (text: string) => string): Line[] {
	const lines: Line[] = [
		[payment.applied ? m.receipt_paid() : m.receipt_price(), formatMoney(payment.amount, payment.currency)],
		[m.receipt_from(), hideMiddle(formatMobile(payment.phone))]
	];
	if (payment.paid_at !== null) lines.push([m.receipt_paid_at(), when(payment.paid_at)]);
	lines.push([m.receipt_payment(), String(payment.id)]);
	if (payment.provider_reference !== null) {
		lines.push([m.receipt_reference(), apart(payment.provider_reference)]);
	}
	const money = moneyState(payment);
	if (money !== null) lines.push([m.receipt_money(), money]);
	return lines;
}

/** Describes money that did not buy time. Returns null if it did. */
function moneyState(payment: PaymentBody): string | null {
	switch (payment.status) {
		case 'success':
			return payment.applied ? null : m.receipt_going_back();
		case 'refund_pending':
			return m.receipt_going_back();
		case 'refunded':
			return m.receipt_went_back();
		case 'refund_failed':
			return m.receipt_not_back();
		case 'failed':
			return m.receipt_not_paid();
		default:
			return m.receipt_waiting();
	}
}

/** Returns whether a payment moved money, or may still do so. */
const isMoney = ({ status }: PaymentBody) => status !== 'failed';

function sum(payments: readonly PaymentBody[]): string {
	const [first] = payments;
	if (!first) throw new Error('There is nothing to add up');
	const minor = payments.reduce((total, { amount }) => total + (toMinor(amount, first.currency) ?? 0), 0);
	return formatMoney(toMajor(minor, first.currency), first.currency);
}

export function receiptText(receipt: ReturnType<typeof receiptOf>, address: string): string {
	const block = (lines: readonly Line[]) => lines.map(([label, value]) => `${label}: ${value}`).join('\n');
	return [
		m.receipt_title(),
		block(receipt.head),
		...receipt.parts.map(block),
		...(receipt.total ? [block([receipt.total])] : []),
		receipt.asOf,
		address,
		m.receipt_seller()
	].join('\n\n');
}

/** The page of a purchase, without its password. */
export const pageAddress = (origin: string, token: string): string => origin + link(`/s/${token}`);

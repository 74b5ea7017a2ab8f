import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { formatMoney } from '#lib/domain/money.ts';
import { methodName } from '#lib/domain/payment-methods/payment-methods.ts';
import { formatMobile, hideMiddle } from '#lib/domain/phone.ts';
import { dataText } from '#lib/checkout/offer-words.ts';
import { addedState } from '#lib/checkout/purchase/added.ts';
import { dataStep, type PassData } from '#lib/checkout/purchase/data.ts';
import { refundNote } from '#lib/checkout/purchase/refund.ts';
import { isRefused } from '#lib/checkout/purchase/refusal.ts';
import { warnSeconds } from '#lib/checkout/purchase/seconds.ts';
import { purchaseState, type PurchaseState, type PurchaseWords } from '#lib/checkout/purchase/state.ts';
import type { PurchasePart, PurchaseView, ShownSession } from '#lib/server/portal/purchases.ts';
import type { PaymentBody } from '#lib/server/contract/payment.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { momentText } from '#lib/format/when.ts';

export type Purchase = PurchaseView;

/** Active time: one session, or consecutive ones with one password. */
interface Pass {
	session: ShownSession;
	remainingSeconds: number;
	totalSeconds: number;
	/** The page warns when this much time is left. */
	warnSeconds: number;
	/** The last session, to which time is added. */
	last: SessionBody;
	/** null without a data limit. */
	data: PassData | null;
}

export interface PurchaseShown {
	state: PurchaseState;
	/** Time that is being added to an active pass; null if there is nothing to show. */
	added: PurchaseState | null;
	pass: Pass | null;
	part: PurchasePart;
	waiting: PurchasePart | null;
	/** About the refunds of additional payments, one text each. */
	notes: string[];
	/** Changes whenever the page has something new to show. */
	watch: string;
}

/** A declined addition is shown for this long. */
const REFUSED_SHOWN_MS = 15 * 60 * 1000;

export function purchaseShown(
	{ clock, config: { reportTimezone: timeZone } }: Pick<App.Locals['app'], 'clock' | 'config'>,
	purchase: Purchase
): PurchaseShown {
	const now = new Date(clock.now());
	const parts: PurchasePart[] = [purchase, ...purchase.added];
	const active = activeOf(parts);
	const pass = passOf(active, parts, now);
	const newest = purchase.added.at(-1) ?? null;
	const words = (part: PurchasePart, end = part.session.expires_at): PurchaseWords => {
		const data = dataOf(parts, part.session);
		return {
			...wordsOf(part, purchase.code, end && momentText(new Date(end), now, timeZone)),
			data: data && dataText(data.limitMb)
		};
	};

	const part = (pass && active[0]) ?? subjectOf(purchase);
	const state = purchaseState(part.session, part.payment, words(part, pass?.last.expires_at), now);
	const added =
		pass && newest && newest !== part && isNews(newest, now)
			? addedState(newest.session, newest.payment, words(newest), now)
			: null;

	const described = added ? [part, newest] : [part];
	const waiting = described.find(
		(one) => one?.payment?.status === 'pending' && one.session.status !== 'active'
	);
	return {
		// Added time is paid again in the form that ordered it.
		state: part === purchase || state.action === 'none' ? state : boughtAgain(state),
		added,
		pass,
		part,
		waiting: waiting ?? null,
		notes: notesOf(parts, described),
		watch: [state.kind, added?.kind, pass?.last.expires_at, pass?.data && dataStep(pass.data)]
			.join(' ')
			.trim()
	};
}

/** A new purchase is not related to the payment that may still succeed, so both would be kept. */
const boughtAgain = (state: PurchaseState): PurchaseState => ({
	...state,
	action: 'buy',
	...(state.kind === 'unknown' && { next: m.purchase_late_next() })
});

function passOf(active: readonly PurchasePart[], parts: readonly PurchasePart[], now: Date): Pass | null {
	const first = active[0]?.session;
	const last = active.at(-1)?.session;
	if (!first || !last || first.password === null) return null;
	const totalSeconds = (moment(last.expires_at) - moment(first.starts_at)) / 1000;
	return {
		session: first,
		remainingSeconds: Math.max(0, Math.ceil((moment(last.expires_at) - now.getTime()) / 1000)),
		totalSeconds,
		warnSeconds: warnSeconds(totalSeconds),
		last,
		data: dataOf(parts, last)
	};
}

/** Returns the data of a session's pass. Each session that was bought for the pass adds its own. */
function dataOf(parts: readonly PurchasePart[], { pass_id, data_left_mb }: SessionBody): PassData | null {
	const bought = parts.filter(({ session, payment }) => session.pass_id === pass_id && payment?.applied);
	const limits = bought.flatMap(({ session }) => session.offer?.data_limit_mb ?? []);
	const limitMb = limits.reduce((total, limit) => total + limit, 0);
	return limitMb === 0 ? null : { limitMb, leftMb: data_left_mb };
}

const moment = (text: string | null) => Date.parse(text ?? '');

/** Active parts in the order of their ends. Of two passes (one has extra time), those of the one that ends last. */
function activeOf(parts: readonly PurchasePart[]): PurchasePart[] {
	const active = parts.filter(({ session }) => session.status === 'active');
	active.sort((a, b) => moment(a.session.expires_at) - moment(b.session.expires_at));
	return active.filter(({ session }) => session.pass_id === active.at(-1)?.session.pass_id);
}

/** Returns the order to describe while no time runs: the newest that is open or ran, else the first. */
function subjectOf(purchase: Purchase): PurchasePart {
	const added = purchase.added.findLast(({ session, payment }) => {
		if (['activating', 'expired', 'ended'].includes(session.status)) return true;
		return payment !== null && !isRefused(payment);
	});
	return added ?? purchase;
}

function isNews({ payment }: PurchasePart, now: Date): boolean {
	if (!payment || !isRefused(payment)) return true;
	return now.getTime() - moment(payment.updated_at) < REFUSED_SHOWN_MS;
}

/** Explains the refunds that the page does not describe elsewhere. */
function notesOf(parts: readonly PurchasePart[], described: readonly (PurchasePart | null)[]): string[] {
	return parts.flatMap((part) => {
		const own = described.includes(part) || !part.payment ? [] : [part.payment];
		return [...own, ...part.otherPayments].flatMap((one) => refundNote(one, moneyWords(one)) ?? []);
	});
}

function wordsOf({ session, payment }: PurchasePart, code: string, until: string | null) {
	return {
		...moneyWords(payment ?? session),
		method: methodName(payment?.payment_method ?? session.payment_method),
		ssid: apart(session.ssid),
		until,
		// Word joiners prevent a line break at the hyphen: buyers copy the code by hand. readCode ignores
		// them.
		code: apart(code.replace('-', '\u2060-\u2060'))
	};
}

/** Formats the amount that the operator took: a refund's may differ from the price. */
export const takenText = ({ amount, currency, refund_amount, refund_currency }: PaymentBody): string =>
	formatMoney(refund_amount ?? amount, refund_currency ?? currency);

const moneyWords = (order: PaymentBody | SessionBody) => ({
	amount: formatMoney(order.amount, order.currency),
	taken: 'refund_amount' in order ? takenText(order) : '',
	number: hideMiddle(formatMobile(order.phone))
});

import { formatDuration } from '#lib/domain/duration.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { moment } from '#lib/format/text.ts';
import * as m from '#lib/i18n/messages.js';
import { isRefundedByHand } from '#lib/server/billing/refunds.ts';
import type { PurchaseFacts } from '#lib/server/owner/help.ts';

interface Entry {
	/** ms since the epoch */
	at: number;
	text: string;
}

type Payment = PurchaseFacts['payments'][number];

/** Says what happened to a purchase, oldest first, in plain words and without secrets. */
export function timelineOf(facts: PurchaseFacts, bought: string, timeZone: string): Entry[] {
	const { session, payments, now } = facts;
	const entries = [
		{ at: session.created_at, text: m.help_at_ordered({ what: bought }) },
		...payments.flatMap(paymentEntries),
		...refundEntries(facts),
		...reviewEntries(facts),
		...extraTimeEntries(facts, timeZone),
		...accessEntries(facts),
		...deviceEntries(facts),
		...endEntries(facts)
	];
	return entries.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
}

function paymentEntries(payment: Payment): Entry[] {
	const { id, phone, created_at: createdAt, submitted_at: sentAt, submit_state: sent } = payment;
	const [number, customer] = [String(id), maskPhone(phone)];
	const asked =
		sentAt === null
			? { at: createdAt, text: m.help_at_not_sent({ number }) }
			: sent === 'uncertain'
				? { at: sentAt, text: m.help_at_no_answer({ number }) }
				: { at: sentAt, text: m.help_at_asked({ number, phone: customer }) };
	return [asked, ...resultEntries(payment)];
}

function resultEntries(payment: Payment): Entry[] {
	const { status, paid_at: paidAt, updated_at: at, provider_reference: transaction } = payment;
	const number = String(payment.id);
	if (paidAt !== null) {
		const taken = formatMinor(
			payment.settled_minor ?? payment.amount_minor,
			payment.settled_currency ?? payment.currency
		);
		const text = m.help_at_paid({ number, money: taken });
		return [
			{ at: paidAt, text: transaction === null ? text : `${text} ${m.help_transaction({ transaction })}` }
		];
	}
	if (status === 'failed') {
		const reasonOf = FAILURES[payment.failure_code ?? ''] ?? m.help_why_error;
		return [{ at, text: m.help_at_failed({ number, reason: reasonOf() }) }];
	}
	return status === 'expired' ? [{ at, text: m.help_at_unanswered({ number }) }] : [];
}

type Texts = Readonly<Record<string, () => string>>;

const FAILURES: Texts = {
	payer_rejected: m.help_why_rejected,
	insufficient_funds: m.purchase_refused_insufficient_funds_title,
	payer_not_found: m.purchase_refused_payer_not_found_title,
	payer_limit_reached: m.purchase_refused_payer_limit_reached_title,
	payer_timeout: m.help_why_timeout,
	provider_unavailable: m.purchase_refused_provider_unavailable_title
};

function refundEntries({ refunds, payments }: PurchaseFacts): Entry[] {
	const byHand = payments.flatMap((payment) => {
		const { id, refunded_at: at } = payment;
		const own = refunds.filter(({ payment_id }) => payment_id === id);
		if (at === null || !isRefundedByHand(payment, own)) return [];
		return [{ at, text: m.help_at_by_hand({ number: String(id) }) }];
	});
	const sent = refunds.flatMap((refund) => {
		const number = String(refund.payment_id);
		const sum = formatMinor(refund.amount_minor, refund.currency);
		const reason = REFUND_REASONS[refund.reason]?.() ?? '';
		const begun = {
			at: refund.created_at,
			text: `${m.help_at_refund({ number, money: sum })} ${reason}`.trim()
		};
		const refundedAt = payments.find(({ id }) => id === refund.payment_id)?.refunded_at;
		if (refund.status === 'succeeded')
			return [begun, { at: refundedAt ?? refund.updated_at, text: m.help_at_refunded({ number }) }];
		return refund.status === 'failed'
			? [begun, { at: refund.updated_at, text: m.help_at_refund_failed({ number }) }]
			: [begun];
	});
	return [...sent, ...byHand];
}

const REFUND_REASONS: Texts = {
	duplicate_payment: m.help_why_duplicate,
	session_cancelled: m.help_why_cancelled,
	late_payment: m.help_why_late,
	provisioning_failed: m.help_why_router,
	amount_mismatch: m.help_why_amount,
	admin: m.help_why_owner
};

const reviewEntries = ({ reviews }: PurchaseFacts): Entry[] =>
	reviews.flatMap(({ payment_id: id, opened_at: openedAt, resolved_at: resolvedAt }) => {
		const number = String(id);
		const opened = { at: openedAt, text: m.help_at_review({ number }) };
		return resolvedAt === null ? [opened] : [opened, { at: resolvedAt, text: m.help_at_decided({ number }) }];
	});

function accessEntries({ session, payment }: PurchaseFacts): Entry[] {
	const { status, starts_at: startsAt } = session;
	if (startsAt !== null) return [{ at: startsAt, text: m.help_at_started() }];
	return status === 'activating' && payment !== null
		? [{ at: payment.updated_at, text: m.help_at_waits() }]
		: [];
}

/** Gateways confirm a device by its grant, or report it by a slot. */
function deviceEntries({ slots, grants }: PurchaseFacts): Entry[] {
	const connected = [
		...slots.map(({ mac, bound_at: at }) => ({ mac, at })),
		...grants.flatMap(({ mac, granted_at: at }) => (at === null ? [] : [{ mac, at }]))
	].sort((a, b) => a.at - b.at);
	const first = new Map(connected.toReversed().map(({ mac, at }) => [mac, at]));
	const left = slots.flatMap(({ released_at: at }) => (at === null ? [] : [{ at, text: m.help_at_left() }]));
	return [...[...first.values()].map((at) => ({ at, text: m.help_at_connected() })), ...left];
}

/** An end that nobody has moved is in the text of the extra time. A used-up data limit moves it without a decision. */
function extraTimeEntries(
	{ session, extraTime, extraEndedAt, passEndsAt }: PurchaseFacts,
	timeZone: string
): Entry[] {
	const isOver = session.status === 'expired';
	const given = extraTime.map(({ seconds, created_at: at, until = at + seconds * 1000 }) => {
		const words = { duration: formatDuration(`${seconds / 60}m`), time: moment(until, timeZone) };
		const isAfter = isOver && at >= (session.ended_at ?? Infinity);
		const text = (isAfter ? m.help_at_extended_after : m.help_at_extended)(words);
		return { at, until, isAfter, text };
	});
	const last = given.at(-1);
	const isDecided = extraEndedAt.some((at) => at >= (last?.at ?? 0));
	const isCut = last?.isAfter === true && passEndsAt !== null && passEndsAt < last.until && !isDecided;
	const ends = [...(isOver ? extraEndedAt : []), ...(isCut ? [passEndsAt] : [])];
	return [...given, ...ends.map((at) => ({ at, text: m.help_at_extra_ended() }))];
}

function endEntries({ session }: PurchaseFacts): Entry[] {
	const { status, status_reason: reason, ended_at: at } = session;
	if (at === null) return [];
	if (status === 'expired') return [{ at, text: m.help_at_over() }];
	if (status !== 'ended' && status !== 'cancelled') return [];
	return [{ at, text: (ENDS[reason ?? ''] ?? m.help_at_ended)() }];
}

const ENDS: Texts = {
	client_ended: m.help_at_ended_by_customer,
	data_limit_reached: m.help_at_no_data,
	client_cancelled: m.help_at_cancelled,
	payment_timeout: m.help_at_timed_out,
	provisioning_failed: m.help_at_not_connected
};

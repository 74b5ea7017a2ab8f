import { describePayment } from '#lib/server/billing/payments.ts';
import { describeSession, endSessionForOwner } from '#lib/server/billing/sessions.ts';
import { giveExtraTime } from '#lib/server/billing/extra-time.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/secrets.ts';
import { type RequestEvent, error, fail, redirect } from '@sveltejs/kit';
import {
	EXTRA_TIMES,
	EXTRA_TIME_AFTER_END_MS,
	MAX_EXTRA_MINUTES_PER_DAY,
	MAX_REASON
} from '#lib/domain/help.ts';
import { formatDuration } from '#lib/domain/time.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { type Fields, noteOf, readFields } from '../form.ts';
import { idOf } from '../page-links.ts';
import { type OwnerVisitor, authorOf, ownerForm } from './owner.ts';
import { findSessionUses } from '#lib/server/owner/usage.ts';
import { sessionUse } from './figures.ts';
import type { OwnerUserBody } from '#lib/server/contract/owner.ts';
import { endsByItself } from '#lib/domain/wifi.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { VOUCHER_METHOD, VOUCHER_RESTORED } from '#lib/domain/payment-methods.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { apart } from '#lib/i18n/intl.ts';
import type { App } from '../../app.ts';
import {
	type FoundPurchase,
	type PurchaseFacts,
	movePurchaseDevice,
	readPurchase,
	showPurchaseCode
} from '../../owner/help.ts';
import { qrSvg } from '../../portal/qr-svg.ts';
import { formatDataLimit } from '#lib/purchase/quote.ts';
import { describeState, listWords } from '#lib/purchase/state.ts';
import { methodName, methodTitle, momentText, timeLeftText } from '#lib/format/words.ts';
import { moment, money, pastMoment } from '#lib/format/text.ts';
import { mayDo } from './roles.ts';
import { isRefundedByHand, recordRefundForOwner, refundForOwner } from '#lib/server/billing/refunds.ts';
import { findVoucherSessions, isOfVoucher } from '#lib/server/billing/vouchers.ts';
import { findSignIn } from '../../gateways/gateways.ts';

/**
 * The owner's pages of customers: who is online, and one purchase with its timeline and the forms that help its
 * buyer.
 */

type CaseEvent = RequestEvent<{ session: string }>;

/** Throws 404 for an unknown purchase and for another owner's. */
async function readCase({ params, locals: { app } }: CaseEvent, { actor }: OwnerVisitor) {
	return (
		(await readPurchase(app.help, actor.accountId, idOf(params.session))) ?? error(404, m.help_not_found())
	);
}

/** Makes the form action of a kind of help. */
export const helpForm = (which: keyof typeof HELP_ACTIONS) =>
	ownerForm(async (event: CaseEvent, owner) => {
		const facts = await readCase(event, owner);
		const { field } = await readFields(event.request);
		const note = noteOf(field);
		const answer = { which, note, duration: field('duration'), problem: null, shown: null };
		if (note === '' || note.length > MAX_REASON)
			return fail(400, { ...answer, problem: m.help_reason_wrong({ max: String(MAX_REASON) }) });
		const { app, origin } = event.locals;
		const { accountId, personId } = owner.actor;
		const order = { app, accountId, personId, origin, by: authorOf(owner).by, note, field, facts };
		const outcome = await HELP_ACTIONS[which].run(order, facts.session.id);
		if (outcome === 'done') redirect(303, `${event.url.pathname}?done=${which}`);
		return 'refusal' in outcome
			? fail(409, { ...answer, problem: outcome.refusal })
			: { ...answer, ...outcome };
	});

interface Order {
	app: App;
	accountId: number;
	/** Address of this installation. */
	origin: string;
	personId: number;
	by: string;
	note: string;
	field: Fields;
	facts: PurchaseFacts;
}

/** Done, the facts to show once, or why nothing changed. */
type Outcome = 'done' | { shown: ReturnType<typeof codeCard> } | { refusal: string };

/** Help for one purchase, with a form that asks for the reason. */
interface HelpAction {
	title(): string;
	text(facts: PurchaseFacts): string;
	button(): string;
	isDangerous?: boolean;
	/** Durations to choose from, in the field `duration`. */
	durations?: readonly string[];
	/** The payment that it is about, in the field `payment`: a purchase can have several. */
	payment?(facts: PurchaseFacts): number | null;
	isPossible(facts: PurchaseFacts): boolean;
	/** Carries it out. A form that is sent twice acts once and gets the same answer. */
	run(order: Order, sessionId: number): Promise<Outcome>;
	/** After it was done. */
	done?(): string;
}

const isActive = ({ session }: PurchaseFacts) => session.status === 'active';
/** Added time: until it starts, the time before it runs. */
const startsLater = ({ session: { starts_at: startsAt }, now }: PurchaseFacts) => (startsAt ?? 0) > now;
const runs = (facts: PurchaseFacts) => isActive(facts) || facts.extraUntil !== null;

/** A person of the venue has ended the time, or the extra time after it. */
const wasEnded = ({ session, extraTime, extraUntil }: PurchaseFacts) => {
	const { status, status_reason: reason, ended_at: endedAt } = session;
	if (status === 'ended') return reason === 'admin_ended';
	const hadExtra = extraTime.some(({ created_at: at }) => at >= (endedAt ?? Infinity));
	return status === 'expired' && hadExtra && extraUntil === null;
};

/** The time has ended, and extra time can follow: the buyer's page shows the new password. */
const mayGoOn = ({ session: { status, ended_at: endedAt }, payment, hasPage, now }: PurchaseFacts) =>
	status === 'expired' &&
	payment?.status === 'success' &&
	hasPage &&
	now <= (endedAt ?? 0) + EXTRA_TIME_AFTER_END_MS;

const showCode: HelpAction = {
	title: m.help_code,
	text: m.help_code_text,
	button: m.help_code,
	isPossible: ({ hasPage }) => hasPage,
	async run({ app, accountId, origin, by, note }, id) {
		const page = await showPurchaseCode(app.help, accountId, id, { by, note });
		return page ? { shown: codeCard(origin, page) } : { refusal: m.help_code_nothing() };
	}
};

function codeCard(origin: string, { token, code }: { token: string; code: string }) {
	const page = `${origin}${link(`/s/${token}`)}`;
	const resumeAt = apart(`${new URL(origin).host}${link('/resume')}`);
	return { code, page, qr: qrSvg(page), resumeAt };
}

const extend: HelpAction = {
	title: m.help_extend,
	text(facts) {
		const text = m.help_extend_text({ max: formatDuration(`${MAX_EXTRA_MINUTES_PER_DAY / 60}h`) });
		return runs(facts) ? text : `${m.help_extend_again()} ${text}`;
	},
	button: m.help_extend,
	durations: EXTRA_TIMES,
	isPossible: (facts) => isActive(facts) || mayGoOn(facts),
	async run({ app, accountId, personId, note, field, facts }, id) {
		const duration = EXTRA_TIMES.find((one) => one === field('duration'));
		const form = field('form');
		if (!duration || !PURCHASE_TOKEN_PATTERN.test(form)) return { refusal: m.help_extend_choose() };
		const isOver = facts.session.status === 'expired';
		if (isOver && !facts.hasPage) return { refusal: m.help_extend_over() };
		const order = { personId, note, duration, form };
		const result = await giveExtraTime(app, accountId, id, order);
		if (result === 'given') return 'done';
		if (result === 'limit') return { refusal: m.help_extend_limit() };
		return { refusal: isOver ? m.help_extend_over() : m.help_extend_nothing() };
	},
	done: m.help_extend_done
};

const move: HelpAction = {
	title: m.help_move,
	text: m.help_move_text,
	button: m.help_move,
	isPossible: (facts) => runs(facts) && facts.hasPage && endsByItself(facts.session.access_kind),
	async run({ app, accountId, by, note }, id) {
		const result = await movePurchaseDevice(app.help, accountId, id, { by, note });
		if (result === 'moved' || result === 'unchanged') return 'done';
		return { refusal: result === 'too_soon' ? m.help_move_soon() : m.help_move_none() };
	},
	done: m.help_move_done
};

const moneyOf = (payment: NonNullable<PurchaseFacts['payment']>): string =>
	formatMinor(payment.settled_minor ?? payment.amount_minor, payment.settled_currency ?? payment.currency);

const refund: HelpAction = {
	title: m.help_refund,
	text: (facts) => {
		const { session, payment, extraUntil } = facts;
		if (!payment) return '';
		const words = {
			money: moneyOf(payment),
			phone: apart(maskPhone(payment.phone))
		};
		if (session.status !== 'active' && extraUntil === null) return m.help_refund_text_over(words);
		if (startsLater(facts)) return m.help_refund_text_added(words);
		return endsByItself(session.access_kind) ? m.help_refund_text(words) : m.help_refund_text_shared(words);
	},
	button: m.help_refund,
	isDangerous: true,
	isPossible: ({ isRefundable }) => isRefundable,
	async run({ app, accountId, by, note }, id) {
		const result = await refundForOwner(app, accountId, id, { by, note });
		if (result === 'started') return 'done';
		return { refusal: result === 'time_added' ? m.help_refund_added() : m.help_refund_nothing() };
	},
	done: m.help_refund_done
};

const isCash = ({ payment_method: method }: Payment): boolean => method === VOUCHER_METHOD;

const recordRefund: HelpAction = {
	title: m.help_by_hand,
	text({ toRefundByHand: payment }) {
		if (!payment) return '';
		return [
			m.help_by_hand_text({ money: moneyOf(payment), number: String(payment.id) }),
			...(isCash(payment) ? [] : [m.help_by_hand_own()]),
			...(payment.applied === 1 ? [m.help_by_hand_counts()] : [])
		].join(' ');
	},
	button: m.help_by_hand,
	isDangerous: true,
	payment: ({ toRefundByHand }) => toRefundByHand?.id ?? null,
	isPossible: ({ toRefundByHand }) => toRefundByHand !== null,
	async run({ app, accountId, by, note, field }, sessionId) {
		const ids = { sessionId, paymentId: Number(field('payment')) };
		const result = await recordRefundForOwner(app, accountId, ids, { by, note });
		if (result === 'recorded') return 'done';
		return { refusal: result === 'time_added' ? m.help_refund_added() : m.help_by_hand_nothing() };
	},
	done: m.help_by_hand_done
};

const end: HelpAction = {
	title: m.help_end,
	text(facts) {
		if (startsLater(facts)) return m.help_end_text_added();
		return endsByItself(facts.session.access_kind) ? m.help_end_text() : m.help_end_text_shared();
	},
	button: m.purchase_end_button,
	isDangerous: true,
	isPossible: runs,
	async run({ app, accountId, by, note }, id) {
		await endSessionForOwner(app, accountId, id, { by, note });
		const after = await readPurchase(app.help, accountId, id);
		return after && wasEnded(after) ? 'done' : { refusal: m.help_end_nothing() };
	},
	done: m.help_at_ended
};

/** By the name of their form, in the order of the page. */
const HELP_ACTIONS = {
	code: showCode,
	move,
	extend,
	refund,
	'by-hand': recordRefund,
	end
} satisfies Record<string, HelpAction>;

/** Returns one purchase: its state, what to do, the forms to help, and its timeline. */
export async function casePage(event: CaseEvent, owner: OwnerVisitor) {
	const {
		url,
		locals: { app }
	} = event;
	const facts = await readCase(event, owner);
	const { reportTimezone: timeZone } = app.config;
	const { session, payment, now, activatingUntil, isConnected } = facts;
	const { unresponsive_since: silentSince } = session;
	const takesCode =
		session.access_kind === 'portal_login' &&
		(await findSignIn(app.gateways, session.router_id)).method !== 'typed';
	const all: [string, HelpAction][] = Object.entries(HELP_ACTIONS);
	const mayHelp = (name: string) => mayDo(owner.role, 'customers/[session]', name);
	const done = all.find(([name]) => name === url.searchParams.get('done'))?.[1];
	return {
		...describeOrder(facts, app),
		customerSees: buyersText(facts, takesCode, timeZone),
		advice: adviceFor(helpState(facts), {
			isConnected,
			takesCode,
			ssid: apart(session.router_ssid),
			address: apart(`${url.host}${link('/resume')}`),
			number: String(payment?.id ?? ''),
			silentSince: silentSince === null ? null : moment(silentSince, timeZone),
			time: moment(activatingUntil ?? now, timeZone),
			isByHand: payment !== null && isRefundedByHand(payment, refundsOf(payment, facts))
		}),
		actions: all
			.filter(([name, action]) => action.isPossible(facts) && mayHelp(name))
			.map(([name, action]) => ({
				name,
				title: action.title(),
				text: action.text(facts),
				button: action.button(),
				isDangerous: action.isDangerous ?? false,
				durations: (action.durations ?? []).map((value) => ({ value, label: formatDuration(value) })),
				payment: action.payment?.(facts) ?? null
			})),
		/** Names the forms of this page, so that each acts once. */
		form: purchaseToken(),
		refundNote: refundNote(facts, mayHelp('refund')),
		done: done?.done?.() ?? null,
		timeline: timelineOf(facts, boughtText(session), timeZone).map(({ at, text }) => ({
			when: pastMoment(at, { now, timeZone }, { second: '2-digit' }),
			text
		}))
	};
}

/** Explains how to refund if this person cannot refund here. */
function refundNote({ session, payment, isRefundable }: PurchaseFacts, mayRefund: boolean): string | null {
	// Time that still waits for a gateway is refunded automatically.
	if (payment?.status !== 'success' || session.status === 'activating') return null;
	if (!mayRefund) return m.staff_ask_refund();
	return isRefundable || isCash(payment) ? null : m.help_by_hand_note();
}

/** Returns the result that the buyer's page shows, without the password and the code. */
function buyersText(
	{ session, payment, extraUntil, limitMb, now }: PurchaseFacts,
	takesCode: boolean,
	timeZone: string
): string {
	const end = extraUntil ?? session.expires_at;
	const shown = {
		...session,
		ssid: session.router_ssid,
		...(extraUntil !== null && { status: 'active' as const })
	};
	const order = {
		session: { ...describeSession(shown, null, now, null), isExtra: extraUntil !== null },
		payment: payment && describePayment(payment)
	};
	const words = {
		...listWords(order, {
			until: end === null ? null : momentText(new Date(end), new Date(now), timeZone),
			data: limitMb === null ? null : formatDataLimit(limitMb)
		}),
		number: maskPhone((payment ?? session).phone)
	};
	const { kind, title, text } = describeState(order.session, order.payment, words, new Date(now));
	const asksCode = takesCode && (kind === 'active' || kind === 'extra');
	return `${title} ${asksCode ? m.purchase_code_there({ choose: m.common_paid_already() }) : text}`;
}

/** The state of a purchase for the person who helps its buyer. */
type HelpState =
	| (
			| 'waiting'
			| 'unknown'
			| 'unpaid'
			| 'paid'
			| 'active'
			| 'ended'
			| 'refunding'
			| 'refunded'
			| 'refund_failed'
	  )
	| 'restored';

function helpState({
	session,
	payment,
	extraUntil
}: FoundPurchase & Partial<Pick<PurchaseFacts, 'extraUntil'>>): HelpState {
	if (extraUntil != null) return 'active';
	switch (session.status) {
		case 'activating':
			return 'paid';
		case 'active':
			return 'active';
		case 'expired':
		case 'ended':
			return payment?.status.startsWith('refund') ? ofPayment(payment) : 'ended';
		case 'pending_payment':
		case 'cancelled':
			return ofPayment(payment);
	}
}

const PAYMENT_STATES: Readonly<Record<string, HelpState>> = {
	pending: 'waiting',
	expired: 'unknown',
	success: 'paid',
	refund_pending: 'refunding',
	refunded: 'refunded',
	refund_failed: 'refund_failed'
};

const ofPayment = (payment: FoundPurchase['payment']): HelpState =>
	payment?.refund_reason === VOUCHER_RESTORED
		? 'restored'
		: (PAYMENT_STATES[payment?.status ?? ''] ?? 'unpaid');

/** The facts that the advice names. */
interface Words {
	isConnected: boolean;
	/** The sign-in page of the Wi-Fi accepts the code. */
	takesCode: boolean;
	/** When the router last responded, if it does not now. */
	silentSince: string | null;
	ssid: string;
	address: string;
	number: string;
	time: string;
	isByHand: boolean;
}

/** A few words with their tone, which is neutral if it is null, and the advice. */
const STATES: Record<
	HelpState,
	readonly [() => string, 'good' | 'notice' | 'bad' | null, (words: Words) => string]
> = {
	waiting: [m.help_is_waiting, 'notice', m.help_do_waiting],
	unknown: [m.help_is_unknown, 'notice', m.help_do_unknown],
	unpaid: [m.help_is_unpaid, null, m.help_do_unpaid],
	paid: [m.help_is_paid, 'notice', m.help_do_paid],
	active: [m.help_is_active, 'good', activeAdvice],
	ended: [m.help_is_ended, null, m.help_do_ended],
	refunding: [m.help_is_refunding, 'notice', m.help_do_refunding],
	refunded: [m.help_is_refunded, null, refundedAdvice],
	refund_failed: [m.help_is_refund_failed, 'bad', m.help_do_refund_failed],
	restored: [m.help_is_restored, null, m.help_do_restored]
};

function stateMark(state: HelpState) {
	const [label, tone] = STATES[state];
	return { label: label(), tone };
}

const adviceFor = (state: HelpState, words: Words): string => STATES[state][2](words);

function refundedAdvice({ isByHand }: Words): string {
	return isByHand ? m.help_do_refunded_by_hand() : m.help_do_refunded();
}

function activeAdvice({ silentSince, isConnected, takesCode, ssid, address }: Words): string {
	if (silentSince !== null) return m.usage_not_sold({ time: silentSince });
	if (isConnected) return m.help_do_connected({ address });
	return takesCode
		? m.help_do_enter_code({ ssid, choose: m.common_paid_already() })
		: m.help_do_not_connected({ ssid, address });
}

interface TimelineEntry {
	/** ms since the epoch */
	at: number;
	text: string;
}

type Payment = PurchaseFacts['payments'][number];

/** Says what happened to a purchase, oldest first, in plain words and without secrets. */
function timelineOf(facts: PurchaseFacts, bought: string, timeZone: string): TimelineEntry[] {
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

function paymentEntries(payment: Payment): TimelineEntry[] {
	const { id, phone, created_at: createdAt, submitted_at: sentAt, submit_state: sent } = payment;
	if (isOfVoucher(payment)) {
		const money = formatMinor(payment.amount_minor, payment.currency);
		return [{ at: createdAt, text: m.help_at_redeemed({ number: payment.provider_reference ?? '', money }) }];
	}
	const [number, customer] = [String(id), maskPhone(phone)];
	const asked =
		sentAt === null
			? { at: createdAt, text: m.help_at_not_sent({ number }) }
			: sent === 'uncertain'
				? { at: sentAt, text: m.help_at_no_answer({ number }) }
				: { at: sentAt, text: m.help_at_asked({ number, phone: customer }) };
	return [asked, ...resultEntries(payment)];
}

function resultEntries(payment: Payment): TimelineEntry[] {
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
		const reason = reasonOf({ method: methodName(payment.payment_method, payment.phone) });
		return [{ at, text: m.help_at_failed({ number, reason }) }];
	}
	return status === 'expired' ? [{ at, text: m.help_at_unanswered({ number }) }] : [];
}

type Texts = Readonly<Record<string, () => string>>;

const FAILURES: Readonly<Record<string, (words: { method: string }) => string>> = {
	payer_rejected: m.help_why_rejected,
	insufficient_funds: m.purchase_refused_insufficient_funds_title,
	payer_not_found: m.purchase_refused_payer_not_found_title,
	payer_limit_reached: m.purchase_refused_payer_limit_reached_title,
	payer_timeout: m.help_why_timeout,
	provider_unavailable: m.purchase_refused_provider_unavailable_title
};

const refundsOf = ({ id }: Payment, { refunds }: PurchaseFacts) =>
	refunds.filter(({ payment_id }) => payment_id === id);

function refundEntries(facts: PurchaseFacts): TimelineEntry[] {
	const { refunds, payments } = facts;
	const byHand = payments.flatMap((payment) => {
		const { id, refunded_at: at } = payment;
		if (at !== null && payment.refund_reason === VOUCHER_RESTORED)
			return [{ at, text: m.help_at_restored({ number: payment.provider_reference ?? '' }) }];
		if (at === null || !isRefundedByHand(payment, refundsOf(payment, facts))) return [];
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

const reviewEntries = ({ reviews }: PurchaseFacts): TimelineEntry[] =>
	reviews.flatMap(({ payment_id: id, opened_at: openedAt, resolved_at: resolvedAt }) => {
		const number = String(id);
		const opened = { at: openedAt, text: m.help_at_review({ number }) };
		return resolvedAt === null ? [opened] : [opened, { at: resolvedAt, text: m.help_at_decided({ number }) }];
	});

function accessEntries({ session, payment }: PurchaseFacts): TimelineEntry[] {
	const { status, starts_at: startsAt } = session;
	if (startsAt !== null) return [{ at: startsAt, text: m.help_at_started() }];
	return status === 'activating' && payment !== null
		? [{ at: payment.updated_at, text: m.help_at_waits() }]
		: [];
}

/** Gateways that Airtill calls confirm a device; others report it, for a slot. */
function deviceEntries({ slots, admissions }: PurchaseFacts): TimelineEntry[] {
	const connected = [
		...slots.map(({ mac, bound_at: at }) => ({ mac, at })),
		...admissions.flatMap(({ mac, allowed_at: at }) => (at === null ? [] : [{ mac, at }]))
	].sort((a, b) => a.at - b.at);
	const first = new Map(connected.toReversed().map(({ mac, at }) => [mac, at]));
	const left = slots.flatMap(({ released_at: at }) => (at === null ? [] : [{ at, text: m.help_at_left() }]));
	return [...[...first.values()].map((at) => ({ at, text: m.help_at_connected() })), ...left];
}

/** An end that nobody has moved is in the text of the extra time. A used-up data limit moves it without a decision. */
function extraTimeEntries(
	{ session, extraTime, extraEndedAt, passEndsAt }: PurchaseFacts,
	timeZone: string
): TimelineEntry[] {
	const isOver = session.status === 'expired';
	const given = extraTime.map(({ seconds, created_at: at, outage_id, until = at + seconds * 1000 }) => {
		const duration = formatDuration(`${Math.max(1, Math.round(seconds / 60))}m`);
		const words = { duration, time: moment(until, timeZone) };
		const isAfter = isOver && at >= (session.ended_at ?? Infinity);
		const byPerson = isAfter ? m.help_at_extended_after : m.help_at_extended;
		const text = (outage_id === null ? byPerson : m.help_at_outage)(words);
		return { at, until, isAfter, text };
	});
	const last = given.at(-1);
	const isDecided = extraEndedAt.some((at) => at >= (last?.at ?? 0));
	const isCut = last?.isAfter === true && passEndsAt !== null && passEndsAt < last.until && !isDecided;
	const ends = [...(isOver ? extraEndedAt : []), ...(isCut ? [passEndsAt] : [])];
	return [...given, ...ends.map((at) => ({ at, text: m.help_at_extra_ended() }))];
}

function endEntries({ session }: PurchaseFacts): TimelineEntry[] {
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

/** A line of a list of customers, without the full phone number and the password. */
interface CustomerLine {
	/** Of the session. */
	id: number;
	phone: string;
	router: string;
	bought: string;
	/** When it was ordered; null if the mark has the time. */
	when: string | null;
	/** Whether a device is connected, and its data; null if unknown. */
	use: string | null;
	mark: { label: string; tone: 'good' | 'notice' | 'bad' | null };
}

/** Lists customers by the time that they have left. */
/** A voucher has no number. */
const nameCustomer = (method: string, masked: string): string =>
	method === VOUCHER_METHOD ? methodTitle(method) : masked;

export async function describeUsers(app: App, users: readonly OwnerUserBody[]): Promise<CustomerLine[]> {
	const { clock, config } = app;
	const uses = await findSessionUses(
		app,
		users.map((user) => user.session_id)
	);
	const withoutNumber = await findVoucherSessions(
		app,
		users.map((user) => user.session_id)
	);
	return users.map((user) => {
		const isActive = user.group === 'active';
		const when = { now: clock.now(), timeZone: config.reportTimezone };
		const time = pastMoment(Date.parse(user.ended_at ?? user.expires_at), when);
		const ended = user.status === 'ended' ? m.owner_ended_early({ time }) : m.owner_over_since({ time });
		return {
			id: user.session_id,
			phone: withoutNumber.has(user.session_id) ? methodTitle(VOUCHER_METHOD) : user.phone_masked,
			router: user.router_name,
			bought: m.owner_bought({
				duration: formatDuration(user.duration),
				money: money(user.amount, user.currency)
			}),
			when: null,
			use: sessionUse(uses.get(user.session_id), isActive),
			mark: {
				label: isActive ? m.owner_left({ time: timeLeftText(user.remaining_seconds) }) : ended,
				tone: isActive ? 'good' : null
			}
		};
	});
}

/** Describes an order by its state, also before it is paid. */
export function describeOrder(
	found: Parameters<typeof helpState>[0],
	{ clock, config }: App
): CustomerLine & { when: string } {
	const { session, payment } = found;
	return {
		id: session.id,
		phone: nameCustomer(session.payment_method, maskPhone((payment ?? session).phone)),
		router: session.router_name,
		bought: boughtText(session),
		when: pastMoment(session.created_at, { now: clock.now(), timeZone: config.reportTimezone }),
		use: null,
		mark: stateMark(helpState(found))
	};
}

const boughtText = ({ duration, amount_minor, currency }: FoundPurchase['session']): string =>
	m.owner_bought({
		duration: formatDuration(duration),
		money: formatMinor(amount_minor, currency)
	});

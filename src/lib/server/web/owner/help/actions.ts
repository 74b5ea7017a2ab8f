import { endsByItself } from '#lib/domain/access-kind.ts';
import { formatDuration } from '#lib/domain/duration.ts';
import { EXTRA_TIME_AFTER_END_MS, EXTRA_TIMES, MAX_EXTRA_MINUTES_PER_DAY } from '#lib/domain/extra-time.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { App } from '../../../app.ts';
import type { PurchaseFacts } from '../../../owner/help.ts';
import { PURCHASE_TOKEN_PATTERN } from '../../../platform/ids.ts';
import { qrSvg } from '../../../portal/wifi-qr-svg.ts';
import type { Fields } from '../../form.ts';

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

/** Help for one purchase, with a page that asks for the reason. */
interface HelpAction {
	/** Leads to the page. */
	link(): string;
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
	link: m.help_code,
	title: m.help_code_title,
	text: m.help_code_text,
	button: m.help_code,
	isPossible: ({ hasPage }) => hasPage,
	async run({ app, accountId, origin, by, note }, id) {
		const page = await app.help.showCode(accountId, id, { by, note });
		return page ? { shown: codeCard(origin, page) } : { refusal: m.help_code_nothing() };
	}
};

function codeCard(origin: string, { token, code }: { token: string; code: string }) {
	const page = `${origin}${link(`/s/${token}`)}`;
	const resumeAt = apart(`${new URL(origin).host}${link('/resume')}`);
	return { code, page, qr: qrSvg(page), resumeAt };
}

const extend: HelpAction = {
	link: m.help_extend,
	title: m.help_extend_title,
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
		const result = await app.sessions.giveExtraTime(accountId, id, order);
		if (result === 'given') return 'done';
		if (result === 'limit') return { refusal: m.help_extend_limit() };
		return { refusal: isOver ? m.help_extend_over() : m.help_extend_nothing() };
	},
	done: m.help_extend_done
};

const move: HelpAction = {
	link: m.help_move,
	title: m.help_move_title,
	text: m.help_move_text,
	button: m.help_move,
	isPossible: (facts) => runs(facts) && facts.hasPage && endsByItself(facts.session.access_kind),
	async run({ app, accountId, by, note }, id) {
		const result = await app.help.moveDevice(accountId, id, { by, note });
		if (result === 'moved' || result === 'unchanged') return 'done';
		return { refusal: result === 'too_soon' ? m.help_move_soon() : m.help_move_none() };
	},
	done: m.help_move_done
};

const moneyOf = (payment: NonNullable<PurchaseFacts['payment']>): string =>
	formatMinor(payment.settled_minor ?? payment.amount_minor, payment.settled_currency ?? payment.currency);

const refund: HelpAction = {
	link: m.help_refund,
	title: m.help_refund_title,
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
		const result = await app.payments.refundForOwner(accountId, id, { by, note });
		if (result === 'started') return 'done';
		return { refusal: result === 'time_added' ? m.help_refund_added() : m.help_refund_nothing() };
	},
	done: m.help_refund_done
};

const recordRefund: HelpAction = {
	link: m.help_by_hand,
	title: m.help_by_hand_title,
	text({ toRefundByHand: payment }) {
		if (!payment) return '';
		const text = m.help_by_hand_text({ money: moneyOf(payment), number: String(payment.id) });
		return payment.applied === 1 ? `${text} ${m.help_by_hand_counts()}` : text;
	},
	button: m.help_by_hand,
	isDangerous: true,
	payment: ({ toRefundByHand }) => toRefundByHand?.id ?? null,
	isPossible: ({ toRefundByHand }) => toRefundByHand !== null,
	async run({ app, accountId, by, note, field }, sessionId) {
		const ids = { sessionId, paymentId: Number(field('payment')) };
		const result = await app.payments.recordRefundForOwner(accountId, ids, { by, note });
		if (result === 'recorded') return 'done';
		return { refusal: result === 'time_added' ? m.help_refund_added() : m.help_by_hand_nothing() };
	},
	done: m.help_by_hand_done
};

const end: HelpAction = {
	link: m.help_end,
	title: m.help_end_title,
	text(facts) {
		if (startsLater(facts)) return m.help_end_text_added();
		return endsByItself(facts.session.access_kind) ? m.help_end_text() : m.help_end_text_shared();
	},
	button: m.purchase_end_button,
	isDangerous: true,
	isPossible: runs,
	async run({ app, accountId, by, note }, id) {
		await app.sessions.endForOwner(accountId, id, { by, note });
		const after = await app.help.read(accountId, id);
		return after && wasEnded(after) ? 'done' : { refusal: m.help_end_nothing() };
	},
	done: m.help_at_ended
};

/** By their part of the address, in the order of the page. */
export const HELP_ACTIONS: ReadonlyMap<string, HelpAction> = new Map([
	['code', showCode],
	['move', move],
	['extend', extend],
	['refund', refund],
	['by-hand', recordRefund],
	['end', end]
]);

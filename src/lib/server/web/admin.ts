import { type RequestEvent, error, fail, redirect } from '@sveltejs/kit';
import { MAX_REASON } from '#lib/domain/help.ts';
import { DELETED_NUMBER, maskPhone } from '#lib/domain/phone.ts';
import { type AuditFilter, type Author, type FoundEntry, accountActor, accountIdOf } from '../audit.ts';
import { type Fields, noteOf, readFields } from './form.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import { SIGN_IN_PATH, type Visitor, signedIn } from './sign-in/sign-in.ts';
import { RATE_PLANS, ROLES, findAccount, findAccountByEmail } from '../accounts/accounts.ts';
import type { Review, ReviewReason } from '../billing/reviews.ts';
import type { App } from '../app.ts';
import type { OwnedRouter } from '../routers/routers.ts';
import { routerState } from './owner/router.ts';
import { FIRST_DATE, LAST_DATE, isDate, spanOfDates, timeAt } from '#lib/domain/time.ts';
import { idOf } from './page-links.ts';
import { Refused } from '../platform/errors.ts';

/** What pages of administrators share: who may open them, forms with a mandatory reason, and the audit log. */

/** Statuses of a payment after which money has come. */
export const PAID = ['success', 'refund_pending', 'refunded', 'refund_failed'] as const;

/** Hides the middle of a payer's number. Returns null without one: cash, or the number is deleted. */
export const shownNumber = (phone: string): string | null =>
	phone === DELETED_NUMBER ? null : maskPhone(phone);

/** Redirects to the sign-in page, or throws 403 unless the account is an active administrator. */
export async function requireAdmin(event: RequestEvent): Promise<Visitor> {
	const found = await signedIn(event, SIGN_IN_PATH, '/admin');
	const { role, status, id } = found.account;
	if (role === 'admin' && status === 'active') return found;
	const isSuspended = role === 'admin';
	const reason = isSuspended ? 'suspended' : 'not an administrator';
	logSecurity(event, 'page refused', { account: id, reason });
	if (isSuspended) error(403, 'Your account is suspended. Contact another administrator.');
	error(403, 'These pages are for administrators. Sign out, then sign in with an administrator’s account.');
}

/** Makes the load of a page, or the handler of a download: each must be made so. */
export const adminPage =
	<Event extends RequestEvent, Data>(load: (event: Event, admin: Visitor) => Data | Promise<Data>) =>
	async (event: Event): Promise<Data> =>
		load(event, await requireAdmin(event));

/** Makes a form action: each must be made so. */
export const adminForm = adminPage;

export const actorOf = ({ account }: Visitor): string => accountActor(account.id);

/** Reads the mandatory reason of a change. `problem` is null for a good one. */
export function readReason(field: Fields): { note: string; problem: string | null } {
	const note = noteOf(field);
	if (note === '') return { note, problem: 'Reason: say why. The audit log keeps it.' };
	return { note, problem: note.length > MAX_REASON ? `Reason: use at most ${MAX_REASON} characters.` : null };
}

/** Returns the email addresses of actors that are accounts. Other actors keep their names. */
export async function findNames(
	{ locals }: RequestEvent,
	actors: readonly (string | null)[]
): Promise<(actor: string) => string> {
	const names = new Map<string, string>();
	for (const actor of new Set(actors)) {
		const id = accountIdOf(actor ?? '');
		const account = id === null ? null : await findAccount(locals.app, id);
		if (actor !== null && account) names.set(actor, account.email);
	}
	return (actor) => names.get(actor) ?? actor;
}

export interface Order<Subject> {
	event: RequestEvent;
	admin: Visitor;
	subject: Subject;
	author: Author;
	field: Fields;
}

/** `done` leads back to the page. */
type Outcome =
	| 'done'
	| { leadTo: string }
	/** Shown once. */
	| { link: string }
	| { status: number; problem: string };

/** A change of an account or a router that needs a reason, with the texts of its form. */
export interface Change<Subject, Facts = Subject> {
	title: string;
	text: string;
	button: string;
	isDangerous?: boolean;
	isOffered(facts: Facts): boolean;
	/** The sentence that the page shows afterwards; false if another change has undone it. */
	done?(facts: Facts): string | false;
	/** A second click changes nothing. */
	run(order: Order<Subject>): Promise<Outcome>;
}

type Changes<Subject, Facts> = Readonly<Record<string, Change<Subject, Facts>>>;

/** Returns the forms of a page, and the sentence about the change that its address names. */
export const listChanges = <Facts>({ url }: RequestEvent, changes: Changes<never, Facts>, facts: Facts) => ({
	changes: Object.entries(changes)
		.filter(([, change]) => change.isOffered(facts))
		.map(([name, { title, text, button, isDangerous }]) => ({ name, title, text, button, isDangerous })),
	done: new Map(Object.entries(changes)).get(url.searchParams.get('done') ?? '')?.done?.(facts) || null
});

/**
 * Makes the form action of a change. A refusal keeps what was typed.
 * @param fields beside the reason; the usual one has the name of the change
 */
export const changeForm = <Event extends RequestEvent, Subject>(
	which: string,
	{ run }: Pick<Change<Subject, never>, 'run'>,
	find: (event: Event, admin: Visitor) => Promise<Subject>,
	fields: readonly string[] = [which]
) =>
	adminForm(async (event: Event, admin) => {
		const subject = await find(event, admin);
		const { field } = await readFields(event.request);
		const { note, problem } = readReason(field);
		const typed = Object.fromEntries(fields.map((name) => [name, field(name)]));
		const answer = { which, note, typed, problem: null, link: null };
		if (problem !== null) return fail(400, { ...answer, problem });
		const author = { by: actorOf(admin), note };
		const outcome = await run({ event, admin, subject, author, field }).catch((refusal: unknown) => {
			if (refusal instanceof Refused && refusal.reason === 'refused')
				return { status: 409, problem: refusal.message };
			throw refusal;
		});
		if (outcome === 'done') redirect(303, `${event.url.pathname}?done=${which}`);
		if ('leadTo' in outcome) redirect(303, outcome.leadTo);
		return 'link' in outcome
			? { ...answer, ...outcome }
			: fail(outcome.status, { ...answer, problem: outcome.problem });
	});

export const readRole = (field: Fields) => ROLES.find((one) => one === field('role'));
export const readRatePlan = (field: Fields) => RATE_PLANS.find((one) => one === field('plan'));
export const ROLE_PROBLEM = 'Role: choose one from the list.';
export const PLAN_PROBLEM = 'Rate plan: choose one from the list.';

const REASONS: Record<ReviewReason, string> = {
	amount_mismatch: 'Another amount was taken',
	amount_unknown: 'Nobody has told the amount that was taken',
	contradiction: 'The operator contradicts itself',
	no_reference: 'The operator’s reference was lost',
	no_final_answer: 'The operator gives no final answer',
	refund_not_supported: 'The operator cannot refund',
	refund_refused: 'The operator refused the refund',
	refund_failed: 'The refund failed',
	refund_no_final_answer: 'Nobody knows if the refund arrived',
	refund_by_hand: 'A person refunds by hand',
	statement_unknown: 'The statement has a payment that we do not know',
	statement_paid: 'The statement says paid, we do not',
	statement_missing: 'The statement lacks a payment',
	statement_amount: 'The statement has another amount'
};

export const formatReviewTitle = (review: Review): string =>
	REASONS[review.reason as ReviewReason] ?? review.reason;

/** Why a router sells nothing, and what to do. */
const ADVICE: Readonly<Record<string, string>> = {
	closed: 'It was imported as closed. Import it again with the status online.',
	access_unverified:
		'None of its gateways has responded yet. It sells when one responds, or when you confirm that buyers get access.',
	gateway_unresponsive:
		'None of its gateways responds. Check the power, the internet connection and the configuration.',
	network_password_missing:
		'It sells the network’s own password, and Airtill does not know it. The owner’s page of the router takes it.'
};

const disabledText = ({ canEnable }: OwnedRouter) =>
	canEnable
		? 'Its owner has disabled it, and can enable it again.'
		: 'An administrator has disabled it. Its owner cannot enable it.';

export function describeRouterState({ clock, config }: App, router: OwnedRouter) {
	const { tone, label, text } = routerState(router, { now: clock.now(), timeZone: config.reportTimezone });
	const advice = router.disabled ? disabledText(router) : ADVICE[router.status_reason ?? ''];
	return { tone, label, text: router.opensAt === null ? (advice ?? null) : text };
}

const FIELDS = ['who', 'actor', 'action', 'payment', 'router', 'from', 'to'] as const;
type Field = (typeof FIELDS)[number];

const MAX_TEXT = 200;

interface Search {
	/** As typed. */
	texts: Record<Field, string>;
	/** null if a field is wrong. */
	filter: AuditFilter | null;
	problems: [field: Field, problem: string][];
}

/**
 * Reads ?who=&actor=&action=&payment=&router=&from=&to=, each optional. An email address stands for its account.
 * Decisions of people by default; who=machines or all, and an actor, action or payment, find what Airtill does itself.
 */
export async function readAuditSearch({ url, locals: { app } }: RequestEvent): Promise<Search> {
	const texts = Object.fromEntries(
		FIELDS.map((name) => [name, (url.searchParams.get(name) ?? '').trim()])
	) as Search['texts'];
	const { who, actor, action, payment, router, from, to } = texts;
	const account = actor.includes('@') && isText(actor) ? await findAccountByEmail(app, actor) : null;
	const dateProblem = (name: string, text: string) =>
		text === '' || (isDate(text) && text >= FIRST_DATE && text <= LAST_DATE)
			? null
			: `${name}: write a date such as 2026-11-20, or leave it empty.`;
	const numberProblem = (name: string, text: string) =>
		text === '' || idOf(text) ? null : `${name}: write digits only, or leave it empty.`;
	const isReversed = isDate(from) && isDate(to) && to < from;
	const checks: [Field, string | null][] = [
		['actor', isText(actor) ? null : `Email or name of the actor: write at most ${MAX_TEXT} characters.`],
		['action', isText(action) ? null : 'Action: choose one from the list.'],
		['payment', numberProblem('Payment number', payment)],
		['router', numberProblem('Router number', router)],
		['from', dateProblem('From', from)],
		['to', isReversed ? 'To: choose a day that is not before the first.' : dateProblem('To', to)]
	];
	const problems = checks.filter((one): one is [Field, string] => one[1] !== null);
	if (problems.length > 0) return { texts, filter: null, problems };
	const span = spanOfDates(from || FIRST_DATE, to || LAST_DATE, app.config.reportTimezone);
	return {
		texts,
		problems,
		filter: {
			...(who === 'machines' ? { who } : {}),
			...(who === '' && actor + action + payment === '' ? { who: 'people' as const } : {}),
			...{ actor: account ? accountActor(account.id) : actor || null, action: action || null },
			...{ paymentId: idOf(payment) || null, routerId: idOf(router) || null, ...span }
		}
	};
}

/** PostgreSQL refuses NUL in text. */
const isText = (text: string): boolean => text.length <= MAX_TEXT && !/\p{Cc}/u.test(text);

export async function listAuditLines(event: RequestEvent, entries: readonly FoundEntry[]) {
	const { reportTimezone } = event.locals.app.config;
	const actors = entries.map(({ actor }) => actor);
	const nameOf = await findNames(event, actors);
	return entries.map((entry) => ({
		id: entry.id,
		when: timeAt(entry.at, reportTimezone),
		actor: nameOf(entry.actor),
		action: entry.action,
		paymentId: entry.payment_id,
		refundId: entry.refund_id,
		reason: entry.reason,
		changes: formatChanges(entry, reportTimezone)
	}));
}

/** Returns "status: pending → success" for each field that has a value; an unchanged one without the arrow. */
function formatChanges(entry: FoundEntry, timeZone: string): string[] {
	const before = JSON.parse(entry.before) as Record<string, unknown>;
	const after = JSON.parse(entry.after) as Record<string, unknown>;
	return Object.keys({ ...before, ...after }).flatMap((name) => {
		const [old, now] = [before, after].map((values) => valueText(name, values[name], timeZone));
		if (old === now || !old) return now ? [`${name}: ${now}`] : [];
		return [`${name}: ${old} → ${now || 'none'}`];
	});
}

/** Times are milliseconds in fields that end in "_at". */
function valueText(name: string, value: unknown, timeZone: string): string {
	if (value === undefined || value === null) return '';
	if (typeof value === 'number' && name.endsWith('_at')) return timeAt(value, timeZone);
	return typeof value === 'string' ? value : JSON.stringify(value);
}

import type { RequestEvent } from '@sveltejs/kit';
import { FIRST_DATE, LAST_DATE, isDate, spanOfDates, timeAt } from '#lib/domain/time.ts';
import { type AuditFilter, type FoundEntry, accountActor } from '../../audit.ts';
import { idOf } from '../page-links.ts';
import { namesOf } from './admin.ts';
import { findAccountByEmail } from '../../accounts/accounts.ts';

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
 * Entries of machines are found with who=all, and by their actor, action or payment.
 */
export async function auditSearchOf({ url, locals: { app } }: RequestEvent): Promise<Search> {
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
			isOfPeople: who !== 'all' && actor + action + payment === '',
			...{ actor: account ? accountActor(account.id) : actor || null, action: action || null },
			...{ paymentId: idOf(payment) || null, routerId: idOf(router) || null, ...span }
		}
	};
}

/** PostgreSQL refuses NUL in text. */
const isText = (text: string): boolean => text.length <= MAX_TEXT && !/\p{Cc}/u.test(text);

export async function auditLines(event: RequestEvent, entries: readonly FoundEntry[]) {
	const { reportTimezone } = event.locals.app.config;
	const actors = entries.map(({ actor }) => actor);
	const nameOf = await namesOf(event, actors);
	return entries.map((entry) => ({
		id: entry.id,
		when: timeAt(entry.at, reportTimezone),
		actor: nameOf(entry.actor),
		action: entry.action,
		paymentId: entry.payment_id,
		refundId: entry.refund_id,
		reason: entry.reason,
		changes: changesOf(entry, reportTimezone)
	}));
}

/** Returns "status: pending → success" for each field that has a value; an unchanged one without the arrow. */
function changesOf(entry: FoundEntry, timeZone: string): string[] {
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

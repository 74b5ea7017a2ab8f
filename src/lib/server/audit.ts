import { sql } from 'kysely';
import { parseId } from '#lib/domain/text.ts';
import type { Queries, Tx } from './db/database.ts';
import { cutPage, first, withoutNulls } from './db/queries.ts';
import type { Row } from './db/schema.ts';
import type { Clock } from './platform/clock.ts';

/** Makes a change: the name of a person, or `account` with its id. */
export interface Author {
	by: string;
	/** The reason. */
	note: string;
}

interface AuditEntry {
	/** `reconciler`, `refunds`, `account` with its id, or the name that an administrator gave on the command line. */
	actor: string;
	/** For example `payment.success`. */
	action: string;
	paymentId?: number | null;
	refundId?: number;
	reason?: string;
	before?: Readonly<Record<string, unknown>>;
	/** With `router_id`, the entry is found by its router. */
	after: Readonly<Record<string, unknown>> & { router_id?: number };
}

export type FoundEntry = Row<'audit_log'>;

export interface AuditFilter {
	/** `machines`: only entries of MACHINES; `people`: without them. By default all. */
	who?: 'people' | 'machines';
	/** Without entries of this owner and of staff. */
	notOfOwner?: number;
	actor: string | null;
	action: string | null;
	paymentId: number | null;
	routerId: number | null;
	/** Epoch ms, inclusive. */
	from: number;
	/** Epoch ms, exclusive. */
	to: number;
}

/**
 * Parts of Airtill that decide by themselves; every other actor is a person. The index audit_log_people is made for
 * this list.
 */
const MACHINES = ['access', 'airtill', 'demo', 'reconciler', 'refunds'] as const;

/** Without parameters, so that the index is used. */
const BY_PEOPLE = sql.raw(`actor not in (${MACHINES.map((name) => `'${name}'`).join(', ')})`);

/** Time and id of an entry: its position in the log. */
export type AuditPosition = readonly [at: number, id: number];

/** The actor of a change that the person of an account makes. */
export const accountActor = (accountId: number): string => `account ${accountId}`;

export function accountIdOf(actor: string): number | null {
	const [, id = ''] = /^account (\d+)$/.exec(actor) ?? [];
	return parseId(id);
}

export type Audit = ReturnType<typeof createAudit>;

/** Logs decisions about money and access in the transaction of the change. Entries are never changed or deleted. */
export const createAudit = (clock: Clock) => ({
	async record(trx: Tx, entry: AuditEntry): Promise<void> {
		await trx
			.insertInto('audit_log')
			.values({
				at: clock.now(),
				actor: entry.actor,
				action: entry.action,
				payment_id: entry.paymentId ?? null,
				refund_id: entry.refundId ?? null,
				router_id: entry.after.router_id ?? null,
				reason: entry.reason ?? '',
				before: JSON.stringify(entry.before ?? {}),
				after: JSON.stringify(entry.after)
			})
			.execute();
	},
	/** When the newest entry of this action was made; null without any. */
	async newest(queries: Queries, action: string): Promise<number | null> {
		const entries = queries.selectFrom('audit_log').select('at').where('action', '=', action);
		return (await first(entries.orderBy('at', 'desc')))?.at ?? null;
	},
	ofPayment: (queries: Queries, paymentId: number) =>
		queries.selectFrom('audit_log').selectAll().where('payment_id', '=', paymentId).orderBy('id').execute(),
	search: searchAudit,
	usedActions
});

/** Lists entries, newest first. `next` is the position of the last one if more follow, otherwise null. */
export async function searchAudit(
	queries: Queries,
	{ actor, action, paymentId, routerId, from, to, who, notOfOwner }: AuditFilter,
	{ after, limit }: { after: AuditPosition | null; limit: number }
): Promise<{ entries: FoundEntry[]; next: AuditPosition | null }> {
	const [at, id] = after !== null && after[0] < to ? after : [to, 0];
	const rows = await queries
		.selectFrom('audit_log')
		.selectAll()
		.where(({ and }) => and(withoutNulls({ actor, action, payment_id: paymentId, router_id: routerId })))
		.where(sql<boolean>`at >= ${from} and (at, id) < (${at}, ${id})`)
		.$if(who === 'people', (found) => found.where(sql<boolean>`${BY_PEOPLE}`))
		.$if(who === 'machines', (found) => found.where('actor', 'in', MACHINES))
		.$if(notOfOwner !== undefined, (found) =>
			found.where('actor', 'not in', (accounts) =>
				accounts
					.selectFrom('accounts')
					.select(sql<string>`'account ' || id`.as('actor'))
					.where((where) => where.or([where('id', '=', notOfOwner ?? 0), where('role', '=', 'staff')]))
			)
		)
		.orderBy('at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit + 1)
		.execute();
	const { rows: entries, next } = cutPage(rows, limit, (last): AuditPosition => [last.at, last.id]);
	return { entries, next };
}

/** Lists the actions that have an entry, by name. Reads one row of the index for each. */
export async function usedActions(queries: Queries): Promise<string[]> {
	const { rows } = await sql<{ action: string }>`
		with recursive used (action) as (
			select min(action) from audit_log
			union all
			select (select min(action) from audit_log where action > used.action) from used where action is not null
		)
		select action from used where action is not null`.execute(queries);
	return rows.map(({ action }) => action);
}

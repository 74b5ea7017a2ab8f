import { sql, type Selectable } from 'kysely';
import type { Queries } from '../db/database.ts';
import { withoutNulls } from '../db/first.ts';
import { pageOf } from '../db/newest-first.ts';
import type { AuditLogTable } from '../db/schema.ts';

export type FoundEntry = Selectable<AuditLogTable>;

export interface AuditFilter {
	actor: string | null;
	action: string | null;
	paymentId: number | null;
	routerId: number | null;
	/** Epoch ms, inclusive. */
	from: number;
	/** Epoch ms, exclusive. */
	to: number;
}

/** Time and id of an entry: its position in the log. */
export type AuditPosition = readonly [at: number, id: number];

/** Lists entries, newest first. `next` is the position of the last one if more follow, otherwise null. */
export async function searchAudit(
	queries: Queries,
	{ actor, action, paymentId, routerId, from, to }: AuditFilter,
	{ after, limit }: { after: AuditPosition | null; limit: number }
): Promise<{ entries: FoundEntry[]; next: AuditPosition | null }> {
	const [at, id] = after !== null && after[0] < to ? after : [to, 0];
	const rows = await queries
		.selectFrom('audit_log')
		.selectAll()
		.where(({ and }) => and(withoutNulls({ actor, action, payment_id: paymentId, router_id: routerId })))
		.where(sql<boolean>`at >= ${from} and (at, id) < (${at}, ${id})`)
		.orderBy('at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit + 1)
		.execute();
	const { rows: entries, next } = pageOf(rows, limit, (last): AuditPosition => [last.at, last.id]);
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

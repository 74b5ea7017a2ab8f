import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';

/** What a check needs to know of a gateway. */
export interface WatchRow {
	id: number;
	name: string;
	router_id: number;
	seen_at: number | null;
	unresponsive_since: number | null;
	checked_seen_at: number | null;
	missed_checks: number;
}

/** Gateways, those that wait longest for a check first. */
export const watched = (queries: Queries, limit: number): Promise<WatchRow[]> =>
	queries
		.selectFrom('gateways')
		.select(['id', 'name', 'router_id', 'seen_at', 'unresponsive_since', 'checked_seen_at', 'missed_checks'])
		.orderBy(sql`coalesce(checked_at, 0)`)
		.orderBy('id')
		.limit(limit)
		.execute();

/** When any gateway was last checked; null where none was. */
export async function lastCheckAt(queries: Queries): Promise<number | null> {
	const row = await queries
		.selectFrom('gateways')
		.select((builder) => builder.fn.max('checked_at').as('at'))
		.executeTakeFirst();
	return row?.at ?? null;
}

/**
 * How many connections should go on at each gateway and have been reported on while they went on. Those whose told end
 * is over are as good as gone, though nobody said so, and so are those that nobody reported on for `lostAfterMs`; those
 * that were never reported on after their start may be at a gateway that sends no reports in between.
 */
export async function reportingConnections(
	queries: Queries,
	now: number,
	{ reportedAfterMs, lostAfterMs }: { reportedAfterMs: number; lostAfterMs: number }
): Promise<Map<number, number>> {
	const { rows } = await sql<{ gateway_id: number; reporting: number }>`
		select gateway_id, count(*) as reporting from connections
		where stopped_at is null and told_until > ${now} and seen_at >= started_at + ${reportedAfterMs}
			and seen_at > ${now - lostAfterMs}
		group by gateway_id`.execute(queries);
	return new Map(rows.map(({ gateway_id, reporting }) => [gateway_id, reporting]));
}

/** When a gateway was last heard of. */
export async function seenAt(queries: Queries, id: number): Promise<number | null> {
	const row = await queries.selectFrom('gateways').select('seen_at').where('id', '=', id).executeTakeFirst();
	return row?.seen_at ?? null;
}

export interface Checked {
	now: number;
	/** When it was last heard of, as the check found it. */
	seenAt: number | null;
	missedChecks: number;
	unresponsiveSince: number | null;
}

/** Notes a check, unless the gateway was heard of while it was decided. @returns whether it was noted */
export async function noteCheck(queries: Queries, id: number, checked: Checked): Promise<boolean> {
	const { numUpdatedRows } = await queries
		.updateTable('gateways')
		.set({
			checked_at: checked.now,
			checked_seen_at: checked.seenAt,
			missed_checks: checked.missedChecks,
			unresponsive_since: checked.unresponsiveSince
		})
		.where('id', '=', id)
		.where('seen_at', checked.seenAt === null ? 'is' : '=', checked.seenAt)
		.executeTakeFirst();
	return numUpdatedRows > 0n;
}

export interface SettledRouter {
	id: number;
	name: string;
}

const SILENT_ROUTERS = sql`select router_id from gateways group by router_id
	having count(*) = count(unresponsive_since)`;

/** Takes routers off sale of which no gateway is heard. @returns which */
export async function markRoutersOffline(queries: Queries): Promise<SettledRouter[]> {
	const { rows } = await sql<SettledRouter>`
		update routers set unresponsive_since =
			(select max(gateways.unresponsive_since) from gateways where gateways.router_id = routers.id)
		where unresponsive_since is null and id in (${SILENT_ROUTERS}) returning id, name`.execute(queries);
	return rows;
}

/** Puts routers on sale again of which a gateway is heard, or that have none any more. @returns which */
export async function markRoutersOnline(queries: Queries): Promise<SettledRouter[]> {
	const { rows } = await sql<SettledRouter>`
		update routers set unresponsive_since = null
		where unresponsive_since is not null and id not in (${SILENT_ROUTERS}) returning id, name`.execute(queries);
	return rows;
}

import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { first, isChanged } from '#lib/server/db/queries.ts';

export async function findOwnersOfAll(queries: Queries): Promise<Map<number, number>> {
	const rows = await queries
		.selectFrom('routers')
		.select(['id', 'owner_account_id'])
		.where('id', 'in', (gateways) => gateways.selectFrom('gateways').select('router_id'))
		.execute();
	return new Map(rows.map(({ id, owner_account_id: owner }) => [id, owner]));
}

export const findLastCheck = async (queries: Queries): Promise<number | null> =>
	(await first(queries.selectFrom('gateways').select(({ fn }) => fn.max('checked_at').as('at'))))?.at ?? null;

/**
 * Counts, by gateway, the open connections that should send interim reports.
 * @param reportedAfterMs a report this long after the start shows that the gateway sends them
 * @param lostAfterMs a connection without a report for this long counts as ended
 */
export async function countReporting(
	queries: Queries,
	now: number,
	{ reportedAfterMs, lostAfterMs }: { reportedAfterMs: number; lostAfterMs: number }
): Promise<Map<number, number>> {
	const { rows } = await sql<{ gateway_id: number; reporting: number }>`
		select gateway_id, count(*) as reporting from connections
		where stopped_at is null and enforced_until > ${now} and seen_at >= started_at + ${reportedAfterMs}
			and seen_at > ${now - lostAfterMs}
		group by gateway_id`.execute(queries);
	return new Map(rows.map(({ gateway_id, reporting }) => [gateway_id, reporting]));
}

export const findSeenAt = async (queries: Queries, id: number): Promise<number | null> =>
	(await first(queries.selectFrom('gateways').select('seen_at').where('id', '=', id)))?.seen_at ?? null;

/** Saves a check, unless the gateway responded meanwhile. @returns whether it was saved */
export const saveCheck = (
	queries: Queries,
	id: number,
	checked: { now: number; seenAt: number | null; missedChecks: number; unresponsiveSince: number | null }
): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('gateways')
			.set({
				checked_at: checked.now,
				checked_seen_at: checked.seenAt,
				missed_checks: checked.missedChecks,
				unresponsive_since: checked.unresponsiveSince
			})
			.where('id', '=', id)
			.where('seen_at', checked.seenAt === null ? 'is' : '=', checked.seenAt)
	);

const UNRESPONSIVE_ROUTERS = sql`select router_id from gateways group by router_id
	having count(*) = count(unresponsive_since)`;

export async function markRoutersOffline(queries: Queries): Promise<{ id: number; name: string }[]> {
	const { rows } = await sql<{ id: number; name: string }>`
		update routers set unresponsive_since =
			(select max(gateways.unresponsive_since) from gateways where gateways.router_id = routers.id)
		where unresponsive_since is null and id in (${UNRESPONSIVE_ROUTERS}) returning id, name`.execute(queries);
	return rows;
}

export async function markRoutersOnline(queries: Queries): Promise<{ id: number; name: string }[]> {
	const { rows } = await sql<{ id: number; name: string }>`
		update routers set unresponsive_since = null
		where unresponsive_since is not null and id not in (${UNRESPONSIVE_ROUTERS}) returning id, name`.execute(
		queries
	);
	return rows;
}

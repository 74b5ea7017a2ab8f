import { type Expression, sql } from 'kysely';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { exists } from '../db/queries.ts';
import { storeJob } from '../jobs.ts';

/**
 * Outages of routers: times in which none of the gateways of a router answered. Passes get them back (access/outages.ts).
 *
 * An outage begins when the last gateway counts as unresponsive (gateways/health.ts), from its first unanswered moment, and
 * ends with the first answer. Only checks that were made count: while Airtill itself stands still, no outage goes on.
 * A router that gives no time back when its outage begins has none, nor has one that never answered.
 * Its row is written in the transaction that takes the router off sale, or puts it back.
 */

/** Gives the time of an outage back; its subject is the outage. */
export const OUTAGE_JOB = 'access.outage';

/** After a longer gap between two checks nobody knows whether the gateway answered in between. */
export const MAX_CHECK_GAP_MS = 150_000;

/** Routers all of whose gateways are silent. A sum with null is null, which is not counted. */
const SILENT_ROUTERS = sql`select router_id from gateways group by router_id
	having count(*) = count(unresponsive_since + silent_since)`;

/** Ends outages whose router answered, or was not asked for a while, and begins new ones. */
export async function noteOutages(trx: Tx, now: number): Promise<void> {
	await end(trx, now, sql<boolean>`router_id not in (${SILENT_ROUTERS})`);
	await trx.updateTable('outages').set({ checked_at: now }).where('ended_at', 'is', null).execute();
	await sql`insert into outages (router_id, began_at, checked_at)
		select router_id, max(case when silent_since > last then silent_since else last end), ${now}
		from (select router_id, silent_since, coalesce((select max(ended_at) from outages
			where outages.router_id = gateways.router_id), 0) as last from gateways) as gateways
		where router_id in (${SILENT_ROUTERS})
			and router_id in (select id from routers where gives_time_back = 1 and responded_at is not null)
			and router_id not in (select router_id from outages where ended_at is null)
		group by router_id on conflict do nothing`.execute(trx);
}

/** A gateway of the router has answered. */
export const endOutage = (trx: Tx, routerId: number, now: number): Promise<void> =>
	end(trx, now, sql<boolean>`router_id = ${routerId}`);

async function end(trx: Tx, now: number, of: Expression<boolean>): Promise<void> {
	const ended = await trx
		.updateTable('outages')
		.set({
			ended_at: sql`case when checked_at between ${now - MAX_CHECK_GAP_MS} and ${now} then ${now} else checked_at end`
		})
		.where('ended_at', 'is', null)
		.where(of)
		.returning('id')
		.execute();
	for (const { id } of ended) await storeJob(trx, OUTAGE_JOB, id, now);
}

/** Nobody asked the gateways for a while, so nobody knows whether they were silent. */
export const forgetSilence = (queries: Queries) =>
	queries.updateTable('gateways').set({ silent_since: null }).where('silent_since', 'is not', null).execute();

/** Whether a pass that ended at `endsAt` gets time of an outage back. */
export const isTimeOwed = (
	queries: Reads,
	{ router_id: routerId, ends_at: endsAt }: { router_id: number; ends_at: number | null }
): Promise<boolean> =>
	exists(
		queries
			.selectFrom('outages')
			.select('id')
			.where('router_id', '=', routerId)
			.where('began_at', '<', endsAt)
			.where('given_at', 'is', null)
	);

import { sql, type Insertable, type RawBuilder } from 'kysely';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { NetworkUsageTable } from '#lib/server/db/schema.ts';

export const unbooked = (queries: Queries, limit: number) =>
	queries
		.selectFrom('connections as connection')
		.innerJoin('gateways', 'gateways.id', 'connection.gateway_id')
		.select([
			'connection.id',
			'connection.gateway_id',
			'gateways.router_id',
			'connection.seen_at',
			'connection.bytes_in',
			'connection.bytes_out',
			'connection.booked_in',
			'connection.booked_out'
		])
		// Matches the partial index connections_unbooked.
		.where(
			sql<boolean>`(connection.bytes_in <> connection.booked_in or connection.bytes_out <> connection.booked_out)`
		)
		.orderBy('connection.id')
		.limit(limit)
		.execute();

/** Returns false if the counters have grown meanwhile. */
export async function noteBooked(
	trx: Tx,
	row: Awaited<ReturnType<typeof unbooked>>[number]
): Promise<boolean> {
	const { numUpdatedRows } = await trx
		.updateTable('connections')
		.set({ booked_in: row.bytes_in, booked_out: row.bytes_out })
		.where('id', '=', row.id)
		.where('booked_in', '=', row.booked_in)
		.where('booked_out', '=', row.booked_out)
		.executeTakeFirst();
	return numUpdatedRows > 0n;
}

export const book = (trx: Tx, usage: Insertable<NetworkUsageTable>) =>
	trx
		.insertInto('network_usage')
		.values(usage)
		.onConflict((conflict) =>
			conflict.columns(['router_id', 'day']).doUpdateSet({
				bytes_in: sql`network_usage.bytes_in + ${usage.bytes_in}`,
				bytes_out: sql`network_usage.bytes_out + ${usage.bytes_out}`
			})
		)
		.execute();

/** From the first day of a month to today, in both directions. */
export async function dataOfRouters(
	queries: Queries,
	routerIds: readonly number[],
	{ first, today }: { first: string; today: string }
) {
	const { rows } = await sql<{ router_id: number; today: number; month: number }>`
		select router_id, sum(bytes_in + bytes_out) as month,
			sum(case when day = ${today} then bytes_in + bytes_out else 0 end) as today
		from network_usage
		where router_id in (${sql.join(routerIds)}) and day >= ${first} and day <= ${today}
		group by router_id`.execute(queries);
	return rows;
}

export const connectedDevices = (queries: Queries, gatewayIds: readonly number[], freshAfter: number) =>
	devicesByGateway(
		queries,
		sql`select gateway_id, count(distinct coalesce(mac, acct_session_id)) as devices from connections
			where gateway_id in (${sql.join(gatewayIds)}) and stopped_at is null and seen_at >= ${freshAfter}
			group by gateway_id`
	);

export const grantedDevices = (queries: Queries, gatewayIds: readonly number[], now: number) =>
	devicesByGateway(
		queries,
		sql`select gateway_id, count(*) as devices from grants
			where gateway_id in (${sql.join(gatewayIds)}) and state = 'granted' and released_at is null
				and requested_end_at > ${now}
			group by gateway_id`
	);

async function devicesByGateway(queries: Queries, query: RawBuilder<unknown>) {
	const { rows } = await (query as RawBuilder<{ gateway_id: number; devices: number }>).execute(queries);
	return new Map(rows.map((row) => [row.gateway_id, row.devices]));
}

export interface SessionUse {
	session_id: number;
	bytes: number;
	/** Connections with a recent report. */
	connected: number;
}

/** Sums the connections that started during each session, counted once per pass. */
export async function useOfSessions(
	queries: Queries,
	sessionIds: readonly number[],
	freshAfter: number
): Promise<SessionUse[]> {
	const { rows } = await sql<SessionUse>`
		select sessions.id as session_id, sum(connection.bytes_in + connection.bytes_out) as bytes,
			sum(case when connection.stopped_at is null and connection.seen_at >= ${freshAfter}
				then 1 else 0 end) as connected
		from sessions join connections connection on connection.pass_id = sessions.pass_id
		where sessions.id in (${sql.join(sessionIds)})
			and (sessions.id = sessions.pass_id or connection.started_at >= sessions.starts_at)
			and not exists (select 1 from sessions later where later.pass_id = sessions.pass_id
				and later.id <> sessions.id and later.starts_at >= sessions.expires_at
				and later.starts_at <= connection.started_at)
		group by sessions.id`.execute(queries);
	return rows;
}

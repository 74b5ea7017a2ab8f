import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';

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

import { type Insertable, type Selectable, type Updateable, sql } from 'kysely';
import type { Queries, Reads } from '#lib/server/db/database.ts';
import { exists, first } from '#lib/server/db/queries.ts';
import type { ConnectionsTable } from '#lib/server/db/schema.ts';
import type { AccountingReport } from '#lib/server/access/radius/report.ts';
import type { TimeWindow } from './device-slots.ts';

export type ConnectionRow = Selectable<ConnectionsTable>;

export const findConnection = (queries: Reads, id: number): Promise<ConnectionRow | null> =>
	first(queries.selectFrom('connections').selectAll().where('id', '=', id));

/** A gateway can be several access servers with their own ids: the server or the device must match. */
export async function findReportedConnection(
	queries: Queries,
	gatewayId: number,
	{ session, nas_address, nas_identifier, mac }: AccountingReport
): Promise<ConnectionRow | null> {
	const rows = await queries
		.selectFrom('connections')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('acct_session_id', '=', session)
		.orderBy('id', 'desc')
		.limit(MAX_SERVERS)
		.execute();
	const isSame = (row: ConnectionRow) =>
		row.nas_address === nas_address && row.nas_identifier === nas_identifier;
	return rows.find(isSame) ?? rows.find((row) => row.mac !== null && row.mac === mac) ?? null;
}

const MAX_SERVERS = 100;

export const insertConnection = (
	queries: Queries,
	connection: Insertable<ConnectionsTable>
): Promise<ConnectionRow> =>
	queries.insertInto('connections').values(connection).returningAll().executeTakeFirstOrThrow();

export const changeConnection = (queries: Queries, id: number, to: Updateable<ConnectionsTable>) =>
	queries.updateTable('connections').set(to).where('id', '=', id).execute();

export const forgetAttempts = (queries: Queries, passId: number) =>
	queries
		.updateTable('connections')
		.set({ disconnect_attempts: 0 })
		.where('pass_id', '=', passId)
		.where('stopped_at', 'is', null)
		.where('disconnect_attempts', '>', 0)
		.execute();

const selectOpenConnections = (queries: Queries) =>
	queries.selectFrom('connections').selectAll().where('stopped_at', 'is', null);

export function findOpenConnections(queries: Queries, { passId, mac }: { passId: number; mac?: string }) {
	const found = selectOpenConnections(queries).where('pass_id', '=', passId);
	return (mac === undefined ? found : found.where('mac', '=', mac)).execute();
}

/** Counts open connections without a MAC address. */
export async function countUnnamedConnections(
	queries: Queries,
	passId: number,
	reportedWithin: TimeWindow
): Promise<number> {
	const found = await selectOpenConnections(queries)
		.where('pass_id', '=', passId)
		.where('mac', 'is', null)
		.where('seen_at', '>', reportedWithin.after)
		.where('seen_at', '<=', reportedWithin.before)
		.execute();
	return found.length;
}

export const hasEnded = (queries: Queries, gatewayId: number): Promise<boolean> =>
	exists(
		queries
			.selectFrom('connections')
			.select('id')
			.where('gateway_id', '=', gatewayId)
			.where('disconnect_state', '=', 'done')
	);

export const findOpenConnectionsAt = (
	queries: Queries,
	gatewayId: number,
	{ nas_address, nas_identifier, at }: AccountingReport & { at: number }
) =>
	selectOpenConnections(queries)
		.where('gateway_id', '=', gatewayId)
		.where('nas_address', nas_address === null ? 'is' : '=', nas_address)
		.where('nas_identifier', nas_identifier === null ? 'is' : '=', nas_identifier)
		.where('started_at', '<=', at)
		.orderBy('id')
		.execute();

export const isConnected = (
	queries: Queries,
	device: { passId: number; gatewayId: number; mac: string; since: number }
): Promise<boolean> =>
	exists(
		selectOpenConnections(queries)
			.where('pass_id', '=', device.passId)
			.where('gateway_id', '=', device.gatewayId)
			.where('mac', '=', device.mac)
			.where('seen_at', '>', device.since)
	);

/** Whether a device that lost its slot is still online, according to its gateway. */
export async function hasMovedOnline(
	queries: Queries,
	{ passId, exceptMac }: { passId: number; exceptMac: string },
	reportedWithin: TimeWindow
): Promise<boolean> {
	const { rows } = await sql`
		select connection.id from connections connection
		join device_slots device on device.pass_id = connection.pass_id and device.mac = connection.mac
		where connection.pass_id = ${passId} and connection.stopped_at is null
			and connection.disconnect_state <> 'done'
			and connection.seen_at > ${reportedWithin.after} and connection.seen_at <= ${reportedWithin.before}
			and device.released_at is not null and device.mac <> ${exceptMac} limit 1`.execute(queries);
	return rows.length > 0;
}

import { sql } from 'kysely';
import type { Queries } from '../db/database.ts';

/** The addresses that Airtill stores. NAT hides them from the internet. */
export type AddressKind = 'phone' | 'mac' | 'ip';

export interface RecordSearch {
	kind: AddressKind;
	/** In the stored form: E.164, `aa:bb:cc:dd:ee:ff`, or an IP address. */
	address: string;
	/** First instant, and the first after the end. */
	from: number;
	to: number;
}

export const RECORD_COLUMNS = [
	'payer',
	'session_id',
	'pass_id',
	'operator',
	'operator_transaction',
	'session_start',
	'session_end',
	'router_id',
	'router',
	'router_address',
	'gateway',
	'mac',
	'ip',
	'device_start',
	'device_end',
	'source'
] as const;

type Instant = Extract<(typeof RECORD_COLUMNS)[number], `${string}_${'start' | 'end'}`>;

/** The columns of a device are null if nothing is known of one. */
export type AccessRecord = Record<Exclude<(typeof RECORD_COLUMNS)[number], Instant>, string | number | null> &
	Record<Instant, number | null>;

const COLUMN = { phone: sql`payments.phone`, mac: sql`devices.mac`, ip: sql`devices.ip` };

/**
 * Lists access within the span, with one row per session and record of a device. A `visit` has the address that the
 * browser reported, which may be false. Reads whole tables.
 */
export async function accessRecords(
	queries: Queries,
	{ kind, address, from, to }: RecordSearch
): Promise<AccessRecord[]> {
	const end = sql`coalesce(sessions.ended_at, sessions.expires_at)`;
	const { rows } = await sql<AccessRecord>`
		with devices (pass_id, gateway_id, mac, ip, device_start, device_end, source) as (
			select pass_id, gateway_id, mac, ip, started_at, coalesce(stopped_at, seen_at), 'connection' from connections
			union all
			select pass_id, gateway_id, mac, null, granted_at, coalesce(revoked_at, released_at, confirmed_end_at), 'grant'
				from grants where granted_at is not null
			union all
			select pass_id, gateway_id, mac, null, bound_at, coalesce(released_at, reported_at), 'device slot'
				from device_slots
			union all
			select sessions.pass_id, visits.gateway_id, client_mac, client_ip, visits.created_at,
					coalesce(visits.bound_at, visits.created_at), 'visit'
				from captive_sessions visits
				join purchases on purchases.token_hash = visits.purchase_token_hash
				join sessions on sessions.id = purchases.session_id
		)
		select payments.phone as payer, sessions.id as session_id, sessions.pass_id, payments.operator,
			payments.provider_reference as operator_transaction, sessions.starts_at as session_start, ${end} as session_end,
			routers.id as router_id, routers.name as router, routers.address as router_address,
			gateways.name as gateway, mac, ip, device_start, device_end, source
		from sessions
		join payments on payments.session_id = sessions.id and payments.applied = 1
		join routers on routers.id = sessions.router_id
		left join devices on devices.pass_id = sessions.pass_id
			and device_start < ${end} and device_end >= sessions.created_at
			and device_start < ${to} and device_end >= ${from}
		left join gateways on gateways.id = devices.gateway_id
		where sessions.starts_at < ${to} and ${end} >= ${from} and ${COLUMN[kind]} = ${address}
		order by sessions.id, device_start`.execute(queries);
	return rows;
}

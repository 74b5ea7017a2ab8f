import type { Migration } from '../migrate.ts';

/**
 * Connections are told apart by the access server that names them, because a gateway can be several. And counters that
 * cannot be, from gateways that had counted below zero, are taken back to what was booked of them.
 */
export const accessServers: Migration = {
	name: '0016-access-servers',
	statements: () => [
		`drop index network_sessions_key`,
		`create unique index network_sessions_key on network_sessions
			(gateway_id, acct_session_id, coalesce(nas_address, ''), coalesce(nas_identifier, ''))`,
		`create index access_devices_pass on access_devices (pass_id, id)`,
		...['in', 'out'].map(
			(way) => `update network_sessions set bytes_${way} = booked_${way} where bytes_${way} > ${2 ** 46}`
		)
	]
};

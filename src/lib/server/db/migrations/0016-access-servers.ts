import type { Migration } from '../migrate.ts';

/** One gateway can be several access servers. Counters that fell below zero return to the booked values. */
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

import type { Migration } from '../migrate.ts';

/** Gateway outages, and data volume per router and day. The jobs inserted here reschedule themselves. */
export const silence: Migration = {
	name: '0015-silence',
	statements({ int, end }) {
		const always = (job: string) =>
			`insert into jobs (kind, subject_id, run_at, created_at) values ('${job}', 0, 0, 0)`;
		return [
			`alter table gateways add column checked_at ${int}`,
			`alter table gateways add column checked_seen_at ${int}`,
			`alter table gateways add column quiet_checks ${int} not null default 0`,
			`alter table gateways add column online_count ${int}`,
			`create index routers_silent on routers (id) where silent_since is not null`,

			`alter table network_sessions add column booked_in ${int} not null default 0`,
			`alter table network_sessions add column booked_out ${int} not null default 0`,
			`create index network_sessions_unbooked on network_sessions (id)
				where bytes_in <> booked_in or bytes_out <> booked_out`,
			`create table network_usage (
				router_id ${int} not null,
				day text not null,
				bytes_in ${int} not null,
				bytes_out ${int} not null,
				primary key (router_id, day)
			${end}`,

			`create index network_sessions_seen on network_sessions (seen_at)`,
			`create index network_usage_day on network_usage (day)`,
			`create index access_devices_released on access_devices (released_at) where released_at is not null`,
			`create index access_devices_seen on access_devices (seen_at)`,
			`create index access_grants_over on access_grants (updated_at) where state in ('revoked', 'failed')`,

			always('gateways.check'),
			always('usage.book')
		];
	}
};

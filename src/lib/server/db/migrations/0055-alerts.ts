import type { Migration } from '../migrate.ts';

/** Addresses for alerts with their events, and outages with an alert. */
export const alerts: Migration = {
	name: '0055-alerts',
	statements: ({ id, int, end }) => [
		`create table alert_channels (
			id ${id},
			account_id ${int} not null references accounts (id),
			channel text not null check (channel in ('email', 'sms')),
			address text not null,
			locale text not null,
			events text not null default '[]',
			confirmed_at ${int},
			code_hash text,
			code_until ${int},
			code_tries ${int} not null default 0,
			earnings_day text,
			review_id ${int} not null default 0,
			unique (account_id, channel)
		${end}`,
		`create table alert_outages (
			alert_channel_id ${int} not null references alert_channels (id) on delete cascade,
			gateway_id ${int} not null references gateways (id) on delete cascade,
			since ${int} not null,
			primary key (alert_channel_id, gateway_id)
		${end}`,
		`create index alert_outages_gateway on alert_outages (gateway_id)`,
		`insert into jobs (kind, subject_id, run_at, created_at) values ('alerts.find', 0, 0, 0)`
	]
};

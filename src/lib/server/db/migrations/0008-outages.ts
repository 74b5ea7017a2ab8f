import type { Migration } from '../migrate.ts';

/** Time that passes get back after an outage of their router. Routers give it unless their owner turns it off. */
export const outages: Migration = {
	name: '0008-outages',
	statements: ({ id, int, end }) => [
		`alter table routers add column gives_time_back ${int} not null default 1`,
		`alter table gateways add column silent_since ${int}`,
		`create table outages (
			id ${id},
			router_id ${int} not null references routers (id),
			began_at ${int} not null,
			checked_at ${int} not null,
			ended_at ${int},
			given_at ${int},
			check (ended_at >= began_at)
		${end}`,
		`create unique index outages_open on outages (router_id) where ended_at is null`,
		`create index outages_router on outages (router_id, began_at)`,
		`alter table extra_time add column outage_id ${int} references outages (id)`,
		`create index extra_time_outage on extra_time (outage_id) where outage_id is not null`
	]
};

import type { Migration } from '../migrate.ts';

/** Finds a router's newest purchases, open reviews, and the entries of the audit log about a router. */
export const routerSearch: Migration = {
	name: '0050-router-search',
	statements: ({ int, sqlite }) => [
		`alter table audit_log add column router_id ${int}`,
		`update audit_log set router_id = ${
			sqlite
				? `json_extract(after, '$.router_id')`
				: `substring(after from '^[{]"router_id":([0-9]+)')::bigint`
		} where after like '{"router_id":%'`,
		`create index audit_log_router on audit_log (router_id, at, id) where router_id is not null`,
		`create index reviews_open_by_id on reviews (id) where resolved_at is null`,
		`create index sessions_of_router on sessions (router_id, id)`
	]
};

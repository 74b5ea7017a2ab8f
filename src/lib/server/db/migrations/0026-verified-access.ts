import type { Migration } from '../migrate.ts';

/** A live installation sells a router once a gateway has responded, or once an administrator has confirmed its access. */
export const verifiedAccess: Migration = {
	name: '0026-verified-access',
	statements: ({ int }) => [
		`alter table routers add column responded_at ${int}`,
		`alter table routers add column access_confirmed_at ${int}`,
		`update routers set responded_at =
			(select min(gateways.seen_at) from gateways where gateways.router_id = routers.id)`,
		// The administrator has said that another system connects the buyers of these. PostgreSQL may have written a blank.
		`update routers set access_confirmed_at = updated_at where exists
			(select 1 from gateways where gateways.router_id = routers.id and gateways.kind = 'unifi'
				and replace(gateways.settings, ' ', '') like '%"external":true%')`
	]
};

import type { Migration } from '../migrate.ts';

/** Connections are compared by the job of their gateway. Jobs of rows in `grants` are over: 0002 copied those rows. */
export const connections: Migration = {
	name: '0005-connections',
	statements: ({ int }) => [
		`alter table connections add column check_at ${int}`,
		`alter table gateways add column removing_at ${int}`,
		`delete from jobs where kind = 'access.grant'`
	]
};

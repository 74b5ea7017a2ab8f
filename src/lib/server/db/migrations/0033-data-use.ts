import type { Migration } from '../migrate.ts';

/** A pass counts the data that its devices use, and a grant keeps the counter that its gateway reported last. */
export const dataUse: Migration = {
	name: '0033-data-use',
	statements: ({ int }) => [
		`alter table passes add column data_used_bytes ${int}`,
		`update passes set data_used_bytes =
			(select sum(bytes_in + bytes_out) from connections where connections.pass_id = passes.id)`,
		`alter table grants add column data_bytes ${int} not null default 0`,
		`alter table grants add column data_reported_at ${int}`
	]
};

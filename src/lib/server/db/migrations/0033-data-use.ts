import type { Migration } from '../migrate.ts';

const MOST = Number.MAX_SAFE_INTEGER;

/** A pass counts the data that its devices use, and a grant keeps the counter that its gateway reported last. */
export const dataUse: Migration = {
	name: '0033-data-use',
	statements: ({ int }) => [
		`alter table passes add column data_used_bytes ${int}`,
		// Earlier versions stored every counter that a gateway reported. Multiplied, the sum cannot overflow.
		`update passes set data_used_bytes =
			(select case when sum(bytes_in * 1.0 + bytes_out) > ${MOST} then ${MOST} else sum(bytes_in * 1.0 + bytes_out) end
			from connections where connections.pass_id = passes.id)`,
		`alter table grants add column data_bytes ${int} not null default 0`,
		`alter table grants add column data_reported_at ${int}`
	]
};

import type { Migration } from '../migrate.ts';

/** A connection keeps the counters of its last report beside the bytes that counted. */
export const counters: Migration = {
	name: '0042-counters',
	statements: ({ int }) => [
		`alter table connections add column counter_in ${int}`,
		`alter table connections add column counter_out ${int}`
	]
};

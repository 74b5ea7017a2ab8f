import type { Migration } from '../migrate.ts';

/** Rate limits that processes lease from each other. `rate_heads`, if there, stays for processes of the release before. */
export const rateCounts: Migration = {
	name: '0003-rate-counts',
	statements: ({ sqlite }) => [
		`drop index events_kept`,
		// An expression: PostgreSQL would read an account's list by it, which counts all accounts' events.
		`create index events_kept on events ((created_at + 0)) where data <> '{}'`,
		...(sqlite ? [] : [RATE_COUNTS])
	]
};

/** Of a subject of a rate limit, requests per sixtieth of the window, newest first (rate-limits.ts). */
const RATE_COUNTS = `create unlogged table rate_counts (
	subject text primary key,
	slot bigint not null,
	counts integer[] not null,
	granted integer not null,
	asked_at timestamptz not null
) with (fillfactor = 50)`;

import type { Migration } from '../migrate.ts';

/**
 * Which end a gateway has confirmed: `until_at` is noted before it is asked. Of those that were told before, it is taken
 * that they were told all of it: nobody is given money back for what was before this was noted.
 */
export const confirmedEnds: Migration = {
	name: '0018-confirmed-ends',
	statements: (kind) => [
		`alter table access_grants add column confirmed_until_at ${kind === 'sqlite' ? 'integer' : 'bigint'}`,
		`update access_grants set confirmed_until_at = until_at where granted_at is not null`
	]
};

import type { Migration } from '../migrate.ts';

/**
 * Users that a gateway is told of say from now on which installation they are of. Those of the grants that are there
 * may not: `is_marked` is 0 for them.
 */
export const markedUsers: Migration = {
	name: '0017-marked-users',
	statements: () => [`alter table access_grants add column is_marked integer not null default 0`]
};

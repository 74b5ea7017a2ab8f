import type { Migration } from '../migrate.ts';

/** Adds whether the gateway's user carries the mark of this installation. Users of existing grants may lack it. */
export const markedUsers: Migration = {
	name: '0017-marked-users',
	statements: () => [`alter table access_grants add column is_marked integer not null default 0`]
};

import type { Migration } from '../migrate.ts';

/** Existing grants count as confirmed in full, so that they cause no refunds. */
export const confirmedEnds: Migration = {
	name: '0018-confirmed-ends',
	statements: ({ int }) => [
		`alter table access_grants add column confirmed_until_at ${int}`,
		`update access_grants set confirmed_until_at = until_at where granted_at is not null`
	]
};

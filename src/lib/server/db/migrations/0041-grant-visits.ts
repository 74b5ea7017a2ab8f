import type { Migration } from '../migrate.ts';

/** Deleting a captive session clears it in the grants: without an index, each deletion reads all of them. */
export const grantVisits: Migration = {
	name: '0041-grant-visits',
	statements: () => [
		`create index grants_by_captive_session on grants (captive_session_id) where captive_session_id is not null`
	]
};

import type { Migration } from '../migrate.ts';

/** Finds the devices that were lately sent to a gateway to sign in. */
export const triedSignIns: Migration = {
	name: '0062-tried-sign-ins',
	statements: () => [
		`create index captive_sessions_tried on captive_sessions (tried_at) where tried_at is not null`
	]
};

import type { Migration } from '../migrate.ts';

/** Finds the latest sessions of an owner's routers, by their start. */
export const ownerSessions: Migration = {
	name: '0058-owner-sessions',
	statements: () => [
		`create index sessions_router_started on sessions (router_id, starts_at, id) where starts_at is not null`
	]
};

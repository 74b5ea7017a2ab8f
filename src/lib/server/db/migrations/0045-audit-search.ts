import type { Migration } from '../migrate.ts';

/** Finds audit entries, newest first, by time, by action and by actor. Each search is one range of an index. */
export const auditSearch: Migration = {
	name: '0045-audit-search',
	statements: () => [
		`create index audit_log_at on audit_log (at, id)`,
		`create index audit_log_action on audit_log (action, at, id)`,
		`create index audit_log_actor on audit_log (actor, at, id)`
	]
};

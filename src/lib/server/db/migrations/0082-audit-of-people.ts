import type { Migration } from '../migrate.ts';

/** Decisions of people, among many more entries of MACHINES (audit/audit.ts). The condition is that of the query. */
export const auditOfPeople: Migration = {
	name: '0082-audit-of-people',
	statements: () => [
		`create index audit_log_people on audit_log (at, id)
			where actor not in ('access', 'airtill', 'demo', 'reconciler', 'refunds')`
	]
};

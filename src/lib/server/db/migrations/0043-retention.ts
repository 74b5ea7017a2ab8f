import type { Migration } from '../migrate.ts';

/** Finds stored phone numbers (those of domain/phone.ts are deleted) and ended sign-ins by age. Inserts the job. */
export const retention: Migration = {
	name: '0043-retention',
	statements: () => [
		`create index sessions_with_number on sessions (created_at) where phone <> '+9990000000'`,
		`create index purchases_with_number on purchases (created_at) where phone <> '+9990000000'`,
		`create index sign_in_sessions_end on sign_in_sessions (expires_at)`,
		`insert into jobs (kind, subject_id, run_at, created_at) values ('personal-data.delete', 0, 0, 0)`
	]
};

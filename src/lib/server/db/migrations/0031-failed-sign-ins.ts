import type { Migration } from '../migrate.ts';

/** `subject` is a hash of the account's address and, for one source, of that source (authentication/attempts.ts). */
export const failedSignIns: Migration = {
	name: '0031-failed-sign-ins',
	statements: ({ int, end }) => [
		`create table failed_sign_ins (
			subject text primary key,
			failures ${int} not null,
			failed_at ${int} not null
		${end}`,
		'create index failed_sign_ins_time on failed_sign_ins (failed_at)'
	]
};

import type { Migration } from '../migrate.ts';

/** Turns webhook deliveries into jobs. Adds groups, whose jobs share a concurrency limit. */
export const oneQueue: Migration = {
	name: '0022-one-queue',
	statements: ({ int }) => [
		`alter table jobs add column group_id ${int}`,
		`drop index jobs_run_at`,
		`create index jobs_due on jobs (run_at, id) where lease_until is null and group_id is null`,
		`create index jobs_due_in_group on jobs (group_id, run_at, id)
			where lease_until is null and group_id is not null`,
		`create index jobs_leased on jobs (group_id, lease_until) where lease_until is not null`,
		`insert into jobs (kind, subject_id, group_id, run_at, created_at)
			select 'webhooks.deliver', id, endpoint_id, next_attempt_at, created_at
			from webhook_deliveries where status = 'pending'`,
		`insert into jobs (kind, subject_id, run_at, created_at) values ('webhooks.upkeep', 0, 0, 0)`,
		`drop index webhook_deliveries_due`,
		`drop index webhook_deliveries_leased`,
		`alter table webhook_deliveries drop column lease_owner`,
		`alter table webhook_deliveries drop column lease_until`
	]
};

import type { Migration } from '../migrate.ts';

/** Adds the portal's rate plan. SQLite cannot change a check, so both databases replace the column. */
export const portalPlan: Migration = {
	name: '0005-portal-plan',
	statements: () => [
		`alter table accounts add column new_plan text not null default 'default'
			check (new_plan in ('default', 'enterprise', 'portal'))`,
		`update accounts set new_plan = case when email = 'portal@airtill.invalid' then 'portal' else plan end`,
		`alter table accounts drop column plan`,
		`alter table accounts rename column new_plan to plan`
	]
};

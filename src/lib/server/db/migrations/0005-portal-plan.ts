import type { Migration } from '../migrate.ts';

/**
 * The portal's own plan. A check cannot be changed in SQLite, so the column is made anew, in a way that both
 * databases take.
 */
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

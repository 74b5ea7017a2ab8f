import type { Migration } from '../migrate.ts';

/** Buyers who must ask the venue see its number. */
export const brandContact: Migration = {
	name: '0038-brand-contact',
	statements: () => [`alter table brands add column contact text`]
};

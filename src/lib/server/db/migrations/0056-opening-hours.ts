import type { Migration } from '../migrate.ts';

/** Days and hours at which a router sells. Without them it always does. */
export const openingHours: Migration = {
	name: '0056-opening-hours',
	statements: () => ['alter table routers add column opening_hours text']
};

import type { Migration } from '../migrate.ts';

/**
 * A router that its owner closes for a time, or disables. Until now only administrators could disable routers, so owners
 * cannot enable those.
 */
export const pauseRouters: Migration = {
	name: '0046-pause-routers',
	statements: ({ int }) => [
		`alter table routers add column paused_until ${int}`,
		`alter table routers add column disabled_by_owner ${int} not null default 0`
	]
};

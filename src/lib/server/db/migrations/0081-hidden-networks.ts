import type { Migration } from '../migrate.ts';

/** Whether the network of a router announces its SSID. */
export const hiddenNetworks: Migration = {
	name: '0081-hidden-networks',
	statements: ({ int }) => [`alter table routers add column hidden ${int} not null default 0`]
};

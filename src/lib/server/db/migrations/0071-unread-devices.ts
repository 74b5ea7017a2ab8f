import type { Migration } from '../migrate.ts';

/** How a gateway last named a device in a way that is no MAC address, and when. */
export const unreadDevices: Migration = {
	name: '0071-unread-devices',
	statements: ({ int }) => [
		`alter table gateways add column unread_device text`,
		`alter table gateways add column unread_device_at ${int}`
	]
};

import type { Migration } from '../migrate.ts';

/** Counts payment prompts by larger networks of IPv6, by device and by API account. */
export const promptSources: Migration = {
	name: '0075-prompt-sources',
	statements: () => [
		'alter table payments add column network_56 text',
		'alter table payments add column network_48 text',
		'alter table payments add column device text',
		'create index payments_network_56 on payments (network_56, created_at) where network_56 is not null',
		'create index payments_network_48 on payments (network_48, created_at) where network_48 is not null',
		'create index payments_device on payments (device, created_at) where device is not null',
		`create index payments_device_unpaid on payments (created_at)
			where device is not null and paid_at is null`,
		`create index payments_api_unpaid on payments (created_at) where network is null and paid_at is null`
	]
};

import type { Migration } from '../migrate.ts';

export const promptNetworks: Migration = {
	name: '0027-prompt-networks',
	statements: () => [
		'alter table payments add column network text',
		'create index payments_network on payments (network, created_at) where network is not null',
		`create index payments_network_unpaid on payments (created_at)
			where network is not null and paid_at is null`
	]
};

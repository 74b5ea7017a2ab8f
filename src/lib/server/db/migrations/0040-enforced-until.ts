import type { Migration } from '../migrate.ts';

export const enforcedUntil: Migration = {
	name: '0040-enforced-until',
	statements: () => ['alter table connections rename column told_until to enforced_until']
};

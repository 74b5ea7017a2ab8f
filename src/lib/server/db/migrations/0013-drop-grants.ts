import type { Migration } from '../migrate.ts';

/** Contract: unused since 0.1.0. 0002 copied its rows, and nothing deleted its MAC addresses when their retention ended. */
export const dropGrants: Migration = {
	name: '0013-drop-grants',
	statements: () => ['drop table grants']
};

/**
 * Expand, then contract: while processes restart one after the other, the release before shares the database. A migration
 * takes away what no release in use reads, and its file says so: "Contract: unused since RELEASE".
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DIALECTS, type Migration } from '#lib/server/db/migrate.ts';

const folder = new URL('../../../src/lib/server/db/migrations/', import.meta.url);
const files = readdirSync(folder).sort();
const TAKES_AWAY =
	/\bdrop (table|column|function)\b|\brename\b|\bset not null\b|\balter column \S+ (set data )?type\b|\badd column\b(?!.*\bdefault\b).*\bnot null\b/i;
const REASON = /Contract: unused since \S+/;

async function takesAway(file: string): Promise<boolean> {
	const exported: Migration[] = Object.values(await import(new URL(file, folder).href));
	return exported.some(({ statements }) => statements(DIALECTS.postgres).some((sql) => TAKES_AWAY.test(sql)));
}

it('a migration takes nothing away, or names the release that stopped using it', async () => {
	expect('alter table passes drop column ended').toMatch(TAKES_AWAY);
	const unexplained: string[] = [];
	for (const file of files) {
		const isExplained = REASON.test(readFileSync(new URL(file, folder), 'utf8'));
		if (!isExplained && (await takesAway(file))) unexplained.push(file);
	}
	expect(unexplained).toEqual([]);
});

/** A folder for the files of one test file, and databases for commands. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, inject } from 'vitest';
import { createDatabaseOn } from '../../../../support/database/postgres.ts';
import { SECRET } from '../../../../support/server/fixture.ts';

export type Env = Record<string, string>;

export let folder = '';
let databases = 0;

export function useFolder(): void {
	beforeAll(() => {
		folder = mkdtempSync(path.join(tmpdir(), 'airtill-backup-'));
	});
	afterAll(() => rmSync(folder, { recursive: true, force: true }));
}

/** @param schema of PostgreSQL; a backup fits the one that it was made of */
export async function newDatabase(kind: string, schema = 'public'): Promise<string> {
	databases += 1;
	return kind === 'sqlite'
		? `file:${path.join(folder, `database-${databases}.db`)}`
		: createDatabaseOn(inject('postgresUrl'), { schema });
}

export const environment = (database: string): Env => ({ PATH: process.env['PATH'] ?? '',
	DATABASE_URL: database,
	DATA_DIR: path.join(folder, 'data'),
	AIRTILL_SECRET: SECRET
});

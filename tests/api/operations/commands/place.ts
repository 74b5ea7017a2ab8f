/** A database for commands that need no server, and files of routers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { openSql, type Sql } from '../../../support/database/sql.ts';
import { cli, type CliResult } from '../../../support/server/cli.ts';
import { SECRET, type DATABASES } from '../../../support/server/fixture.ts';

export const OWNER = 'owner@cli.example';

/** A database of its own, without a server. */
export interface Place {
	env: Record<string, string>;
	sql: Sql;
	run(...args: string[]): Promise<CliResult>;
	/** Writes a file of that content and imports it. */
	importing(content: string | Buffer, ...args: string[]): Promise<CliResult>;
	stop(): Promise<void>;
}

/** @param owner whether there is an account for the routers */
export async function openPlace(
	database: (typeof DATABASES)[number],
	owner = true,
	more: Record<string, string> = {}
): Promise<Place> {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-cli-'));
	const url =
		database === 'sqlite'
			? `file:${path.join(folder, 'airtill.db')}`
			: await createDatabaseOn(inject('postgresUrl'));
	const env = {
		PATH: process.env['PATH'] ?? '',
		DATABASE_URL: url,
		DATA_DIR: folder,
		AIRTILL_SECRET: SECRET,
		...more
	};
	const run = (...args: string[]) => cli(args, { env });
	let files = 0;
	// Any command makes the tables.
	const made = owner
		? await run('accounts', 'create', '--email', OWNER, '--role', 'owner')
		: await run('gateways', 'list');
	expect(made).toMatchObject({ code: 0, stderr: '' });
	const sql = await openSql(url);
	return {
		env,
		sql,
		run,
		importing(content, ...args) {
			files += 1;
			const file = path.join(folder, `routers-${files}.csv`);
			writeFileSync(file, content);
			return run('routers', 'import', file, ...args);
		},
		async stop() {
			await sql.close();
			rmSync(folder, { recursive: true, force: true });
		}
	};
}

/** A place for the tests of one `describe`. */
export function usePlace(
	database: (typeof DATABASES)[number],
	owner = true,
	more: Record<string, string> = {}
): () => Place {
	let place: Place | null = null;
	beforeAll(async () => {
		place = await openPlace(database, owner, more);
	});
	afterAll(() => place?.stop());
	return () => {
		if (!place) throw new Error('The place is made before the tests, not while they are collected');
		return place;
	};
}

export const HEADER = 'id,name,address,ssid,lat,lon,price,security,status\n';
export const MAP = [
	'--map',
	'id=id,name=name,address=address,ssid=ssid,lat=lat,lon=lon,price=price,security=security,status=status'
];
export const GOOD = 'a1,Acacia,Main Street,Acacia-WiFi,0.31,32.58,500,wpa,online\n';

/** Migrations: two processes that start at once on an empty database, and databases that cannot be upgraded. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { isAll } from '../../../support/all.ts';
import { createApi } from '../../../support/api/api.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';
import { openSql } from '../../../support/database/sql.ts';
import { BOTH_DATABASES, demoKey, SECRET } from '../../../support/server/fixture.ts';

/** Runs a test with an empty database that outlives the servers. */
async function withDatabase(kind: string, test: (url: string) => Promise<void>): Promise<void> {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-database-'));
	try {
		await test(
			kind === 'sqlite' ? `file:${path.join(folder, 'a.db')}` : await createDatabaseOn(inject('postgresUrl'))
		);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

describe.each(BOTH_DATABASES)('on %s', (kind) => {
	it('two processes that start at once on an empty database both become ready, with one set of data', async () => {
		for (let round = 0; round < (isAll ? 3 : 1); round += 1) {
			await withDatabase(kind, async (database) => {
				const started = await Promise.allSettled(
					Array.from({ length: 2 }, () => startServer({ database, env: { AIRTILL_SECRET: SECRET } }))
				);
				const servers: TestServer[] = [];
				for (const result of started) if (result.status === 'fulfilled') servers.push(result.value);
				try {
					for (const result of started) if (result.status === 'rejected') throw result.reason;
					const sql = await openSql(database);
					expect(await sql.count('select count(*) from schema_migrations')).toBeGreaterThan(0);
					expect(await sql.count('select count(*) from schema_migrations where version = 1')).toBe(1);
					expect(await sql.count('select count(*) from routers')).toBe(24);
					expect(await sql.count('select count(*) from accounts')).toBe(4);
					expect(await sql.count('select count(*) from api_keys where revoked_at is null')).toBe(4);
					await sql.close();
					for (const server of servers) {
						for (const role of ['app', 'owner', 'admin'] as const) {
							await createApi(server.url, demoKey(server, role)).getRouter(1);
						}
						expect(server.stderr()).toBe('');
					}
				} finally {
					await Promise.all(servers.map((server) => server.stop()));
				}
			});
		}
	});

	it('a start on a database that is up to date changes nothing in it', async () => {
		await withDatabase(kind, async (database) => {
			const contents: unknown[] = [];
			for (let start = 0; start < 2; start += 1) {
				const server = await startServer({ database, env: { AIRTILL_SECRET: SECRET } });
				await server.stop();
				const sql = await openSql(database);
				const found: unknown[] = [];
				for (const table of ['schema_migrations', 'accounts', 'api_keys', 'routers']) {
					found.push(await sql.all(`select * from ${table} order by 1`));
				}
				contents.push(found);
				await sql.close();
			}
			expect(contents[1]).toEqual(contents[0]);
		});
	});

	it('refuses a database from before the first release in one sentence and does not change it', async () => {
		await withDatabase(kind, async (database) => {
			const sql = await openSql(database);
			await sql.run('create table schema_migrations (version integer primary key, name text not null)');
			await sql.run("insert into schema_migrations (version, name) values (1, '0001-initial')");
			const refusal = await startServer({ database }).catch(String);
			expect(refusal).toContain(
				'The database was made before the first release of Airtill and cannot be upgraded: start with an empty one.'
			);
			expect(refusal).not.toMatch(/\bat .*\.[jt]s:\d/);
			expect(await sql.all('select version, name from schema_migrations')).toHaveLength(1);
			await expect(sql.all('select 1 from routers')).rejects.toThrow();
			await sql.close();
		});
	});

	it('refuses a database of a newer version with a clear message and does not change it', async () => {
		await withDatabase(kind, async (database) => {
			const server = await startServer({ database });
			await server.stop();
			const sql = await openSql(database);
			await sql.run("insert into schema_migrations (version, name) values (999, '0999-later')");
			const [{ version: known } = {}] = await sql.all(
				'select max(version) as version from schema_migrations where version < 999'
			);
			await sql.run('create table from_the_future (id integer)');
			await sql.run("delete from routers where name = 'Blue Crane Cafe'");
			const counts = async () => {
				const found: number[] = [];
				for (const table of ['routers', 'accounts', 'api_keys', 'schema_migrations', 'from_the_future']) {
					found.push(await sql.count(`select count(*) from ${table}`));
				}
				return found;
			};
			const before = await counts();
			const refusal = await startServer({ database }).then(
				async (started) => {
					await started.stop();
					return 'it started';
				},
				(error: unknown) => String(error)
			);
			expect(refusal).toMatch(
				new RegExp(
					`schema version 999, this Airtill knows up to ${String(known)}.*newer version.*backup`,
					's'
				)
			);
			expect(refusal).toContain('ended at its start (1)');
			expect(await counts()).toEqual(before);
			await sql.close();
		});
	});
});

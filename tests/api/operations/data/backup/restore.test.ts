/** What a backup replaces, and what a restore puts back, keeps and refuses. */
import {
	copyFileSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	truncateSync,
	writeFileSync
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSql, type Sql } from '../../../../support/database/sql.ts';
import { cli } from '../../../../support/server/cli.ts';
import { BOTH_DATABASES, SECRET } from '../../../../support/server/fixture.ts';
import { startServer } from '../../../../support/server/server.ts';
import { environment, folder, newDatabase, useFolder, type Env } from './places.ts';

const DAY = 86_400_000;

useFolder();

describe.each(BOTH_DATABASES)('on %s', (kind) => {
	let env: Env;
	let sql: Sql;
	let file: string;
	const run = (...args: string[]) => cli(args, { env });
	const emails = async (from = sql) =>
		(await from.all("select email from accounts where role = 'owner' order by id")).map(({ email }) => email);
	const create = (email: string) => run('accounts', 'create', '--email', email, '--role', 'owner');
	/** Tries to restore, which must be refused and change nothing. */
	const refused = async (args: string[], reason: string | RegExp) => {
		const before = await emails();
		await sql.close();
		const { code, stdout, stderr } = await run('restore', ...args);
		expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
		expect(stderr).toMatch(reason);
		sql = await openSql(env['DATABASE_URL'] ?? '');
		expect(await emails()).toEqual(before);
	};

	beforeAll(async () => {
		file = path.join(folder, `small-${kind}`);
		env = environment(await newDatabase(kind));
		expect(await create('first@tests.invalid')).toMatchObject({ code: 0 });
		expect(await run('backup', file)).toMatchObject({ code: 0 });
		expect(await create('second@tests.invalid')).toMatchObject({ code: 0 });
		sql = await openSql(env['DATABASE_URL'] ?? '');
	});
	afterAll(() => sql?.close());

	it('backup replaces no file without --force', async () => {
		const before = readFileSync(file);
		const { code, stderr } = await run('backup', file);
		expect({ code, stderr }).toEqual({ code: 1, stderr: `${file} exists: add --force to replace it.\n` });
		expect(readFileSync(file)).toEqual(before);
		const other = path.join(folder, `forced-${kind}`);
		writeFileSync(other, 'old');
		expect(await run('backup', other, '--force')).toMatchObject({ code: 0 });
		expect(statSync(other)).toMatchObject({ mode: 0o100600 });
	});

	it('restore refuses a database that has data', () =>
		refused([file], /has data: add --force to replace it\. Its data is kept/));

	it('restore refuses a database that a server uses; doctor knows its secret', async () => {
		const server = await startServer({ database: env['DATABASE_URL'] ?? '',
			env: { ...env, AIRTILL_DEMO: 'off' }
		});
		await refused([file, '--force'], /in use.*: stop Airtill, then try again/);
		// Nobody has bought anything here.
		const secretOf = async (own: Env) =>
			/^\w+ secret: /m.exec((await cli(['doctor'], { env: own })).stdout)?.[0];
		expect(await secretOf(env)).toBe('ok secret: ');
		expect(await secretOf({ ...env, AIRTILL_SECRET: `another ${SECRET}` })).toBe('FAIL secret: ');
		await server.stop();
	});

	it.each([
		['that is no backup', 'hello', /no-backup|not appear to be a valid archive/],
		['that is cut off', null, /not an intact|damaged|end of file|could not read/]
	])('restore refuses a file %s', async (_, content, reason) => {
		const broken = path.join(folder, `no-backup-${kind}`);
		writeFileSync(broken, content ?? readFileSync(file), { mode: 0o600 });
		if (content === null) truncateSync(broken, Math.floor(statSync(broken).size * 0.9));
		await refused([broken, '--force'], reason);
	});

	it('neither keeps nor restores the database of a newer version, nor of another program', async () => {
		const [first] = await sql.all('select name from schema_migrations where version = 1');
		const changes = [
			[
				"insert into schema_migrations (version, name) values (999, 'later')",
				/schema version 999.*newer version/
			],
			["update schema_migrations set name = 'theirs' where version = 1", /not a database of Airtill/]
		] as const;
		for (const [change, reason] of changes) {
			await sql.run(change);
			const { code, stderr } = await run('backup', path.join(folder, `foreign-${kind}`));
			expect(stderr).toMatch(reason);
			expect(code).toBe(1);
			await sql.run('delete from schema_migrations where version = 999');
			await sql.run('update schema_migrations set name = ? where version = 1', String(first?.['name']));
		}
		expect(readdirSync(folder).filter((name) => name.startsWith(`foreign-${kind}`))).toEqual([]);
	});

	it('restore --force replaces the data, and keeps what was there', async () => {
		await sql.close();
		const { code, stderr } = await run('restore', file, '--force');
		expect({ code, stderr }).toMatchObject({ code: 0 });
		sql = await openSql(env['DATABASE_URL'] ?? '');
		expect(await emails()).toEqual(['first@tests.invalid']);
		const kept = /kept in (?:schema )?(\S+)\.$/m.exec(stderr)?.[1] ?? '';
		if (kind === 'sqlite') {
			const old = await openSql(`file:${kept}`);
			expect(await emails(old)).toEqual(['first@tests.invalid', 'second@tests.invalid']);
			await old.close();
		} else {
			expect(await sql.count(`select count(*) from ${kept}.accounts where role = 'owner'`)).toBe(2);
		}
		// The next backup has the data of now only, and restores as well.
		expect(await create('third@tests.invalid')).toMatchObject({ code: 0 });
		expect(await run('backup', file, '--force')).toMatchObject({ code: 0 });
		await sql.close();
		expect(await run('restore', file, '--force')).toMatchObject({ code: 0 });
		sql = await openSql(env['DATABASE_URL'] ?? '');
		expect(await emails()).toEqual(['first@tests.invalid', 'third@tests.invalid']);
	});
});

it('restore replaces a damaged SQLite file with --force, and keeps it', async () => {
	const env = environment(await newDatabase('sqlite'));
	const database = (env['DATABASE_URL'] ?? '').slice('file:'.length);
	const file = path.join(folder, 'before-damage');
	expect(
		await cli(['accounts', 'create', '--email', 'a@tests.invalid', '--role', 'owner'], { env })
	).toMatchObject({ code: 0
	});
	expect(await cli(['backup', file], { env })).toMatchObject({ code: 0 });
	writeFileSync(database, 'no database any more');
	expect(await cli(['restore', file], { env })).toMatchObject({ code: 1 });
	const { code, stderr } = await cli(['restore', file, '--force'], { env });
	const kept = /kept in (\S+)\.$/m.exec(stderr)?.[1] ?? '';
	expect(readFileSync(kept, 'utf8')).toBe('no database any more');
	expect(code).toBe(0);
	const sql = await openSql(`file:${database}`);
	expect(await sql.count('select count(*) from accounts')).toBe(1);
	await sql.close();
});

it('restore keeps the log of a lost SQLite file away from the restored one', async () => {
	const env = environment(await newDatabase('sqlite'));
	const url = env['DATABASE_URL'] ?? '';
	const database = url.slice('file:'.length);
	const file = path.join(folder, 'before-loss');
	const args = ['accounts', 'create', '--email', 'a@tests.invalid', '--role', 'owner'];
	expect(await cli(args, { env })).toMatchObject({ code: 0 });
	expect(await cli(['backup', file], { env })).toMatchObject({ code: 0 });
	const later = await openSql(url);
	await later.run("update accounts set email = 'later@tests.invalid'");
	copyFileSync(`${database}-wal`, `${database}-left`);
	await later.close();
	rmSync(database);
	renameSync(`${database}-left`, `${database}-wal`);
	expect(await cli(['restore', file], { env })).toMatchObject({ code: 0 });
	const sql = await openSql(url);
	expect(await sql.all('select email from accounts')).toEqual([{ email: 'a@tests.invalid' }]);
	await sql.close();
	const kept = new RegExp(`^${path.basename(database)}\\.before-restore-\\d+-wal$`);
	expect(readdirSync(folder)).toContainEqual(expect.stringMatching(kept));
});

describe('the programs of PostgreSQL', () => {
	const PROGRAMS = ['pg_dump', 'pg_restore', 'psql'];
	const PASSWORD = 'not-a-real-password';
	const file = () => path.join(folder, 'programs');

	async function withPassword(): Promise<Env> {
		const url = new URL(await newDatabase('postgres'));
		url.password = PASSWORD;
		return environment(url.href);
	}

	it('see the password in their environment only', async () => {
		const bin = path.join(folder, 'bin');
		const log = path.join(folder, 'calls');
		mkdirSync(bin);
		for (const name of PROGRAMS) {
			const script = `#!/bin/sh\necho "${name} $@ $PGPASSWORD." >> ${log}\nPATH=$REAL_PATH exec ${name} "$@"\n`;
			writeFileSync(path.join(bin, name), script, { mode: 0o755 });
		}
		const own = await withPassword();
		const env = { ...own, PATH: `${bin}:${own['PATH'] ?? ''}`, REAL_PATH: own['PATH'] ?? '' };
		const args = ['accounts', 'create', '--email', 'a@tests.invalid', '--role', 'owner'];
		expect(await cli(args, { env })).toMatchObject({ code: 0 });
		expect(await cli(['backup', file()], { env })).toMatchObject({ code: 0 });
		expect(await cli(['restore', file(), '--force'], { env })).toMatchObject({ code: 0 });
		const calls = readFileSync(log, 'utf8').trimEnd();
		for (const name of PROGRAMS) expect(calls).toMatch(new RegExp(`^${name} `, 'm'));
		// Once for each call, from its environment.
		expect(calls.split(PASSWORD)).toHaveLength(calls.split(`${PASSWORD}.`).length);
		expect(calls.match(/--dbname=\S+/g)?.join()).not.toContain(PASSWORD);
	});

	it('are named if they are missing', async () => {
		const env = { ...(await withPassword()), PATH: path.join(folder, 'nothing') };
		const { code, stderr } = await cli(['backup', path.join(folder, 'none')], { env });
		expect(stderr).toMatch(/^pg_dump is not on PATH: install PostgreSQL's client programs/);
		expect(stderr).not.toContain(PASSWORD);
		expect(code).toBe(1);
	});
});

it('doctor warns in live mode without a backup of the last two days', async () => {
	const env = { ...environment(await newDatabase('sqlite')), AIRTILL_MODE: 'live', AIRTILL_DEMO: 'off' };
	const finding = async (ms = 0) => {
		const { stdout } = await cli(['doctor'], { env: { ...env, AIRTILL_TEST_CLOCK_OFFSET_MS: String(ms) } });
		return /^.* backup: .*$/m.exec(stdout)?.[0];
	};
	expect(await finding()).toBe('warn backup: none so far - run "airtill backup FILE" every day');
	expect(await cli(['backup', path.join(folder, 'daily')], { env })).toMatchObject({ code: 0 });
	expect(await finding()).toMatch(/^ok backup: the last one is 0 hours old /);
	expect(await finding(2 * DAY)).toMatch(/^ok backup: the last one is 48 hours old /);
	expect(await finding(2.1 * DAY)).toMatch(/^warn backup: the last one is 50 hours old /);
});

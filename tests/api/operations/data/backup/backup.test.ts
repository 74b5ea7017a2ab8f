/** Backups of a database that is in use, and what a restore puts back, keeps and refuses. */
import {
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	truncateSync,
	writeFileSync
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startSimulator, type Simulator } from '../../../../simulators/frame.ts';
import { createApi, type Api } from '../../../../support/api/api.ts';
import { BOTH_DATABASES, SECRET, eventually, insertKey } from '../../../../support/server/fixture.ts';
import { createDatabaseOn } from '../../../../support/database/postgres.ts';
import { cli } from '../../../../support/server/cli.ts';
import { startServer, type TestServer } from '../../../../support/server/server.ts';
import { openSql, type Sql } from '../../../../support/database/sql.ts';
import { OPERATORS, type TorturedOperator } from '../../../../torture/operators.ts';
import { advance, untilQuiet } from '../../../../torture/time.ts';
import { compare, finder } from '../../../../torture/verdict.ts';

const BUYERS = 6;
const SECOND = 1_000;
const DAY = 86_400_000;

const mtn = OPERATORS['mtn'] as TorturedOperator;

type Env = Record<string, string>;

let folder = '';
let databases = 0;
beforeAll(() => {
	folder = mkdtempSync(path.join(tmpdir(), 'airtill-backup-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function newDatabase(kind: string): Promise<string> {
	databases += 1;
	return kind === 'sqlite'
		? `file:${path.join(folder, `database-${databases}.db`)}`
		: createDatabaseOn(inject('postgresUrl'));
}

const environment = (database: string): Env => ({
	PATH: process.env['PATH'] ?? '',
	DATABASE_URL: database,
	DATA_DIR: path.join(folder, 'data'),
	AIRTILL_SECRET: SECRET
});

/** Buyers who order and pay, and do not wait for the result. */
function startBuyers(api: Api): { stop(): Promise<void> } {
	let count = 0;
	let isOver = false;
	const buyers = Array.from({ length: BUYERS }, async () => {
		while (!isOver) {
			const phone = mtn.phone((count += 1));
			const session = await api.createSession({ phone, payment_method: mtn.method });
			await api.pay(session);
		}
	});
	return {
		async stop() {
			isOver = true;
			await Promise.all(buyers);
		}
	};
}

/** The operator's books without the payments that the database cannot know. */
function booksUntil(
	simulator: Simulator,
	isKnown: (payment: Simulator['books']['payments'][number]) => boolean
) {
	const payments = simulator.books.payments.filter(isKnown);
	return {
		...simulator,
		books: Object.create(simulator.books, { payments: { value: payments } })
	} as Simulator;
}

describe.each(BOTH_DATABASES)('a backup of %s taken while buyers buy', (kind) => {
	let simulator: Simulator;
	let server: TestServer;
	let restored: TestServer;
	let buyers: ReturnType<typeof startBuyers>;
	let sql: Sql;
	let file: string;
	let copy: string;
	let env: Env;
	let lastId: number;
	let key: string;
	/** Payments at the operator when the backup began. */
	let known: number;

	beforeAll(async () => {
		file = path.join(folder, `under-load-${kind}`);
		simulator = await startSimulator(mtn.protocol());
		env = {
			...simulator.environment,
			PAYMENT_METHODS: mtn.method,
			AIRTILL_SECRET: SECRET,
			PAYER_PROMPTS: '1000'
		};
		server = await startServer({ database: kind, env });
		const before = await openSql(server.databaseUrl);
		({ key } = await insertKey(before));
		const count = () => simulator.books.payments.length;
		buyers = startBuyers(createApi(server.url, key));
		await eventually('the first purchases', async () => count() > BUYERS);
		await eventually('a backup during which somebody bought', async () => {
			known = count();
			expect(await cli(['backup', file, '--force'], server)).toMatchObject({ code: 0, stdout: '' });
			return count() > known;
		});
		const after = count();
		await eventually('purchases that the backup lacks', async () => count() > after + BUYERS);
		await buyers.stop();
		lastId = await before.count('select max(id) from sessions');
		await before.close();
		// The machine is lost.
		await server.kill();
		copy = await newDatabase(kind);
		const onCopy = { ...server.env, DATABASE_URL: copy };
		expect(await cli(['restore', file], { env: onCopy })).toMatchObject({ code: 0 });
		sql = await openSql(copy);
	});
	afterAll(async () => {
		await buyers?.stop();
		await sql?.close();
		await restored?.stop();
		await server?.stop();
		await simulator?.stop();
	});

	it('is readable by its user only', () => {
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(readdirSync(folder).filter((name) => name.startsWith(path.basename(file)))).toEqual([
			path.basename(file)
		]);
	});

	it('passes the checks of doctor when it is restored', async () => {
		const { code, stdout } = await cli(['doctor'], {
			env: { ...server.env, DATABASE_URL: copy }
		});
		expect(stdout).not.toMatch(/^FAIL/m);
		expect(stdout).toMatch(/^ok secret: opens what this database keeps sealed$/m);
		expect(code).toBe(0);
	});

	it('agrees with the operator’s books up to its moment', async () => {
		restored = await startServer({ database: copy, env });
		await eventually('every payment of the backup is settled', async () => {
			await advance({ server: restored, simulator }, 5 * SECOND);
			return (await sql.count("select count(*) from payments where status = 'pending'")) === 0;
		});
		await untilQuiet(restored, sql);
		const rowOf = finder(await sql.all('select * from payments'));
		const books = booksUntil(simulator, (payment) => payment.number <= known || rowOf(payment) !== undefined);
		expect(await compare(books, mtn, sql)).toEqual({ lost: [], doubled: [], wrong: [] });
	});

	it('uses no id again that was issued after it', async () => {
		const api = createApi(restored.url, key);
		const session = await api.createSession({ phone: mtn.phone(900_000), payment_method: mtn.method });
		expect(session.id).toBeGreaterThan(lastId);
		expect((await api.getPayment((await api.pay(session)).id, 20)).status).toBe('success');
	});
});

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
		const server = await startServer({
			database: env['DATABASE_URL'] ?? '',
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
	).toMatchObject({
		code: 0
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

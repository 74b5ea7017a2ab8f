/** The upgrade of a database of an earlier version, while passes run and payments are open. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startSimulator, type Simulator } from '../../../simulators/frame/simulator.ts';
import { isAll } from '../../../support/all.ts';
import { createApi, numberEnding, type Api, type Session } from '../../../support/api/api.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { radiusCalls } from '../../../support/gateways/radius-calls.ts';
import { cli, type CliResult } from '../../../support/server/cli.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';
import { openSql, type Sql } from '../../../support/database/sql.ts';
import { BOTH_DATABASES, demoKey, eventually, SECRET } from '../../../support/server/fixture.ts';
import { buildPrevious, hasPrevious } from '../../../support/server/previous.ts';
import { OPERATORS } from '../../../torture/operators.ts';
import { letTimePass } from '../../../torture/time.ts';
import { compare } from '../../../torture/verdict.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

/** The figures of the dump, see tests/fixtures. */
interface Facts {
	secret: string;
	key: string;
	running: Session;
	added: Session;
	console: { mac: string; sessionId: number };
	radius: {
		id: number;
		user: string;
		password: string;
		mac: string;
		gateway: { key: string; token: string };
	};
	binauth: { mac: string; passId: number };
	open: { sessionId: number; paymentId: number };
	more: { sessionId: number; paymentId: number };
	/** The instant of the dump. */
	now: number;
}

const fixture = (name: string) =>
	readFileSync(new URL(`../../../fixtures/upgrade-${name}`, import.meta.url), 'utf8');

async function newDatabase(kind: string, folder: string): Promise<string> {
	return kind === 'sqlite' ? `file:${path.join(folder, 'new.db')}` : createDatabaseOn(inject('postgresUrl'));
}

const SCHEMA = {
	sqlite:
		"select type, name, sql as text from sqlite_schema where name not like 'sqlite_%' order by type, name",
	postgres: `select table_name || '.' || column_name as name, concat(data_type, ' ', is_nullable, ' ', column_default) as text
			from information_schema.columns where table_schema = 'public'
		union all select indexname, indexdef from pg_indexes where schemaname = 'public'
		union all select conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid)
			from pg_constraint where connamespace = 'public'::regnamespace
		order by 1, 2`
};

/** Tables, columns, indexes, constraints; without the layout of the statements that made them. */
async function schemaOf(kind: 'sqlite' | 'postgres', sql: Sql): Promise<string[]> {
	const rows = await sql.all(SCHEMA[kind]);
	return rows.map((row) =>
		Object.values(row)
			.join(' ')
			.replaceAll(/[\s"]+/g, ' ')
	);
}

async function restore(kind: string, folder: string): Promise<string> {
	if (kind === 'sqlite') {
		const file = path.join(folder, 'old.db');
		const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
		database.exec(`begin; ${fixture('sqlite.sql')} commit;`);
		database.close();
		return `file:${file}`;
	}
	const url = await createDatabaseOn(inject('postgresUrl'));
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	await client.query(fixture('postgres.sql'));
	await client.end();
	return url;
}

describe.each(BOTH_DATABASES)('a %s database of an earlier version', (kind) => {
	const facts = JSON.parse(fixture(`${kind}.json`)) as Facts;
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-upgrade-'));
	let server: TestServer;
	let sql: Sql;
	let api: Api;
	/** `migrate --plan` before the upgrade, and the schema version after that. */
	let plan: CliResult;
	let version: number;

	beforeAll(async () => {
		const database = await restore(kind, folder);
		const old = await openSql(database);
		const own = { DATABASE_URL: database, DATA_DIR: folder, AIRTILL_SECRET: facts.secret };
		plan = await cli(['migrate', '--plan'], { env: own });
		version = await old.count('select max(version) from schema_migrations');
		await old.close();
		const offset = String(facts.now + SECOND - Date.now());
		const env = { AIRTILL_SECRET: facts.secret, AIRTILL_TEST_CLOCK_OFFSET_MS: offset };
		server = await startServer({ database, env });
		sql = await openSql(database);
		api = createApi(server.url, facts.key);
	});
	afterAll(async () => {
		await sql?.close();
		await server?.stop();
		rmSync(folder, { recursive: true, force: true });
	});

	it('keeps password, start and end of what runs', async () => {
		for (const before of [facts.running, facts.added]) {
			const { id, password, starts_at, expires_at, pass_id } = before;
			const access = expect.objectContaining({ qr: before.access.qr }) as Session['access'];
			expect(await api.getSession(id)).toMatchObject({
				...{ status: 'active', password, starts_at, expires_at, pass_id, access }
			});
		}
	});

	// Before any gateway calls, which moves its own time only.
	it('keeps routers on sale in live mode if one of their gateways had responded', async () => {
		const seen = `select router_id as id, min(seen_at) as at from gateways
			where seen_at is not null group by router_id order by router_id`;
		const routers = 'select id, responded_at as at from routers where responded_at is not null order by id';
		expect(await sql.count('select count(*) from gateways where seen_at is not null')).toBeGreaterThan(0);
		expect(await sql.all(routers)).toEqual(await sql.all(seen));
	});

	it('keeps devices at their gateways', async () => {
		const { radius, binauth, console } = facts;
		const calls = radiusCalls(server.url, radius.gateway);
		const answer = await calls.authorize(radius.user, radius.mac);
		expect(answer.status).toBe(200);
		expect(JSON.stringify(answer.attributes)).toContain(radius.password);
		// Another device finds the slot taken.
		expect(JSON.stringify(await calls.authorize(radius.user, '02:00:00:00:02:02'))).not.toContain(
			radius.password
		);
		const slots = 'select mac, expected_until from device_slots where pass_id = ? and released_at is null';
		const [ends] = await sql.all('select ends_at from passes where id = ?', binauth.passId);
		expect(await sql.all(slots, binauth.passId)).toEqual([
			{ mac: binauth.mac, expected_until: ends?.['ends_at'] }
		]);
		expect(await sql.all(slots, radius.id)).toEqual([{ mac: radius.mac, expected_until: null }]);
		const grants = await sql.all('select * from grants where pass_id = ?', console.sessionId);
		expect(grants).toMatchObject([{ mac: console.mac, state: 'granted' }]);
		expect(grants[0]?.['confirmed_end_at']).toBe(grants[0]?.['requested_end_at']);
	});

	it('settles payments that were open: one begins a pass, one adds time', async () => {
		const paid = async ({ paymentId }: { paymentId: number }) => {
			await eventually(`payment ${paymentId} is settled`, async () => {
				await server.advance(SECOND);
				return (await api.getPayment(paymentId)).status === 'success';
			});
			expect(await api.getPayment(paymentId)).toMatchObject({ status: 'success', applied: true });
		};
		await paid(facts.open);
		await paid(facts.more);
		const { sessionId } = facts.open;
		const begun = await api.getSession(sessionId);
		expect(begun).toMatchObject({ status: 'active', pass_id: sessionId });
		expect(begun.password).not.toBeNull();
		expect(await api.getSession(facts.more.sessionId)).toMatchObject({
			status: 'active',
			password: facts.running.password,
			starts_at: facts.added.expires_at
		});
	});

	it('takes more time under the same password, and erases it at the end', async () => {
		const order = { router_id: 1, duration: '1h', extends_session_id: facts.running.id };
		const session = await api.createSession({ ...order, phone: numberEnding('008') });
		expect((await api.getPayment((await api.pay(session)).id, 20)).status).toBe('success');
		const more = await api.getSession(facts.more.sessionId);
		expect(await api.getSession(session.id)).toMatchObject({
			status: 'active',
			password: facts.running.password,
			starts_at: more.expires_at
		});
		await server.advance(4 * HOUR);
		await eventually('the last session has expired', async () => {
			const [row] = await sql.all('select status from sessions where id = ?', session.id);
			return row?.['status'] === 'expired';
		});
		expect(await sql.all('select password_sealed from passes where id = ?', facts.running.id)).toEqual([
			{ password_sealed: null }
		]);
	});

	it('migrate --plan names what the upgrade then applies, and applies nothing', async () => {
		const applied = await sql.all('select name from schema_migrations where version > 18 order by version');
		expect(plan).toMatchObject({ code: 0, stdout: `${applied.map(({ name }) => name).join('\n')}\n` });
		expect(applied.length).toBeGreaterThan(0);
		expect(version).toBe(18);
		const { code, stdout, stderr } = await cli(['migrate', '--plan'], server);
		expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
		expect(stderr).toMatch(/has the newest schema\.$/m);
	});

	it('has the schema of a new database', async () => {
		const fresh = await newDatabase(kind, folder);
		const env = { ...server.env, DATABASE_URL: fresh };
		expect(await cli(['routers', 'list'], { env })).toMatchObject({ code: 0 });
		const other = await openSql(fresh);
		expect(await schemaOf(kind, sql)).toEqual(await schemaOf(kind, other));
		await other.close();
	});
});

// A build takes a minute of CPU. A clone without history has no version before.
if (isAll && hasPrevious()) {
	describe('the version before and this one on one PostgreSQL', () => {
		const mtn = OPERATORS['mtn'];
		let simulator: Simulator;
		let before: TestServer;
		let after: TestServer;
		let sql: Sql;
		let buyers = 0;

		beforeAll(async () => {
			if (!mtn) throw new Error('no operator');
			simulator = await startSimulator(mtn.protocol());
			const env = { ...simulator.environment, AIRTILL_SECRET: SECRET };
			const database = await createDatabaseOn(inject('postgresUrl'));
			before = await startServer({ database, env, version: await buildPrevious() });
			sql = await openSql(database);
			await sellAt(before, before);
			after = await startServer({ database, env: { ...env, AIRTILL_DEMO: 'off' } });
		}, 1_200_000);
		afterAll(async () => {
			await sql?.close();
			await Promise.all([before?.stop(), after?.stop()]);
			await simulator?.stop();
		});

		/** Orders at one and pays at the other. */
		async function sellAt(one: TestServer, other: TestServer): Promise<Session> {
			const phone = mtn?.phone((buyers += 1)) ?? '';
			const key = demoKey(before, 'app');
			const session = await createApi(one.url, key).createSession({ payment_method: 'mtn_momo', phone });
			const payment = await createApi(other.url, key).pay(session);
			expect(await createApi(one.url, key).getPayment(payment.id, 20)).toMatchObject({ status: 'success' });
			return session;
		}

		it('both sell at the same time, show what the other sold, and their books are those of the operator', async () => {
			const pairs = [
				[before, after],
				[after, before],
				[before, before],
				[after, after]
			] as const;
			const sold = await Promise.all(pairs.map(([one, other]) => sellAt(one, other)));
			for (const { id } of sold) {
				const shown = [before, after].map(({ url }) => createApi(url, demoKey(before, 'app')).getSession(id));
				const [one, other] = await Promise.all(shown);
				expect(one).toMatchObject({ id, status: 'active' });
				expect(other).toMatchObject({ password: one?.password, expires_at: one?.expires_at });
			}
			await before.stop();
			await sellAt(after, after);
			await letTimePass({ server: after, simulator }, sql);
			expect(simulator.books.payments).toHaveLength(buyers);
			expect(mtn && (await compare(simulator, mtn, sql))).toEqual({ lost: [], doubled: [], wrong: [] });
		});
	});
}

/** Backups of a database that is in use. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../../simulators/simulator.ts';
import { createApi, type Api } from '../../../../support/api/api.ts';
import { SCHEMA } from '../../../../support/database/postgres.ts';
import { openSql, type Sql } from '../../../../support/database/sql.ts';
import { cli } from '../../../../support/server/cli.ts';
import { BOTH_DATABASES, SECRET, eventually, insertKey } from '../../../../support/server/fixture.ts';
import { startServer, type TestServer } from '../../../../support/server/server.ts';
import { OPERATORS, type TorturedOperator } from '../../../../torture/operators.ts';
import { advance, untilQuiet } from '../../../../torture/time.ts';
import { compare, finder } from '../../../../torture/verdict.ts';
import { folder, newDatabase, useFolder, type Env } from './places.ts';

const BUYERS = 6;
const SECOND = 1_000;

const mtn = OPERATORS['mtn'] as TorturedOperator;

useFolder();

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
	return { ...simulator,
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
		env = { ...simulator.environment,
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
		copy = await newDatabase(kind, SCHEMA);
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

	it('needs no setting but that of the database', async () => {
		const wrong = { ...{ PORT: 'x', CURRENCY: 'ugx', SMTP_URL: 'mail', BASEMAP: '/nowhere.pmtiles', AIRTILL_MODE: 'live' },
			...{ AIRTILL_SECRET: 'short', CALLBACK_ADDRESSES: '?', PAYMENT_METHODS: '-', MTN_BASE_URL: 'mtn' }
		};
		const again = path.join(folder, `again-${kind}`);
		const backup = await cli(['backup', again], { env: { ...server.env, ...wrong } });
		expect(backup).toMatchObject({ code: 0, stdout: '' });
		const env = { ...server.env, ...wrong, DATABASE_URL: await newDatabase(kind, SCHEMA) };
		for (const command of [['restore', again], ['migrate', '--plan']]) {
			expect(await cli(command, { env })).toMatchObject({ code: 0 });
		}
	});

	it('is readable by its user only', () => {
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(readdirSync(folder).filter((name) => name.startsWith(path.basename(file)))).toEqual([
			path.basename(file)
		]);
	});

	it('passes the checks of doctor when it is restored', async () => {
		const { code, stdout } = await cli(['doctor'], { env: { ...server.env, DATABASE_URL: copy }
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

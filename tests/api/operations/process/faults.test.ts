/**
 * While the operator, the right time, the database or disk space is missing, no answer is wrong and no payment is
 * lost. Work continues by itself afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../simulators/simulator.ts';
import type { Script } from '../../../simulators/script.ts';
import type { Payment, Session } from '../../../support/api/api.ts';
import { smallDisk, type SmallDisk } from '../../../support/server/full-disk.ts';
import { startPostgres, type TestPostgres } from '../../../support/database/postgres.ts';
import { openSql } from '../../../support/database/sql.ts';
import { isAll } from '../../../support/all.ts';
import { eventually, startFixture, type Fixture } from '../../../support/server/fixture.ts';
import { OPERATORS, type TorturedOperator } from '../../../torture/operators.ts';
import { advance, letTimePass, untilQuiet } from '../../../torture/time.ts';
import { compare } from '../../../torture/verdict.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const LOOK_MS = 300;
/** The default. */
const OPERATOR_TIMEOUT_MS = 20_000;

interface Setup {
	fixture: Fixture;
	simulator: Simulator;
	operator: TorturedOperator;
	/** Orders an hour and starts to pay it, as the script says. */
	start(script?: Partial<Script>): Promise<{ session: Session; payment: Payment }>;
	/** Moves both clocks, and lets the server do what is due by then. */
	advance(ms: number): Promise<void>;
	ready(): Promise<number>;
	/** The operator has the payment, and we know it. */
	accepted(payment: Payment): Promise<void>;
	becomes(payment: Payment, status: string): Promise<Payment>;
	/** Everything comes to its end, and the operator's books agree with ours. */
	expectNothingLost(): Promise<void>;
	stop(): Promise<void>;
}

async function startSetup(options: { database: string; dataDir?: string }): Promise<Setup> {
	const operator = OPERATORS['mtn'];
	if (!operator) throw new Error('no operator');
	const simulator = await startSimulator(operator.protocol());
	const fixture = await startFixture({
		...options,
		env: { ...simulator.environment, AIRTILL_LOG_LEVEL: 'silent' }
	});
	const { api, server, sql } = fixture;
	const clocks = { server, simulator };
	let buyers = 0;
	return {
		fixture,
		simulator,
		operator,
		async start(script = {}) {
			const phone = operator.phone((buyers += 1));
			simulator.script({ phone: phone.slice(1), times: 1 }, script);
			const session = await api.createSession({ payment_method: operator.method, phone });
			return { session, payment: await api.pay(session) };
		},
		async advance(ms) {
			await advance(clocks, ms);
			await untilQuiet(server, sql);
		},
		ready: async () => (await fetch(`${server.url}/readyz`)).status,
		async accepted({ id }) {
			await eventually(`payment ${id} is with the operator`, () =>
				sql.count("select count(*) from payments where id = ? and submit_state = 'accepted'", id)
			);
		},
		becomes: (payment, status) =>
			eventually(`payment ${payment.id} is ${status}`, async () => {
				const found = await api.getPayment(payment.id);
				return found.status === status && found;
			}),
		async expectNothingLost() {
			expect(await letTimePass(clocks, sql)).toBe(0);
			expect(await compare(simulator, operator, sql)).toEqual({ lost: [], doubled: [], wrong: [] });
		},
		async stop() {
			await fixture.stop();
			await simulator.stop();
		}
	};
}

function useSetup(options: () => Promise<{ database: string; dataDir?: string }>): () => Setup {
	let setup: Setup | null = null;
	beforeAll(async () => {
		setup = await startSetup(await options());
	});
	afterAll(() => setup?.stop());
	return () => {
		if (!setup) throw new Error('The setup starts before the tests');
		return setup;
	};
}

describe('an operator or the clock', () => {
	const setup = useSetup(async () => ({ database: 'sqlite' }));

	it.each(isAll ? (['refuse', 'error'] as const) : (['error'] as const))(
		'the operator is down for ten minutes (%s): no payment fails, and every buyer who pays gets the time',
		async (kind) => {
			const { start, accepted, becomes, simulator, fixture, ready } = setup();
			// It was asked before, and the payer enters the PIN while the operator does not answer us.
			const before = await start({ afterMs: 2 * MINUTE, callbacks: [] });
			await accepted(before.payment);
			simulator.outage(kind);
			const during: (typeof before)[] = [];
			for (let minute = 0; minute < 10; minute += 1) {
				if (minute === 4) during.push(await start());
				await setup().advance(MINUTE);
				for (const { payment } of [before, ...during]) {
					expect(['pending', 'expired']).toContain((await fixture.api.getPayment(payment.id)).status);
				}
				expect(await ready()).toBe(200);
			}
			simulator.outage(null);
			for (const { session, payment } of [before, ...during]) {
				await eventually(`session ${session.id} runs`, async () => {
					await setup().advance(30 * SECOND);
					return (await fixture.api.getSession(session.id)).status === 'active';
				});
				expect(await becomes(payment, 'success')).toMatchObject({ applied: true });
			}
			await setup().expectNothingLost();
		}
	);

	it.each(isAll ? [false, true] : [true])(
		'the clock is set back one hour (restarted: %s): payments go on, and paid time is neither cut nor given twice',
		async (isRestarted) => {
			const { start, accepted, becomes, fixture, simulator } = setup();
			const bought = await start({ afterMs: 0 });
			await accepted(bought.payment);
			await setup().advance(4 * SECOND);
			await becomes(bought.payment, 'success');
			const running = await fixture.api.getSession(bought.session.id);
			const open = [
				await start({ afterMs: 3 * SECOND, callbacks: [] }),
				await start({ submit: 'drop_after', callbacks: [] })
			];
			await fixture.server.advance(-HOUR);
			if (isRestarted) await fixture.server.restart();
			simulator.advance(10 * SECOND);
			for (const { session, payment } of open) {
				await eventually(`payment ${payment.id} succeeds`, async () => {
					// Without a restart the server's clock is ahead of the machine's and cannot be moved from outside.
					if (isRestarted) await setup().advance(5 * SECOND);
					return (await fixture.api.getPayment(payment.id)).status === 'success';
				});
				expect(await fixture.api.getSession(session.id)).toMatchObject({
					status: 'active',
					payment_id: payment.id
				});
			}
			expect(await fixture.api.getSession(running.id)).toMatchObject({
				status: 'active',
				expires_at: running.expires_at,
				password: running.password
			});
			await fixture.server.advance(HOUR);
			expect(await setup().ready()).toBe(200);
			await setup().expectNothingLost();
		}
	);

	// The last one: the operator's books know nothing of the payment by the sandbox.
	it('an operator hangs with forty payments: who pays with another operator gets the time at once', async () => {
		const { start, simulator, fixture } = setup();
		simulator.outage('hang');
		const hanging = await Promise.all(Array.from({ length: 40 }, () => start()));
		const session = await fixture.api.createSession({ payment_method: 'sandbox' });
		const from = performance.now();
		await fixture.api.pay(session);
		await eventually('the session runs', async () => {
			return (await fixture.api.getSession(session.id)).status === 'active';
		});
		expect(performance.now() - from).toBeLessThan(OPERATOR_TIMEOUT_MS / 2);
		simulator.outage(null);
		for (const { session: one } of hanging) {
			await eventually(`session ${one.id} runs`, async () => {
				await setup().advance(5 * SECOND);
				return (await fixture.api.getSession(one.id)).status === 'active';
			});
		}
	});
});

describe('a PostgreSQL that is gone for 60 seconds', () => {
	let postgres: TestPostgres;
	const setup = useSetup(async () => {
		postgres = await startPostgres();
		return { database: await postgres.createDatabase() };
	});
	afterAll(() => postgres?.stop());

	it('/readyz answers 503 and calls 500; buyers who paid meanwhile get their time after the restart', async () => {
		const { start, accepted, simulator, fixture, ready } = setup();
		const paying = await start({ outcome: 'pending' });
		await accepted(paying.payment);
		const asked = await start({ submit: 'slow', slowMs: 900, afterMs: 0 });
		// Queries are on their way when it happens.
		const underway = Array.from({ length: 10 }, async () => {
			for (;;) {
				const { status } = await fixture.api.send('GET', `/v1/sessions/${paying.session.id}`);
				if (status !== 200) return status;
			}
		});
		await postgres.kill();
		for (const status of await Promise.all(underway)) expect(status).toBe(500);
		const charge = simulator.books.payments.find(({ callbackUrl }) => callbackUrl !== null);
		for (const one of simulator.books.payments) await simulator.settle(one, 'success');
		expect(await eventually('it says that it is not ready', async () => (await ready()) === 503)).toBe(true);
		await fixture.api.refused('500 internal_error', 'GET', `/v1/sessions/${paying.session.id}`);
		await fixture.api.refused('500 internal_error', 'POST', '/v1/sessions', {
			body: { router_id: 3, duration: '1h', payment_method: 'mtn_momo', phone: '+256770000999' }
		});
		// The operator hears that it was not heard.
		if (charge) expect(await simulator.callBack(charge)).toBeGreaterThanOrEqual(500);
		await fixture.server.advance(MINUTE);
		simulator.advance(MINUTE);
		expect(await ready()).toBe(503);
		await postgres.restart();
		await eventually('it is ready again', async () => (await ready()) === 200);
		for (const { session } of [paying, asked]) {
			await eventually(`session ${session.id} runs`, async () => {
				simulator.advance(10 * SECOND);
				await fixture.server.advance(10 * SECOND);
				await sleep(LOOK_MS);
				return (await fixture.api.getSession(session.id)).status === 'active';
			});
		}
		// The tests' own connection died with the database.
		const sql = await openSql(fixture.server.databaseUrl);
		expect(await letTimePass({ server: fixture.server, simulator }, sql)).toBe(0);
		expect(await compare(simulator, setup().operator, sql)).toEqual({ lost: [], doubled: [], wrong: [] });
		await sql.close();
	});
});

describe('on sqlite, a disk without space', () => {
	let disk: SmallDisk;
	const setup = useSetup(async () => {
		disk = smallDisk(24);
		return { database: 'sqlite', dataDir: disk.folder };
	});
	afterAll(() => disk?.remove());

	it('/readyz answers 503, reads continue, no answer promises what is not stored; with space everything continues', async () => {
		const { start, accepted, becomes, simulator, fixture, ready } = setup();
		const bought = await start({ afterMs: 0 });
		await accepted(bought.payment);
		await setup().advance(4 * SECOND);
		await becomes(bought.payment, 'success');
		const paying = await start({ outcome: 'pending' });
		await accepted(paying.payment);

		disk.fill(fixture.server.pid);
		// What is left of the write-ahead log is used up first.
		const promised: number[] = [];
		await eventually('orders are refused', async () => {
			const body = { router_id: 3, duration: '1h', payment_method: 'mtn_momo', phone: '+256770000999' };
			const { status, body: answer } = await fixture.api.send('POST', '/v1/sessions', { body });
			if (status === 201) promised.push(Number(Object(answer).id));
			return status === 500;
		});
		expect(await eventually('it says that it is not ready', async () => (await ready()) === 503)).toBe(true);
		expect((await fetch(`${fixture.server.url}/healthz`)).status).toBe(200);
		expect(await fixture.api.getSession(bought.session.id)).toMatchObject({ status: 'active' });
		for (const charge of simulator.books.payments) await simulator.settle(charge, 'success');
		simulator.advance(20 * SECOND);
		await fixture.server.advance(20 * SECOND);
		await sleep(LOOK_MS);
		expect((await fixture.api.getPayment(paying.payment.id)).status).toBe('pending');

		disk.free(fixture.server.pid);
		await eventually('it is ready again', async () => (await ready()) === 200);
		await eventually('the paid session runs', async () => {
			await setup().advance(20 * SECOND);
			return (await fixture.api.getSession(paying.session.id)).status === 'active';
		});
		for (const id of promised) expect(await fixture.api.getSession(id)).toMatchObject({ id });
		await setup().expectNothingLost();
	});
});

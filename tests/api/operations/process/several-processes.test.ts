/** Equal processes on one PostgreSQL: one dies, one is suspended, one stops. No request, payment or refund is lost or doubled. */
import process from 'node:process';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../simulators/simulator.ts';
import type { Script } from '../../../simulators/script.ts';
import { createApi, orderOf, type Payment, type Session } from '../../../support/api/api.ts';
import { startProxy } from '../../../support/server/proxy.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';
import {
	eventually,
	SECRET,
	startFixture,
	type Fixture,
	itWithAll
} from '../../../support/server/fixture.ts';
import { OPERATORS } from '../../../torture/operators.ts';
import { serverNow, untilQuiet } from '../../../torture/time.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Promised: work of a dead process continues after ten seconds. */
const TAKEN_OVER_MS = 10 * SECOND;
/** A busy machine adds this to what the clock says. */
const BUSY_MS = 8 * SECOND;

interface Bought {
	session: Session;
	payment: Payment;
}

describe('two processes on one PostgreSQL', () => {
	let simulator: Simulator;
	let fixture: Fixture;
	let second: TestServer;
	let buyers = 0;
	let env: Record<string, string>;

	beforeAll(async () => {
		const operator = OPERATORS['mtn'];
		if (!operator) throw new Error('no operator');
		simulator = await startSimulator(operator.protocol());
		env = { ...simulator.environment, AIRTILL_LOG_LEVEL: 'silent', DRAIN_SECONDS: '5' };
		fixture = await startFixture({ database: 'postgres', env });
	});
	afterAll(async () => {
		await fixture?.stop();
		await simulator?.stop();
	});
	beforeEach(() => {
		simulator.outage(null);
		return async () => {
			await second?.kill();
			await second?.stop();
		};
	});

	const startSecond = async (other: Record<string, string> = {}) => {
		second = await startServer({
			database: fixture.server.databaseUrl,
			env: { ...env, AIRTILL_SECRET: SECRET, AIRTILL_DEMO: 'off', ...other }
		});
	};
	/** It is an hour behind, and takes no jobs of now until its clock is moved. */
	const startBehind = () => startSecond({ AIRTILL_TEST_CLOCK_OFFSET_MS: String(-60 * MINUTE) });

	/** How the operator takes the next request of the number. */
	const script = ({ phone }: Pick<Session, 'phone'>, how: Partial<Script>) =>
		simulator.script({ phone: phone.slice(1), times: 1 }, { callbacks: [], ...how });

	async function start(how: Partial<Script>): Promise<Bought> {
		const phone = OPERATORS['mtn']?.phone((buyers += 1)) ?? '';
		script({ phone }, how);
		const session = await fixture.api.createSession({ payment_method: 'mtn_momo', phone });
		return { session, payment: await fixture.api.pay(session) };
	}

	const chargesOf = ({ session }: Bought) =>
		simulator.books.payments.filter(({ phone }) => session.phone.endsWith(phone));

	const refundsOf = (bought: Bought) =>
		simulator.books.refunds.filter(({ paymentNumber }) =>
			chargesOf(bought).some(({ number }) => number === paymentNumber)
		);

	/** Counts the requests for it that the operator got. */
	const submitsOf = ({ session }: Bought) =>
		simulator.requests.filter(
			({ method, path, body }) =>
				method === 'POST' && /requesttopay$/.test(path) && body.includes(session.phone.slice(1))
		).length;

	const inState = ({ payment }: Bought, state: string) =>
		fixture.sql.count('select count(*) from payments where id = ? and submit_state = ?', payment.id, state);

	/** @returns database processes that wait for a lock */
	async function findWaiting(): Promise<unknown[]> {
		// A transaction sees the activity of its first look.
		await fixture.sql.run('select pg_stat_clear_snapshot()');
		const waiting =
			"select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
		return (await fixture.sql.all(waiting)).map(({ pid }) => pid);
	}

	const becomes = ({ payment }: Bought, status: Payment['status']) =>
		eventually(`payment ${payment.id} is ${status}`, async () => {
			const found = await fixture.sql.count(
				'select count(*) from payments where id = ? and status = ?',
				payment.id,
				status
			);
			if (found === 0) for (const server of [fixture.server, second]) await server.advance(SECOND);
			return found;
		});

	it('one is killed while it asks the operator: the other settles within ten seconds', async () => {
		await startBehind();
		const bought: Bought[] = [];
		for (let index = 0; index < 3; index += 1) bought.push(await start({ outcome: 'pending' }));
		for (const one of bought) await eventually('the operator has it', () => inState(one, 'accepted'));
		simulator.outage('hang');
		const before = simulator.requests.length;
		await fixture.server.advance(5 * SECOND);
		await eventually('all are asked for', async () => simulator.requests.length >= before + bought.length);

		const killedAt = fixture.server.now();
		await fixture.server.kill('SIGKILL');
		simulator.outage(null);
		for (const charge of bought.flatMap(chargesOf)) await simulator.settle(charge, 'success');
		await second.advance(killedAt + TAKEN_OVER_MS - SECOND - second.now());
		for (const { session } of bought) {
			const at = await eventually('it is settled', () =>
				fixture.sql.count(
					"select coalesce(max(created_at), 0) from events where type = 'session.activated' and session_id = ?",
					session.id
				)
			);
			expect(at - killedAt).toBeLessThan(TAKEN_OVER_MS - SECOND + BUSY_MS);
		}
		await fixture.server.restart();
	});

	it('one stalls while it sends: the other takes its work, and every payer is charged and refunded once', async () => {
		await startBehind();
		const slow = { submit: 'slow', slowMs: 2 * SECOND, afterMs: 0 } as const;
		const bought = await Promise.all(Array.from({ length: 4 }, () => start(slow)));
		const wrong = await start({ ...slow, amountFactor: 2, refund: { submit: 'slow', slowMs: 2 * SECOND } });
		await eventually('all are on their way', async () =>
			[...bought, wrong].every((one) => chargesOf(one)[0])
		);
		// Past every lease of the first process, which goes on.
		await second.advance(fixture.server.now() + TAKEN_OVER_MS - second.now());
		for (const one of bought) await becomes(one, 'success');
		await becomes(wrong, 'refunded');
		for (const one of [...bought, wrong]) expect(chargesOf(one)).toHaveLength(1);
		for (const one of bought) expect(submitsOf(one)).toBe(1);
		expect(refundsOf(wrong)).toHaveLength(1);
		for (const { session } of bought) {
			expect(await fixture.events(session.id)).toEqual([
				'payment.success',
				'session.activated',
				'session.created'
			]);
		}
	});

	it('one is suspended before it sends: the other sends, and the payer is asked and refunded once', async () => {
		await startBehind();
		const wrong = await start({
			amountFactor: 2,
			afterMs: 0,
			refund: { submit: 'slow', slowMs: 3 * SECOND }
		});
		await eventually('its refund is on its way', async () => {
			await fixture.server.advance(SECOND);
			return refundsOf(wrong).length > 0;
		});
		// What waits is answered that its token has expired: the operator has nothing of it yet.
		simulator.expireTokens();
		simulator.outage('hang');
		const one = await start({ afterMs: 0 });
		await eventually('the first sends', async () => submitsOf(one) === 1);
		process.kill(fixture.server.pid, 'SIGSTOP');
		let sent = 0;
		try {
			simulator.outage(null);
			await second.advance(fixture.server.now() + TAKEN_OVER_MS - second.now());
			await eventually('the other has sent it', async () => {
				await second.advance(SECOND);
				return (await inState(one, 'accepted')) > 0;
			});
			sent = submitsOf(one);
		} finally {
			process.kill(fixture.server.pid, 'SIGCONT');
		}
		await eventually('the first goes on and sends it too', async () => submitsOf(one) > sent);
		await becomes(one, 'success');
		await becomes(wrong, 'refunded');
		for (const { length } of [chargesOf(one), chargesOf(wrong), refundsOf(wrong)]) expect(length).toBe(1);
		expect(await fixture.events(one.session.id)).toEqual([
			'payment.success',
			'session.activated',
			'session.created'
		]);
	});

	it('one is suspended before it notes that it sends, and is refused then: the other sends later', async () => {
		await startBehind();
		const one = await start({ submit: 'rate_limited' });
		await eventually('it waits for its next try', async () => submitsOf(one) > 0 && inState(one, 'created'));
		await fixture.sql.run('begin');
		await fixture.sql.all('select id from payments where id = ? for update', one.payment.id);
		await fixture.server.advance(MINUTE);
		const first = await eventually('it stands still before it notes that it sends', async () => {
			const pids = await findWaiting();
			return pids.length > 0 && pids;
		});
		process.kill(fixture.server.pid, 'SIGSTOP');
		try {
			await second.advance(fixture.server.now() + TAKEN_OVER_MS - second.now());
			await eventually('so does the other', async () =>
				(await findWaiting()).some((pid) => !first.includes(pid))
			);
			script(one.session, { submit: 'rate_limited' });
			await fixture.sql.run('commit');
			await eventually('it sends', async () => submitsOf(one) === 2 && inState(one, 'created'));
		} finally {
			process.kill(fixture.server.pid, 'SIGCONT');
		}
		script(one.session, { afterMs: 0 });
		for (const server of [fixture.server, second]) await server.advance(MINUTE);
		await becomes(one, 'success');
		expect(submitsOf(one)).toBe(3);
	});

	it('one is suspended while it sends, and the other sends again: a late refusal takes nothing back', async () => {
		simulator.outage('hang');
		const one = await start({ submit: 'rate_limited' });
		await eventually('it sends', async () => submitsOf(one) === 1 && inState(one, 'submitting'));
		// As the other does it after a status read that found nothing.
		const sentAgain = 'update payments set submitted_at = submitted_at + 60000 where id = ?';
		await fixture.sql.run(sentAgain, one.payment.id);
		const takenOver =
			"update jobs set lease_owner = null, lease_until = null, run_at = ? where kind = 'payment.submit' and subject_id = ?";
		await fixture.sql.run(takenOver, serverNow(fixture.server) + MINUTE, one.payment.id);
		simulator.outage(null);
		await untilQuiet(fixture.server, fixture.sql);
		expect(await inState(one, 'submitting')).toBe(1);
	});

	itWithAll('one stops: it is not ready, still answers, and behind a proxy no request fails', async () => {
		await startSecond();
		const { key } = await fixture.newKey();
		const stopping = second.kill('SIGTERM');
		await eventually('it says so', async () => (await fetch(`${second.url}/readyz`)).status === 503);
		expect((await createApi(second.url, key).send('GET', '/v1/routers/1')).status).toBe(200);
		await stopping;
		await second.restart();

		const proxy = await startProxy([fixture.server.url, second.url]);
		const through = createApi(proxy.url, key);
		const answers: number[] = [];
		let isOver = false;
		const buyersAtWork = Array.from({ length: 6 }, async () => {
			while (!isOver) {
				answers.push((await through.send('GET', '/v1/routers/1')).status);
				const body = orderOf({ payment_method: 'mtn_momo' });
				answers.push((await through.send('POST', '/v1/sessions', { body })).status);
			}
		});
		try {
			for (const server of [second, fixture.server]) {
				const seen = answers.length;
				const started = performance.now();
				await server.kill('SIGTERM');
				expect(performance.now() - started).toBeLessThan(10 * SECOND);
				expect(answers.length).toBeGreaterThan(seen);
				await server.restart();
				await eventually('the proxy uses it again', async () => proxy.sendsTo(server.url));
			}
		} finally {
			isOver = true;
			await Promise.all(buyersAtWork);
			await proxy.stop();
		}
		expect(answers.filter((status) => status !== 200 && status !== 201)).toEqual([]);
	});
});

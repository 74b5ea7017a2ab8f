/** Equal processes on one PostgreSQL: one dies, one stalls, one stops. No request, payment or refund is lost or doubled. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulators/frame.ts';
import type { Script } from '../../simulators/script.ts';
import { createApi, orderOf, type Payment, type Session } from '../../support/api/api.ts';
import { startProxy } from '../../support/server/proxy.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { eventually, SECRET, startFixture, type Fixture } from '../../support/server/fixture.ts';
import { OPERATORS } from '../../torture/operators.ts';

const SECOND = 1_000;
const HOUR = 60 * 60 * SECOND;
/** Promised: work of a dead process continues after ten seconds. */
const TAKEN_OVER_MS = 10 * SECOND;
/** A busy machine adds this to what the clock says. */
const BUSY_MS = 4 * SECOND;

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
		env = { ...simulator.environment, AIRTILL_LOG_LEVEL: 'silent', DRAIN_SECONDS: '2' };
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
	/** It takes no jobs of now until its clock is moved: it is an hour behind. */
	const startBehind = () => startSecond({ AIRTILL_TEST_CLOCK_OFFSET_MS: String(-HOUR) });

	async function start(script: Partial<Script>, api = fixture.api): Promise<Bought> {
		const phone = OPERATORS['mtn']?.phone((buyers += 1)) ?? '';
		simulator.script({ phone: phone.slice(1), times: 1 }, { callbacks: [], ...script });
		const session = await api.createSession({ payment_method: 'mtn_momo', phone });
		return { session, payment: await api.pay(session) };
	}

	const chargesOf = ({ session }: Bought) =>
		simulator.books.payments.filter(({ phone }) => session.phone.endsWith(phone));

	const isAccepted = ({ payment }: Bought) =>
		fixture.sql.count("select count(*) from payments where id = ? and submit_state = 'accepted'", payment.id);

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
		for (const one of bought) await eventually('the operator has it', () => isAccepted(one));
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
		const submits = simulator.requests.filter(
			({ method, path, body }) =>
				method === 'POST' &&
				/requesttopay$/.test(path) &&
				bought.some(({ session }) => body.includes(session.phone.slice(1)))
		);
		expect(submits).toHaveLength(bought.length);
		const [charge] = chargesOf(wrong);
		expect(
			simulator.books.refunds.filter(({ paymentNumber }) => paymentNumber === charge?.number)
		).toHaveLength(1);
		for (const { session } of bought) {
			expect(await fixture.events(session.id)).toEqual([
				'payment.success',
				'session.activated',
				'session.created'
			]);
		}
	});

	it('one stops: it is not ready, still answers, and behind a proxy no request fails', async () => {
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
		for (const server of [second, fixture.server]) {
			const seen = answers.length;
			const started = performance.now();
			await server.kill('SIGTERM');
			expect(performance.now() - started).toBeLessThan(10 * SECOND);
			expect(answers.length).toBeGreaterThan(seen);
			await server.restart();
			await eventually('the proxy uses it again', async () => proxy.sendsTo(server.url));
		}
		isOver = true;
		await Promise.all(buyersAtWork);
		await proxy.stop();
		expect(answers.filter((status) => status !== 200 && status !== 201)).toEqual([]);
	});

	it('one stops while the operator hangs: it stops in time, and the other asks what became of the payment', async () => {
		await startSecond({ DRAIN_SECONDS: '0' });
		await fixture.server.kill('SIGTERM');
		const { key } = await fixture.newKey();
		const hanging = { submit: 'slow', slowMs: 40 * SECOND, afterMs: 0 } as const;
		const one = await start(hanging, createApi(second.url, key));
		await eventually('it is on its way', async () => chargesOf(one).length > 0);
		// Ended by force after ten seconds, it would leave the payment in another state.
		await second.kill('SIGTERM');
		const state = 'select count(*) from payments where id = ? and submit_state = ?';
		expect(await fixture.sql.count(state, one.payment.id, 'uncertain')).toBe(1);
		await fixture.server.restart();
		await becomes(one, 'success');
		expect(chargesOf(one)).toHaveLength(1);
	});
});

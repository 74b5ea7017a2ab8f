/** Many calls at once, on one process and on two that share a database: still one payment, one end, one truth. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi, numberEnding, type Api, type Session } from '../../../support/api/api.ts';
import { isAll } from '../../../support/all.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';
import { BOTH_DATABASES, eventually, SECRET, useFixture } from '../../../support/server/fixture.ts';

const atOnce = 20;
const ROUNDS = isAll ? 25 : 4;

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let second: TestServer;
	let key: string;
	/** The same account through one process, and through two in turn. */
	let callers: Record<string, Api[]>;

	beforeAll(async () => {
		second = await startServer({
			database: fixture().server.databaseUrl,
			env: { AIRTILL_SECRET: SECRET, AIRTILL_DEMO: 'off' }
		});
		({ key } = await fixture().newKey());
		const [one, two] = [createApi(fixture().server.url, key), createApi(second.url, key)];
		callers = { 'one process': [one], 'two processes': [one, two] };
	});
	afterAll(() => second?.stop());

	/** The same call `atOnce` times in parallel, spread over the processes. */
	async function race(processes: string, method: string, path: string, body?: object) {
		const apis = callers[processes] ?? [];
		const calls = Array.from({ length: atOnce }, (_, index) => apis[index % apis.length]);
		const answers = await Promise.all(calls.map((api) => api?.send(method, path, body ? { body } : {})));
		return answers.map((answer) => ({
			...(answer?.body as { id?: number; code?: string; payment_id?: number; session_status?: string }),
			status: answer?.status
		}));
	}

	const orderWith = async (phone: string): Promise<Session> =>
		createApi(fixture().server.url, key).createSession({ phone });

	const paymentFor = (session: Session) => ({
		amount: session.amount,
		phone: session.phone,
		session_id: session.id
	});

	const count = (text: string, id: number) => fixture().sql.count(`select count(*) ${text}`, id);
	const chargesOf =
		'from sandbox_charges c join payments p on p.reference = c.reference where p.session_id = ?';

	// On PostgreSQL two find what one would.
	const callersOf = database === 'sqlite' || isAll ? ['one process', 'two processes'] : ['two processes'];
	describe.each(callersOf)('%s', (processes) => {
		it('of twenty starts for one session one wins, and the others get its id', async () => {
			for (let round = 0; round < 3; round += 1) {
				const session = await orderWith(numberEnding('003'));
				const answers = await race(processes, 'POST', '/v1/payments/mobile-money', paymentFor(session));
				const won = answers.filter(({ status }) => status === 201);
				expect(won).toHaveLength(1);
				for (const { status, code, payment_id } of answers.filter(({ status: other }) => other !== 201)) {
					expect({ status, code, payment_id }).toEqual({
						status: 400,
						code: 'payment_in_progress',
						payment_id: won[0]?.id
					});
				}
				expect(await count('from payments where session_id = ?', session.id)).toBe(1);
				await eventually('the operator is asked', () => count(chargesOf, session.id));
				expect(await count(chargesOf, session.id)).toBe(1);
			}
		});

		it('of twenty starts one wins, even if it is paid while the others run', async () => {
			for (let round = 0; round < ROUNDS; round += 1) {
				const session = await orderWith(numberEnding('008'));
				const answers = await race(processes, 'POST', '/v1/payments/mobile-money', paymentFor(session));
				expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
				for (const { status, code } of answers.filter(({ status: other }) => other !== 201)) {
					expect(status).toBe(400);
					expect(['payment_in_progress', 'session_already_paid']).toContain(code);
				}
				await eventually('the operator is asked', () => count(chargesOf, session.id));
				expect(await count(chargesOf, session.id)).toBe(1);
			}
		});

		it('of twenty DELETEs one ends the session, and the others see that it has ended', async () => {
			const session = await orderWith(numberEnding('123'));
			const answers = await race(processes, 'DELETE', `/v1/sessions/${session.id}`);
			expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
			const others = answers.filter(({ status }) => status !== 200);
			expect(new Set(others.map(({ code, session_status }) => `${code} ${session_status}`))).toEqual(
				new Set(['session_not_active cancelled'])
			);
			expect(await fixture().events(session.id)).toEqual(['session.cancelled', 'session.created']);
		});

		it('a DELETE while the payment settles leaves either paid and ended, or cancelled and refunded', async () => {
			const apis = callers[processes] ?? [];
			const [starter, ender = starter] = apis;
			if (!starter || !ender) throw new Error('no callers');
			const seen = new Set<string>();
			for (let round = 0; round < 8; round += 1) {
				const session = await orderWith(numberEnding('008'));
				const payment = await starter.pay(session);
				const waited = round % 2 === 0 ? null : starter.getPayment(payment.id, 20);
				const { status: ended } = await ender.send('DELETE', `/v1/sessions/${session.id}`);
				await waited;
				expect(ended).toBe(200);
				const settled = await eventually('the payment settles', async () => {
					const found = await starter.getPayment(payment.id, 20);
					return ['success', 'refund_pending', 'refunded', 'failed'].includes(found.status) && found;
				});
				const { status, status_reason } = await starter.getSession(session.id);
				seen.add(`${status} ${settled.applied}`);
				if (settled.applied) expect(`${status} ${status_reason}`).toBe('ended client_ended');
				else expect(`${status} ${status_reason}`).toBe('cancelled client_cancelled');
				const taken = settled.status !== 'failed';
				expect(await count(chargesOf, session.id)).toBe(taken ? 1 : 0);
				const refunds = 'from refunds r join payments p on p.id = r.payment_id where p.session_id = ?';
				expect(await count(refunds, session.id)).toBe(taken && !settled.applied ? 1 : 0);
			}
			expect(seen.size).toBeGreaterThan(0);
		});

		it('twenty orders with one number start five prompts, not one more', async () => {
			const phone = numberEnding('003');
			const apis = callers[processes] ?? [];
			const sessions = await Promise.all(Array.from({ length: atOnce }, () => orderWith(phone)));
			const answers = await Promise.all(
				sessions.map((session, index) =>
					apis[index % apis.length]?.send('POST', '/v1/payments/mobile-money', { body: paymentFor(session) })
				)
			);
			expect(answers.filter((answer) => answer?.status === 201)).toHaveLength(5);
			expect(answers.filter((answer) => answer?.status === 400)).toHaveLength(atOnce - 5);
		});

		it('forty purchases at once are each requested, paid and started once', async () => {
			const apis = callers[processes] ?? [];
			const bought = await Promise.all(
				Array.from({ length: 2 * atOnce }, async (_, index) => {
					const api = apis[index % apis.length];
					if (!api) throw new Error('no callers');
					const session = await api.createSession({ phone: numberEnding('008') });
					const { id } = await api.pay(session);
					const payment = await eventually('it is paid', async () => {
						const found = await api.getPayment(id, 20);
						return found.status !== 'pending' && found;
					});
					expect(payment).toMatchObject({ status: 'success', applied: true });
					return session.id;
				})
			);
			for (const id of bought) {
				expect(await count(chargesOf, id)).toBe(1);
				const types = await fixture().events(id);
				expect(types).toEqual(['payment.success', 'session.activated', 'session.created']);
			}
		});
	});

	it('logs no error', () => {
		expect(fixture().server.stderr() + second.stderr()).toBe('');
	});
});

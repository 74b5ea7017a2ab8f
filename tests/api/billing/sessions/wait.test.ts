/** `wait` on the status of a payment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi, numberEnding, type Api, type Payment } from '../../../support/api/api.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';
import { DATABASES, SECRET, useFixture } from '../../../support/server/fixture.ts';

/** Limit from the operator's success to the response, for half of the responses: the machine may be busy for one. */
const promisedMs = 500;
/** Far from the 20 s of a request that waits. */
const atOnceMs = 5_000;

async function expectPrompt(api: Api, delays: number[], limitMs = promisedMs): Promise<void> {
	delays.sort((a, b) => a - b);
	// What as many answers take now that wait for nothing, but write: the machine may be busy all the time.
	const { tookMs: usualMs } = await timed(Promise.all(delays.map(() => api.createSession({}))));
	expect(delays[Math.floor(delays.length / 2)]).toBeLessThan(limitMs + 2 * usualMs);
	expect(delays.at(-1)).toBeLessThan(atOnceMs);
}

async function timed<T>(work: Promise<T>): Promise<{ result: T; tookMs: number }> {
	const started = performance.now();
	const result = await work;
	return { result, tookMs: performance.now() - started };
}

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	const start = async (digits: string, api = fixture().api): Promise<Payment> =>
		api.pay(await api.createSession({ phone: numberEnding(digits) }));

	/** Time from the change of the payment to the arrival of the answer that was waiting for it. */
	async function delayMs(api: Api, payment: Payment): Promise<number> {
		const answer = await api.send('GET', `/v1/payments/${payment.id}/status?wait=20`);
		const { status, updated_at } = answer.body as Payment;
		expect(status).not.toBe('pending');
		return answer.at - Date.parse(updated_at);
	}

	it.each(['123', '001', '007'])(
		'responds within 500 ms after the payment settles (number %s)',
		async (digits) => {
			const payments = await Promise.all(Array.from({ length: 4 }, () => start(digits)));
			const delays = await Promise.all(payments.map((payment) => delayMs(fixture().api, payment)));
			await expectPrompt(fixture().api, delays);
			expect(Math.min(...delays)).toBeGreaterThanOrEqual(0);
		}
	);

	it('responds to all who wait for the same payment', async () => {
		const payment = await start('123');
		const delays = await Promise.all(Array.from({ length: 10 }, () => delayMs(fixture().api, payment)));
		await expectPrompt(fixture().api, delays);
	});

	it('responds at once without wait, with wait=0, and when the payment is not pending', async () => {
		const [pending, { payment: paid }] = [await start('003'), await fixture().buy()];
		for (const [payment, wait] of [
			[pending, undefined],
			[pending, 0],
			[paid, 20]
		] as const) {
			const { result, tookMs } = await timed(fixture().api.getPayment(payment.id, wait));
			expect(result.status).toBe(payment.status);
			expect(tookMs).toBeLessThan(atOnceMs);
		}
	});

	it('responds with "pending" when the time is up', async () => {
		const payment = await start('003');
		const { result, tookMs } = await timed(fixture().api.getPayment(payment.id, 1));
		expect(result.status).toBe('pending');
		expect(tookMs).toBeGreaterThan(950);
		expect(tookMs).toBeLessThan(1_000 + atOnceMs);
	});

	describe('with a second process', () => {
		let second: TestServer;
		beforeAll(async () => {
			second = await startServer({ database: fixture().server.databaseUrl, env: { AIRTILL_SECRET: SECRET } });
		});
		afterAll(() => second?.stop());

		// SQLite is for one process: there, a change by another one is seen a little later.
		const limitMs = database === 'postgres' ? promisedMs : 2_500;

		it('responds soon, whichever process settled the payment', async () => {
			const { key, api } = await fixture().newKey();
			const elsewhere = createApi(second.url, key);
			const payments = await Promise.all(Array.from({ length: 6 }, () => start('123', api)));
			const delays = await Promise.all(
				payments.flatMap((payment) => [delayMs(api, payment), delayMs(elsewhere, payment)])
			);
			await expectPrompt(api, delays, limitMs);
		});
	});
});

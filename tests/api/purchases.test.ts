/** The portal's record of a purchase, against a real service whose answers get lost on the way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiUnavailable, apiClient, type ApiClient } from '../../src/lib/server/api-client.ts';
import { systemClock } from '../../src/lib/server/clock.ts';
import { openDatabase, type Database } from '../../src/lib/server/db/database.ts';
import { createLog } from '../../src/lib/server/log.ts';
import { createPurchases, type Purchases } from '../../src/lib/server/purchases/purchases.ts';
import { numberEnding } from '../support/api.ts';
import { DATABASES, demoKey, useWorld } from '../support/world.ts';

const HOUR = { routerId: 3, duration: '1h', paymentMethod: 'mobile_money', amount: 500, currency: 'UGX' };

describe.each(DATABASES)('on %s', (kind) => {
	const world = useWorld({ database: kind });
	let database: Database;
	let purchases: Purchases;
	let api: ApiClient;
	let starts: number;

	beforeAll(async () => {
		const { server } = world();
		database = await openDatabase(server.databaseUrl, { poolSize: 2 });
		purchases = createPurchases(database, systemClock);
		const access = { url: `${server.url}/v1`, key: demoKey(server, 'app') };
		api = apiClient({
			fetch,
			request: new Request(server.url),
			locals: { app: { api: access, log: createLog('silent') } }
		});
	});
	afterAll(() => database.close());

	/** The same service, whose answer to a payment start never arrives. */
	function losingAnswers(): ApiClient {
		starts = 0;
		return {
			...api,
			async startPayment(order) {
				starts += 1;
				await api.startPayment(order);
				throw new ApiUnavailable('the answer was lost');
			}
		};
	}

	it('a payment whose answer was lost is found again, and the payer is asked once', async () => {
		const form = { ...HOUR, phone: numberEnding('003') };
		const token = await purchases.buy(losingAnswers(), purchases.newToken(), form);
		const found = await purchases.find(losingAnswers(), token);
		expect(found?.payment).toMatchObject({ status: 'pending', phone: expect.stringContaining('003') });
		expect(await purchases.buy(losingAnswers(), token, form)).toBe(token);
		expect(starts).toBe(0);
	});

	it('a payment that was refused while its answer was lost is not started again by looking', async () => {
		const token = await purchases.buy(losingAnswers(), purchases.newToken(), {
			...HOUR,
			phone: numberEnding('001')
		});
		const first = await purchases.find(api, token);
		const id = first?.payment?.id ?? 0;
		await api.getPayment(id, 20);
		expect((await purchases.find(losingAnswers(), token))?.payment).toMatchObject({ id, status: 'failed' });
		expect(starts).toBe(0);
	});

	it('a price that is not the one that was seen is refused, and nothing is kept', async () => {
		const token = purchases.newToken();
		const order = { ...HOUR, amount: 400, phone: numberEnding('123') };
		await expect(purchases.buy(api, token, order)).rejects.toThrow('The price has changed');
		expect(await purchases.find(api, token)).toBeNull();
	});

	it('ten equal forms at once are one purchase with one payment', async () => {
		const token = purchases.newToken();
		const order = { ...HOUR, phone: numberEnding('003') };
		const tokens = await Promise.all(Array.from({ length: 10 }, () => purchases.buy(api, token, order)));
		expect(new Set(tokens)).toEqual(new Set([token]));
		const found = await purchases.find(api, token);
		expect(found?.otherPayments).toEqual([]);
		expect(found?.payment?.status).toBe('pending');
	});

	/** A purchase whose first payment was declined. */
	async function declined(): Promise<string> {
		const token = await purchases.buy(api, purchases.newToken(), { ...HOUR, phone: numberEnding('001') });
		const found = await purchases.find(api, token);
		await api.getPayment(found?.payment?.id ?? 0, 20);
		return token;
	}

	it('ten tries at once with other numbers and networks are one new payment', async () => {
		const token = await declined();
		const tries = Array.from({ length: 10 }, (_, index) =>
			purchases.retry(api, token, {
				...HOUR,
				paymentMethod: index % 2 === 0 ? 'airtel_money' : 'mtn_momo',
				phone: numberEnding('003')
			})
		);
		const tokens = new Set(await Promise.all(tries));
		expect(tokens.size).toBe(1);
		const [next = ''] = tokens;
		const found = await purchases.find(api, next);
		expect(found?.payment?.status).toBe('pending');
		expect(found?.otherPayments.map(({ status }) => status)).toEqual(['failed']);
		expect((await purchases.find(api, token))?.successor).toBe(next);
		expect((await purchases.find(api, token))?.session.status).toBe('cancelled');
	});

	it('a try with another network that is refused leaves the purchase as it was', async () => {
		const token = await declined();
		const wrong = { ...HOUR, paymentMethod: 'airtel_money', phone: '0414 123 456' };
		await expect(purchases.retry(api, token, wrong)).rejects.toThrow('invalid_phone');
		const found = await purchases.find(api, token);
		expect(found).toMatchObject({ successor: null, session: { status: 'pending_payment' } });
		expect(await purchases.retry(api, token, { ...wrong, phone: numberEnding('003') })).not.toBe(token);
	});

	it('a try with another network does not end time that was paid meanwhile', async () => {
		const token = await purchases.buy(api, purchases.newToken(), { ...HOUR, phone: numberEnding('123') });
		const before = await purchases.find(api, token);
		const id = before?.session.id ?? 0;
		/** The session as it was before the payment succeeded. */
		const stale = {
			...api,
			getSession: async (asked: number) => {
				const session = await api.getSession(asked);
				return asked === id ? { ...session, status: 'pending_payment' as const } : session;
			},
			getPayment: async (payment: number) => ({
				...(await api.getPayment(payment)),
				status: 'failed' as const
			})
		};
		await api.getPayment(before?.payment?.id ?? 0, 20);
		const other = { ...HOUR, paymentMethod: 'airtel_money', phone: numberEnding('003') };
		expect(await purchases.retry(stale, token, other)).toBe(token);
		expect((await purchases.find(api, token))?.session.status).toBe('active');
	});
});

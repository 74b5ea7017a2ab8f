/** The portal's record of a purchase, against a real service whose answers get lost on the way. */
import { Unavailable } from '#lib/server/platform/errors.ts';
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { purchaseToken } from '../../../../src/lib/server/platform/secrets.ts';
import { limitApi, type ApiClient } from '../../../../src/lib/server/portal/api-client.ts';
import {
	buyTime,
	extendPurchase,
	continuePurchase,
	retryPurchase
} from '../../../../src/lib/server/portal/ordering.ts';
import { awaitPurchase, readSessions } from '../../../../src/lib/server/portal/purchases.ts';
import { numberEnding } from '../../../support/api/api.ts';
import { DATABASES, runsAllOn, useFixture } from '../../../support/server/fixture.ts';
import { HOUR, api, purchases, usePurchases } from './in-process.ts';

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	usePurchases(fixture);

	const paymentsOf = (sessionId?: number) =>
		fixture().sql.count('select count(*) from payments where session_id = ?', sessionId ?? 0);

	/** The same service, whose answer to a payment start never arrives. */
	function losingAnswers(): ApiClient {
		return {
			...api,
			async startPayment(order, key) {
				await api.startPayment(order, key);
				throw new Unavailable('the answer was lost');
			}
		};
	}

	it('ten equal forms at once are one purchase with one payment', async () => {
		const token = purchaseToken();
		const order = { ...HOUR, phone: numberEnding('003') };
		const tokens = await Promise.all(Array.from({ length: 10 }, () => buyTime(purchases, api, token, order)));
		expect(new Set(tokens)).toEqual(new Set([token]));
		const found = await continuePurchase(purchases, api, token);
		expect(found?.otherPayments).toEqual([]);
		expect(found?.payment?.status).toBe('pending');
	});

	/** A purchase whose first payment was declined. */
	async function declined(): Promise<string> {
		const token = await buyTime(purchases, api, purchaseToken(), {
			...HOUR,
			phone: numberEnding('001')
		});
		const found = await continuePurchase(purchases, api, token);
		await api.getPayment(found?.payment?.id ?? 0, 20);
		return token;
	}

	it('a retry whose answer was lost shows the payment that it started', async () => {
		const token = await declined();
		const form = { ...HOUR, phone: numberEnding('003') };
		const losing = losingAnswers();
		expect((await continuePurchase(purchases, losing, token))?.payment?.status).toBe('failed');
		expect(await retryPurchase(purchases, losing, token, form)).toBe(token);
		const found = await continuePurchase(purchases, losing, token);
		expect(found?.payment).toMatchObject({ status: 'pending', phone: expect.stringContaining('003') });
		expect(await retryPurchase(purchases, losing, token, form)).toBe(token);
		expect(await paymentsOf(found?.session.id)).toBe(2);
	});

	it('a retry that the service limits started nothing, and says so', async () => {
		const limited = { ...api, startPayment: () => Promise.reject(limitApi(5)) };
		const form = { ...HOUR, phone: numberEnding('003') };
		await expect(retryPurchase(purchases, limited, await declined(), form)).rejects.toThrow(
			'limited for 5 s'
		);
	});

	it('ten retries at once with other numbers and payment methods are one new payment', async () => {
		const token = await declined();
		const tries = Array.from({ length: 10 }, (_, index) =>
			retryPurchase(purchases, api, token, {
				...HOUR,
				paymentMethod: index % 2 === 0 ? 'airtel_money' : 'mtn_momo',
				phone: numberEnding('003')
			})
		);
		const tokens = new Set(await Promise.all(tries));
		expect(tokens.size).toBe(1);
		const [next = ''] = tokens;
		const found = await continuePurchase(purchases, api, next);
		expect(found?.payment?.status).toBe('pending');
		expect(found?.otherPayments.map(({ status }) => status)).toEqual(['failed']);
		expect((await continuePurchase(purchases, api, token))?.successor).toBe(next);
		expect((await continuePurchase(purchases, api, token))?.session.status).toBe('cancelled');
	});

	describe('added time', () => {
		/** A purchase whose time runs. */
		async function bought(): Promise<string> {
			const token = await buyTime(purchases, api, purchaseToken(), {
				...HOUR,
				phone: numberEnding('008')
			});
			const found = await continuePurchase(purchases, api, token);
			expect(await api.getPayment(found?.payment?.id ?? 0, 20)).toMatchObject({ applied: true });
			return token;
		}
		const form = (digits: string) => ({
			...HOUR,
			token: purchaseToken(),
			phone: numberEnding(digits)
		});
		/** The page as it is when the newest payment has left `pending`. */
		async function settled(token: string) {
			const found = await continuePurchase(purchases, api, token);
			await api.getPayment(found?.added.at(-1)?.payment?.id ?? 0, 20);
			return continuePurchase(purchases, api, token);
		}

		it('ten equal forms at once add one hour, on the page of the purchase', async () => {
			const token = await bought();
			const order = form('008');
			await Promise.all(Array.from({ length: 10 }, () => extendPurchase(purchases, api, token, order)));
			const found = await settled(token);
			expect(found?.added).toHaveLength(1);
			expect(found?.added[0]?.session).toMatchObject({
				status: 'active',
				starts_at: found?.session.expires_at,
				password: found?.session.password
			});
			// The form's token opens no page of its own.
			expect(await continuePurchase(purchases, api, order.token)).toBeNull();
		});

		if (!runsAllOn(kind)) return;

		it('starts no other payment while one for added time is pending', async () => {
			const token = await bought();
			await extendPurchase(purchases, api, token, form('003'));
			const first = (await continuePurchase(purchases, api, token))?.added[0]?.payment;
			expect(first?.status).toBe('pending');
			await extendPurchase(purchases, api, token, form('003'));
			const found = await continuePurchase(purchases, api, token);
			expect(found?.added.map(({ payment }) => payment?.id)).toEqual([first?.id]);
			expect(found?.added[0]?.otherPayments).toEqual([]);
			expect(found?.session.status).toBe('active');
		});

		it('a declined payment is cancelled for the next one, and only that one counts', async () => {
			const token = await bought();
			await extendPurchase(purchases, api, token, form('001'));
			const declined = (await settled(token))?.added[0];
			expect(declined?.payment?.status).toBe('failed');
			await extendPurchase(purchases, api, token, form('008'));
			const found = await settled(token);
			expect(found?.added.map(({ session }) => session.status)).toEqual(['active']);
			expect(found?.added[0]?.otherPayments.map(({ id }) => id)).toEqual([declined?.payment?.id]);
			expect((await api.getSession(declined?.session.id ?? 0)).status).toBe('cancelled');
		});

		it('a pass that ended while the form was open is bought again on the same page', async () => {
			const token = await bought();
			const found = await continuePurchase(purchases, api, token);
			const ending = {
				...api,
				async createSession(order: Parameters<ApiClient['createSession']>[0]) {
					if (order.extends_session_id !== undefined) await api.endSession(found?.session.id ?? 0);
					return api.createSession(order);
				}
			};
			await extendPurchase(purchases, ending, token, form('008'));
			const page = await settled(token);
			expect(page?.session.status).toBe('ended');
			expect(page?.added[0]?.session).toMatchObject({ status: 'active', extends_session_id: null });
		});

		it('paid time stays on the page after many failed tries to add time', async () => {
			const token = await bought();
			await extendPurchase(purchases, api, token, form('008'));
			const [paid] = (await settled(token))?.added ?? [];
			expect(paid?.session.status).toBe('active');
			const away = { ...api, startPayment: () => Promise.reject(new Unavailable('away')) };
			for (let tries = 0; tries < 13; tries += 1) await extendPurchase(purchases, away, token, form('008'));
			const found = await continuePurchase(purchases, api, token);
			expect(found?.added.map(({ session }) => session.id)).toEqual([paid?.session.id]);
			const hash = createHash('sha256').update(token).digest('hex');
			const read = await readSessions(purchases, api, hash);
			expect(read.map(({ id }) => id)).toContain(paid?.session.id);
		});

		it('a payment whose answer was lost is found again', async () => {
			const token = await bought();
			const order = form('003');
			await extendPurchase(purchases, losingAnswers(), token, order);
			const found = await continuePurchase(purchases, api, token);
			expect(found?.added.map(({ payment }) => payment?.status)).toEqual(['pending']);
			await extendPurchase(purchases, losingAnswers(), token, order);
			expect(await paymentsOf(found?.added[0]?.session.id)).toBe(1);
		});
	});

	if (!runsAllOn(kind)) return;

	it('a payment whose answer was lost is found again, and the payer gets one prompt', async () => {
		const form = { ...HOUR, phone: numberEnding('003') };
		const token = await buyTime(purchases, losingAnswers(), purchaseToken(), form);
		const found = await continuePurchase(purchases, api, token);
		expect(found?.payment).toMatchObject({ status: 'pending', phone: expect.stringContaining('003') });
		expect(await buyTime(purchases, losingAnswers(), token, form)).toBe(token);
		expect((await continuePurchase(purchases, api, token))?.payment?.id).toBe(found?.payment?.id);
		expect(await paymentsOf(found?.session.id)).toBe(1);
	});

	it('a payment that failed while its answer was lost is not started again by opening the page', async () => {
		const token = await buyTime(purchases, losingAnswers(), purchaseToken(), {
			...HOUR,
			phone: numberEnding('001')
		});
		const first = await continuePurchase(purchases, api, token);
		const id = first?.payment?.id ?? 0;
		await api.getPayment(id, 20);
		expect((await continuePurchase(purchases, api, token))?.payment).toMatchObject({ id, status: 'failed' });
		expect(await paymentsOf(first?.session.id)).toBe(1);
	});

	it('refuses a price that differs from the one shown, and keeps nothing', async () => {
		const token = purchaseToken();
		const order = { ...HOUR, amount: 400, phone: numberEnding('123') };
		await expect(buyTime(purchases, api, token, order)).rejects.toThrow('The price has changed');
		expect(await continuePurchase(purchases, api, token)).toBeNull();
	});

	it('a refused retry with another payment method leaves the purchase unchanged', async () => {
		const token = await declined();
		const wrong = { ...HOUR, paymentMethod: 'airtel_money', phone: '0414 123 456' };
		await expect(retryPurchase(purchases, api, token, wrong)).rejects.toThrow('invalid_phone');
		const found = await continuePurchase(purchases, api, token);
		expect(found).toMatchObject({ successor: null, session: { status: 'pending_payment' } });
		expect(await retryPurchase(purchases, api, token, { ...wrong, phone: numberEnding('003') })).not.toBe(
			token
		);
	});

	/** The service as somebody sees it who does not know yet that a purchase is paid. */
	const unaware = (id: number): ApiClient => ({
		...api,
		getSession: async (asked) => {
			const session = await api.getSession(asked);
			return asked === id ? { ...session, status: 'pending_payment' as const } : session;
		},
		getPayment: async (payment) => ({ ...(await api.getPayment(payment)), status: 'failed' as const })
	});

	/** A purchase that is paid. */
	async function paidPurchase(): Promise<{ token: string; id: number }> {
		const token = await buyTime(purchases, api, purchaseToken(), {
			...HOUR,
			phone: numberEnding('123')
		});
		const found = await continuePurchase(purchases, api, token);
		await api.getPayment(found?.payment?.id ?? 0, 20);
		return { token, id: found?.session.id ?? 0 };
	}

	it('a retry with another payment method does not end time that was paid meanwhile', async () => {
		const { token, id } = await paidPurchase();
		const other = { ...HOUR, paymentMethod: 'airtel_money', phone: numberEnding('003') };
		expect(await retryPurchase(purchases, unaware(id), token, other)).toBe(token);
		expect((await continuePurchase(purchases, api, token))?.session.status).toBe('active');

		// A service that does not know `if_status`, and says late that the first session is paid.
		let isOrdered = false;
		const simple: ApiClient = {
			...unaware(id),
			getSession: (asked) => (isOrdered ? api : unaware(id)).getSession(asked),
			cancelUnpaid: (asked) => api.endSession(asked),
			async createSession(...order) {
				isOrdered = true;
				return api.createSession(...order);
			}
		};
		expect(await retryPurchase(purchases, simple, token, other)).toBe(token);
		expect((await continuePurchase(purchases, api, token))?.session.status).toBe('active');
	});

	it('time that was paid while another order replaced it is shown there, and nothing more is charged', async () => {
		const { token, id } = await paidPurchase();
		const cutOff = {
			...unaware(id),
			cancelUnpaid: () => Promise.reject(new Unavailable('the answer was lost'))
		};
		const other = { ...HOUR, paymentMethod: 'airtel_money', phone: numberEnding('003') };
		const next = await retryPurchase(purchases, cutOff, token, other);
		expect(next).not.toBe(token);
		for (const opened of [
			await continuePurchase(purchases, api, next),
			await awaitPurchase(purchases, api, next, 0)
		]) {
			expect(opened?.session).toMatchObject({ id, status: 'active', password: expect.any(String) });
			expect(opened?.payment).toMatchObject({ applied: true, session_id: id });
			expect(opened?.otherPayments).toEqual([]);
		}
		expect(await retryPurchase(purchases, api, next, other)).toBe(next);
	});
});

/** A price that a payment method cannot charge: M-Pesa takes whole shillings. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATORS } from '../../simulators/protocols.ts';
import { startOperated, type OperatedFixture } from '../../support/billing/operators.ts';
import { browse } from '../../support/pages/browsing.ts';

const [mpesa] = OPERATORS.filter(({ name }) => name === 'mpesa');
if (!mpesa) throw new Error('There is no M-Pesa');

describe('half an hour for KES 2.50', () => {
	let operated: OperatedFixture;
	beforeAll(async () => {
		operated = await startOperated(mpesa, 'sqlite');
		const { sql } = operated.fixture;
		await sql.run(`update routers set price_minor = 500, payment_methods = '["mpesa"]' where id = 3`);
		await sql.run(
			`update routers set price_minor = 500, payment_methods = '["mpesa","airtel_money"]' where id = 6`
		);
	});
	afterAll(() => operated.stop());

	/** @param time as the page's button has it */
	const post = async (router: number, time: string, paymentMethod: string) =>
		browse(operated.fixture.server.url).post(`/r/${router}`, {
			...{ time, paymentMethod, count: '', unit: 'm', asked: '', quoted: '' },
			...{ phone: operated.newPhone(), purchase: `form-${router}-${paymentMethod}-of-the-tests` }
		});

	it('is refused with the reason and with the methods that charge it', async () => {
		const { api } = operated.fixture;
		const phone = operated.newPhone();
		for (const payment_method of ['mpesa', 'mobile_money']) {
			const body = { router_id: 6, duration: '30m', payment_method, phone };
			const problem = await api.refused('400 payment_method_not_supported', 'POST', '/v1/sessions', { body });
			expect(problem.detail).toContain(
				`${payment_method} charges multiples of KES\u00a01 only, and the price is KES\u00a02.50.`
			);
			expect(problem.payment_methods).toEqual(['airtel_money', 'sandbox']);
		}
		await api.createSession({ router_id: 6, duration: '1h', payment_method: 'mpesa', phone });
		expect((await api.getRouter(6)).payment_limits).toEqual([
			{ payment_method: 'mobile_money', step: 1, min: 1, max: 250_000 },
			{ payment_method: 'mpesa', step: 1, min: 1, max: 250_000 }
		]);
	});

	it('cannot be bought by a page of before, which says why', async () => {
		const reason = /KES 2\.50 cannot be paid with (M-Pesa|mobile-money): whole amounts only/;
		expect((await post(3, '30m 2.5', 'mpesa')).text).toMatch(reason);
		expect((await post(6, '30m 2.5', 'mpesa')).text).toMatch(reason);
		expect(operated.simulator.books.payments).toHaveLength(0);
	});

	it('is no price of an offer', async () => {
		const path = '/v1/owner/routers/3/offers';
		const body = { offers: [{ name: 'Half an hour', duration: '30m', price: 2.5 }] };
		const { owner, api } = operated.fixture;
		const { errors } = await owner.refused('400 validation_failed', 'PUT', path, { body });
		expect(errors).toMatchObject([{ pointer: '/offers/0/price' }]);
		await owner.send('PUT', '/v1/owner/routers/6/offers', { body });
		await operated.fixture.sql.run(`update routers set payment_methods = '["mpesa"]' where id = 6`);
		expect((await api.getRouter(6)).offers).toMatchObject([{ price: 2.5, available: false }]);
	});
});

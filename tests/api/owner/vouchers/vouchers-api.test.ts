/** Vouchers through the API: made once, redeemed once, counted with the other sales. */
import { describe, expect, it } from 'vitest';
import { makeVouchers, redeem, type MadeVoucher } from '../../../support/pages/vouchers.ts';
import { BOTH_DATABASES, runsAllOn, useFixture } from '../../../support/server/fixture.ts';

const ROUTER = 5;

describe.each(BOTH_DATABASES)('vouchers on %s', (database) => {
	const fixture = useFixture({ database });
	const first = ({ codes }: { codes: MadeVoucher[] }): MadeVoucher => {
		const [card] = codes;
		if (!card) throw new Error('The batch is empty');
		return card;
	};
	const states = async (batch: number) => {
		const { body } = await fixture().owner.send('GET', '/v1/owner/voucher-batches');
		const { data } = body as { data: { id: number; states: Record<string, number> }[] };
		return data.find(({ id }) => id === batch)?.states;
	};

	it('a voucher that several devices redeem at once buys one session, paid by one payment', async () => {
		const batch = await makeVouchers(fixture().owner, ROUTER, 2);
		const { code, number } = first(batch);
		const answers = await Promise.all(Array.from({ length: 6 }, () => redeem(fixture().api, code, ROUTER)));
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
		const ids = new Set(answers.map(({ body }) => (body as { id: number }).id));
		expect(ids.size).toBe(1);
		const session = await fixture().api.getSession([...ids][0] ?? 0);
		expect(session).toMatchObject({
			...{ status: 'active', payment_method: 'voucher', amount: 1000, duration: '1d', phone: '+9990000000' },
			offer: { name: 'Day', max_devices: 3 }
		});
		expect(session.password).toMatch(/^[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/);
		expect(await fixture().sql.all('select * from payments where session_id = ?', session.id)).toMatchObject([
			{ status: 'success', applied: 1, provider_reference: number, commission_basis_points: 0 }
		]);
		expect(await fixture().events(session.id)).toEqual([
			...['payment.success', 'session.activated', 'session.created', 'voucher.redeemed']
		]);
		expect(await states(batch.id)).toEqual({ unsold: 1, sold: 0, redeemed: 1, void: 0 });
		await fixture().other.refused('400 voucher_redeemed', 'POST', '/v1/vouchers/redeem', { body: { code } });
	});

	if (!runsAllOn(database)) return;

	it('is refused at another router and while its router is closed, and stays valid', async () => {
		const { code } = first(await makeVouchers(fixture().owner, ROUTER, 1));
		const { router_id: place } = await fixture().api.refused(
			...(['400 voucher_of_other_router', 'POST', '/v1/vouchers/redeem'] as const),
			{ body: { code, router_id: 3 } }
		);
		expect(place).toBe(ROUTER);
		const close = `update routers set status = ? where id = ${ROUTER}`;
		await fixture().sql.run(close, 'offline');
		await fixture().api.refused('400 router_unavailable', 'POST', '/v1/vouchers/redeem', { body: { code } });
		await fixture().sql.run(close, 'online');
		expect((await redeem(fixture().api, code.toLowerCase().replaceAll('-', ' '))).status).toBe(201);
	});

	it('adds its time to a session of the same account only, and stays valid when it cannot', async () => {
		const [one, other] = (await makeVouchers(fixture().owner, ROUTER, 2)).codes;
		const { body: bought } = await redeem(fixture().api, one?.code ?? '');
		const order = { code: other?.code, extends_session_id: (bought as { id: number }).id };
		const path = '/v1/vouchers/redeem';
		await fixture().other.refused('404 session_not_found', 'POST', path, { body: order });
		const added = await fixture().api.send('POST', path, { body: order });
		expect([added.status, added.body]).toMatchObject([201, { extends_session_id: order.extends_session_id }]);
		expect(await fixture().api.send('POST', path, { body: order })).toMatchObject({
			...{ status: 200, body: { id: (added.body as { id: number }).id } }
		});
	});

	it('keeps the terms that it was sold with, whatever the owner changes later', async () => {
		const { code } = first(await makeVouchers(fixture().owner, ROUTER, 1));
		const offers = [{ name: 'Day', duration: '2h', price: 5000 }];
		await fixture().owner.send('PUT', `/v1/owner/routers/${ROUTER}/offers`, { body: { offers } });
		expect((await redeem(fixture().api, code)).body).toMatchObject({ amount: 1000, duration: '1d' });
	});

	it('stores no code, and gives the codes once, also when the request is repeated', async () => {
		const { codes } = await makeVouchers(fixture().owner, ROUTER, 3);
		for (const { code } of codes) {
			expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/);
			for (const table of ['vouchers', 'audit_log', 'events']) {
				const rows = JSON.stringify(await fixture().sql.all(`select * from ${table}`));
				expect(rows).not.toContain(code);
				expect(rows).not.toContain(code.replaceAll('-', ''));
			}
		}
		const order = { router_id: ROUTER, offer_id: await offerOf(ROUTER), count: 2 };
		const send = () =>
			fixture().owner.send('POST', '/v1/owner/voucher-batches', {
				...{ body: order, headers: { 'idempotency-key': 'one-batch' } }
			});
		const [made, again] = [await send(), await send()];
		expect(again.text).toBe(made.text);
	});

	const offerOf = async (router: number) => (await fixture().api.getRouter(router)).offers[0]?.id ?? 0;

	it.each([
		['count', 1001],
		['count', 1.5],
		['commission_percent', 51],
		['seller', ' ']
	])('refuses a batch with %s %j', async (name, value) => {
		const offer_id = await offerOf(ROUTER);
		const body = { router_id: ROUTER, offer_id, count: 1, [name]: value };
		const path = '/v1/owner/voucher-batches';
		await fixture().owner.refused('400 validation_failed', 'POST', path, { body });
	});

	it('are made only by the owner of the router, for an offer that is active', async () => {
		const offer_id = await offerOf(ROUTER);
		const body = { router_id: ROUTER, offer_id, count: 1 };
		const path = '/v1/owner/voucher-batches';
		const { api } = await fixture().newKey({ role: 'owner' });
		await api.refused('403 not_router_owner', 'POST', path, { body });
		await fixture().api.refused('403 owner_role_required', 'POST', path, { body });
		const gone = { ...body, offer_id: 999 };
		await fixture().owner.refused('400 offer_not_available', 'POST', path, { body: gone });
	});

	it('an unknown code is not found, and one of 12 other characters is no code', async () => {
		for (const code of ['ZZZZ-ZZZZ-ZZZZ', 'hello', '!'.repeat(64)])
			await fixture().api.refused('404 voucher_not_found', 'POST', '/v1/vouchers/redeem', { body: { code } });
	});

	it('a batch lists its vouchers with their states, to its owner only', async () => {
		const { id, codes } = await makeVouchers(fixture().owner, ROUTER, 2, { seller: 'Corner shop' });
		expect((await redeem(fixture().api, codes[0]?.code ?? '')).status).toBe(201);
		const path = `/v1/owner/voucher-batches/${id}/vouchers`;
		const { body } = await fixture().owner.send('GET', path);
		expect((body as { data: object[] }).data).toMatchObject([
			{ status: 'unsold', sold_at: null, redeemed_at: null, session_id: null },
			{ status: 'redeemed', seller: 'Corner shop' }
		]);
		const { api } = await fixture().newKey({ role: 'owner' });
		await api.refused('404 voucher_batch_not_found', 'GET', path);
	});
});

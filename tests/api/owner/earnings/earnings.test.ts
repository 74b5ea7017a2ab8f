/** GET /v1/owner/earnings: what counts, the span of time, and what is refused (specification 1.8). */
import { describe, expect, it } from 'vitest';
import { addRouter } from '../../../support/pages/owners.ts';
import { DATABASES, useFixture, runsAllOn } from '../../../support/server/fixture.ts';
import { addPayment, earningsOf, EMPTY } from './rows.ts';

describe.each(DATABASES)('earnings on %s', (database) => {
	const fixture = useFixture({ database });

	it('follow a purchase at once, with the commission of the day it was paid', async () => {
		const { newKey, server } = fixture();
		const { accountId, api } = await newKey({ role: 'owner' });
		const router = await addRouter(fixture(), accountId, { price_minor: 1005 });
		await fixture().buy({ router_id: router, duration: '1h' });
		const once = { sessions: 1, gross: 1005, refunds: 0, fees: 101, net: 904 };
		expect((await earningsOf(api)).data.at(-1)).toMatchObject(once);
		server.env['COMMISSION_BASIS_POINTS'] = '2000';
		await server.restart();
		expect((await earningsOf(api)).total).toEqual(once);
		await fixture().buy({ router_id: router, duration: '2h' });
		expect((await earningsOf(api)).total).toEqual({
			sessions: 2,
			gross: 3015,
			refunds: 0,
			fees: 101 + 402,
			net: 3015 - 503
		});
	});

	it('of a sale and its refund come to 0, also when the refund is in a later period, at another rate', async () => {
		const { newKey, server, sql } = fixture();
		const { accountId, api } = await newKey({ role: 'owner' });
		const router = await addRouter(fixture(), accountId);
		const [kept, returned] = [{ amount_minor: 995 }, { amount_minor: 1005, commission_basis_points: 333 }];
		const at = (date: string) => Date.parse(`${date}T09:00:00Z`);
		await addPayment(fixture(), router, { ...kept, paid_at: at('2026-02-27') });
		const refunded = { status: 'refunded', refunded_at: at('2026-03-02') };
		await addPayment(fixture(), router, { ...returned, ...refunded, paid_at: at('2026-02-27') });
		server.env['COMMISSION_BASIS_POINTS'] = '5000';
		await server.restart();
		const { total, data } = await earningsOf(api, '?period=monthly&from=2026-02-01&to=2026-03-31');
		expect(data).toEqual([
			expect.objectContaining({ sessions: 2, gross: 2000, refunds: 0, fees: 100 + 33, net: 2000 - 133 }),
			expect.objectContaining({ sessions: 0, gross: 0, refunds: 1005, fees: -33, net: -1005 + 33 })
		]);
		expect(total).toEqual({ sessions: 2, gross: 2000, refunds: 1005, fees: 100, net: 895 });
		await sql.run('update payments set paid_at = ? where refunded_at is not null', at('2026-03-01'));
		const march = await earningsOf(api, '?period=weekly&from=2026-02-23&to=2026-03-08');
		expect(march.data).toEqual([
			expect.objectContaining({ sessions: 2, gross: 2000, fees: 133 }),
			expect.objectContaining({ sessions: 0, refunds: 1005, fees: -33 })
		]);
		await sql.run('delete from payments where refunded_at is null and amount_minor = 995');
		const all = await earningsOf(api, '?from=2026-02-23&to=2026-03-08');
		expect(all.total).toEqual({ sessions: 1, gross: 1005, refunds: 1005, fees: 0, net: 0 });
	});

	it('do not change when the buyer ends the session, or the price changes', async () => {
		const { accountId, api } = await fixture().newKey({ role: 'owner' });
		const router = await addRouter(fixture(), accountId);
		const { session } = await fixture().buy({ router_id: router });
		const before = await earningsOf(api);
		await fixture().api.endSession(session.id);
		await api.send('PUT', `/v1/owner/routers/${router}/price`, { body: { price: 9000 } });
		expect(await earningsOf(api)).toEqual(before);
		expect(before.total).toMatchObject({ sessions: 1, gross: 500 });
	});

	it('are the applied payments also while a gateway has yet to let the buyer in', async () => {
		const { accountId, api } = await fixture().newKey({ role: 'owner' });
		const router = await addRouter(fixture(), accountId);
		const { session } = await fixture().buy({ router_id: router });
		const sold = await earningsOf(api);
		expect(sold.total).toMatchObject({ sessions: 1, gross: 500 });
		const wait = 'update sessions set status = ?, starts_at = null, expires_at = null where id = ?';
		await fixture().sql.run(wait, 'activating', session.id);
		expect(await earningsOf(api)).toEqual(sold);
		await fixture().sql.run('update payments set applied = 0 where session_id = ?', session.id);
		expect((await earningsOf(api)).total).toEqual(EMPTY);
	});

	if (!runsAllOn(database)) return;

	it.each([
		['period=weekly&from=2026-11-18&to=2026-11-24', '2026-11-16', '2026-11-29', 2],
		['period=weekly&from=2026-11-16&to=2026-11-22', '2026-11-16', '2026-11-22', 1],
		['period=monthly&from=2026-01-31&to=2026-02-01', '2026-01-01', '2026-02-28', 2],
		['period=daily&from=2024-02-29&to=2024-02-29', '2024-02-29', '2024-02-29', 1],
		['from=2024-01-01&to=2024-12-31', '2024-01-01', '2024-12-31', 366],
		['to=2024-03-01', '2024-02-01', '2024-03-01', 30],
		['period=weekly&to=1970-01-01', '1969-10-13', '1970-01-04', 12],
		['from=9998-12-31&to=9998-12-31', '9998-12-31', '9998-12-31', 1]
	])('?%s are those from %s to %s', async (query, from, to, count) => {
		const body = await earningsOf(fixture().owner, `?${query}`);
		expect(body).toMatchObject({ from, to });
		expect(body.data).toHaveLength(count);
		expect([body.data[0]?.start, body.data.at(-1)?.end]).toEqual([from, to]);
	});

	it.each([
		['period=yearly', 'period', 'unknown_value'],
		['period=', 'period', 'unknown_value'],
		['from=2026-02-30', 'from', 'invalid_format'],
		['from=2026-11-21T00:00:00Z', 'from', 'invalid_format'],
		['to=0000-00-00', 'to', 'invalid_format'],
		['from=1969-12-31&to=1970-01-02', 'from', 'out_of_range'],
		['to=0001-01-01', 'to', 'out_of_range'],
		['to=9999-12-31', 'to', 'out_of_range'],
		['from=2026-11-02&to=2026-11-01', 'from', 'out_of_range'],
		['from=2024-01-01&to=2025-01-01', 'from', 'out_of_range'],
		['from=1970-01-01', 'from', 'out_of_range'],
		['period=daily&period=weekly', 'period', 'duplicate']
	])('400 validation_failed for ?%s: %s %s', async (query, name, code) => {
		const path = `/v1/owner/earnings?${query}`;
		const { errors } = await fixture().owner.refused('400 validation_failed', 'GET', path);
		expect(errors).toEqual([expect.objectContaining({ in: 'query', pointer: `/${name}`, code })]);
	});
});

/** Money by offer: the sums of each offer are those of its payments and refunds, and together they are the total. */
import { beforeAll, describe, expect, it } from 'vitest';
import { addRouter, newOwner, signInOnOwnerPages, type Owner } from '../../../support/pages/owners.ts';
import { triesForgotten } from '../../../support/pages/browsing.ts';
import { DATABASES, useFixture } from '../../../support/server/fixture.ts';

const day = 24 * 60 * 60_000;
/** Noon in Kampala, UTC: no payment is near a midnight. */
const noon = 9 * 60 * 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;

	beforeAll(async () => {
		const { server, sql } = fixture();
		const now = server.now();
		await server.advance((((noon - now) % day) + day) % day);
		owner = await newOwner(fixture());
		const routers = [
			await addRouter(fixture(), owner.accountId),
			await addRouter(fixture(), owner.accountId)
		];
		const { api } = await fixture().newKey({ accountId: owner.accountId, role: 'owner' });
		const ids: number[] = [];
		for (const [index, router] of routers.entries()) {
			const offers = [
				{ name: 'Day, all devices', duration: '1d', price: 1005 + index * 200 },
				{ name: '=Hour', duration: '1h', price: 333 }
			];
			const { body } = await api.send('PUT', `/v1/owner/routers/${router}/offers`, { body: { offers } });
			ids.push(...(body as { data: { id: number }[] }).data.map(({ id }) => id));
		}
		const [first = 0, second = 0] = routers;
		const bought = [
			await fixture().buy({ router_id: first, duration: '1d', offer_id: ids[0] ?? 0 }),
			await fixture().buy({ router_id: second, duration: '1d', offer_id: ids[2] ?? 0 }),
			await fixture().buy({ router_id: first, duration: '1h', offer_id: ids[1] ?? 0 }),
			await fixture().buy({ router_id: first, duration: '3h' })
		];
		const refunded = bought[1]?.payment.id ?? 0;
		await sql.run(
			"update payments set status = 'refunded', refunded_at = paid_at + 1000 where id = ?",
			refunded
		);
		// A new name changes no payment.
		const renamed = [{ name: 'Whole day', duration: '1d', price: 1005 }];
		await api.send('PUT', `/v1/owner/routers/${first}/offers`, { body: { offers: renamed } });
		await triesForgotten(fixture());
		owner = { ...owner, ...(await signInOnOwnerPages(fixture(), owner.email))[0] };
	});

	/** Fees are a tenth, rounded half up; a refund returns the whole amount and the fee. */
	const NET = { day: 1005 - 101, hour: 333 - 33, hourly: 1500 - 150 };
	const money = (amount: number) => `UGX ${amount.toLocaleString('en')}`;

	it.each(['/owner/earnings?period=daily', '/owner/earnings?period=monthly', '/owner/payments?period=daily'])(
		'%s shows each offer, and time by the hour, with figures that add up to the total',
		async (path) => {
			const text = (await owner.get(path)).text.replaceAll('\u00a0', ' ');
			expect(text).toContain(`Your earnings ${money(NET.day + NET.hour + NET.hourly)}`);
			const table = text.slice(text.indexOf('By offer'));
			expect(table).toContain(`Day, all devices 2 ${money(NET.day)}`);
			expect(table).toContain(`=Hour 1 ${money(NET.hour)}`);
			expect(table).toContain(`By the hour 1 ${money(NET.hourly)}`);
		}
	);

	it('each payment and its line in the CSV file name the offer as it was bought', async () => {
		const { text } = await owner.get('/owner/payments?period=daily');
		expect(text.match(/Day, all devices ·/g)).toHaveLength(3);
		expect(text).toMatch(/=Hour ·.*3 hours ·|3 hours ·.*=Hour ·/);
		const csv = await (await owner.raw('/owner/payments/export?period=daily')).text();
		expect(csv).toContain(',Duration,Offer,Amount,');
		expect(csv.match(/,1d,"Day, all devices",-?\d+,/g)).toHaveLength(3);
		expect(csv).toMatch(/,1h,'=Hour,333,/);
		expect(csv).toMatch(/,3h,,1500,/);
	});

	const csvOf = async (query: string) => {
		const [, ...lines] = (await (await owner.raw(`/owner/payments/export?${query}`)).text())
			.trim()
			.split('\r\n');
		// The last cells hold no quotes.
		const cells = lines.map((line) => line.split(',').slice(-5, -1).map(Number));
		return {
			payments: lines.filter((line) => line.includes(',payment,')).length,
			paid: cells.reduce((sum, [amount = 0]) => sum + Math.max(0, amount), 0),
			refunds: cells.reduce((sum, [amount = 0]) => sum + Math.min(0, amount), 0),
			fee: cells.reduce((sum, [, fee = 0]) => sum - fee, 0),
			net: cells.reduce((sum, [, , net = 0]) => sum + net, 0)
		};
	};
	const amountOf = (text = '') => {
		const [, minus = '', digits = ''] =
			/^(−?)(?:UGX\s)?([\d,]+)$/.exec(text.replace(/<[^>]*>|<!--.*?-->/g, '').trim()) ?? [];
		return digits === '' ? null : Number(`${minus && '-'}${digits.replaceAll(',', '')}`);
	};
	const queryOf = (html = '') =>
		/\/owner\/payments\?([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';

	it.each(['daily', 'weekly', 'monthly'])(
		'of today’s page (%s) each figure is the sum of the payments that it leads to',
		async (period) => {
			const { html } = await owner.get(`/owner?period=${period}`);
			const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)]
				.map(([, row = '']) => row)
				.filter((row) => row.includes('/owner/payments'));
			// 14 days, 24 hours, 2 routers, 3 offers, 1 payment method.
			expect(rows).toHaveLength(14 + 24 + 2 + 3 + 1);
			for (const row of rows) {
				const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell);
				const { payments, net } = await csvOf(queryOf(row));
				expect([queryOf(row), amountOf(cells[1]), amountOf(cells[2])]).toEqual([queryOf(row), payments, net]);
			}
			const lines = [...html.matchAll(/<dd>(.*?)<\/dd>/gs)].map(([, line = '']) => line);
			const [paid, refunds, fee] = await Promise.all(lines.map((line) => csvOf(queryOf(line))));
			expect(lines.map(amountOf)).toEqual([paid?.paid, refunds?.refunds, fee?.fee, 4]);
			const [, net] = /class="net">.*?<b>(.*?)<\/b>/s.exec(html) ?? [];
			expect(amountOf(net)).toBe(NET.day + NET.hour + NET.hourly);
			expect((await csvOf(queryOf(net))).net).toBe(amountOf(net));
		}
	);

	it('a month’s statement has a line per router, and its total is that of the payments', async () => {
		const { html } = await owner.get('/owner/earnings/statement');
		const month = await csvOf(queryOf(html));
		const [, net] = /class="net">.*?<b>(.*?)<\/b>/s.exec(html) ?? [];
		const lines = [...html.matchAll(/<dd>(.*?)<\/dd>/gs)].map(([, line = '']) => amountOf(line));
		expect([amountOf(net), ...lines]).toEqual([month.net, month.paid, month.refunds, month.fee, 4]);
		const routers = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)]
			.map(([, row = '']) => [...row.matchAll(/<td class="figure[^>]*>(.*?)<\/td>/gs)])
			.filter((cells) => cells.length > 0)
			.map((cells) => cells.map(([, cell = '']) => amountOf(cell) ?? 0));
		expect(routers).toHaveLength(2);
		const sums = [0, 1, 2, 3, 4].map((index) => routers.reduce((sum, row) => sum + (row[index] ?? 0), 0));
		expect(sums).toEqual([4, month.paid, month.refunds, month.fee, month.net]);
		for (const wrong of ['2026-02-30', 'x']) {
			expect((await owner.get(`/owner/earnings/statement?day=${wrong}`)).status).toBe(404);
		}
	});

	it('a month without payments has a statement too, and leads to the months beside it', async () => {
		const { html, text } = await owner.get('/owner/earnings/statement?day=2020-01-15');
		expect(text).toContain('No payment yet.');
		for (const day of ['2019-12-01', '2020-02-01']) expect(html).toContain(`/earnings/statement?day=${day}"`);
	});

	it('a list of a filter says what it shows, and a filter that cannot be is not found', async () => {
		const text = (await owner.get('/owner/payments?period=daily&offer=&kind=payment')).text.replaceAll(
			'\u00a0',
			' '
		);
		expect(text).toContain('Only: By the hour · Payments');
		expect(text).toContain(`Your earnings ${money(NET.hourly)}`);
		const any = await owner.get('/owner/payments?period=daily&method=mobile_money');
		expect(any.text).toContain('Only: Mobile-money');
		for (const filter of ['router=x', 'router=1', 'hour=24', 'kind=both', 'method=%00', 'offer=%00']) {
			expect([filter, (await owner.get(`/owner/payments?${filter}`)).status]).toEqual([filter, 404]);
		}
	});

	it('the first page has the earnings of last week, which are those of the payments that they lead to', async () => {
		await fixture().sql.run(
			'update payments set paid_at = paid_at - ?, refunded_at = refunded_at - ?',
			...[7 * day, 7 * day]
		);
		for (const path of ['/owner', '/owner?period=monthly']) {
			const { html } = await owner.get(path);
			const [, href, net] = /<a href="([^"]*)">Last week: (.*?)<\/a>/.exec(html) ?? [];
			expect([amountOf(net), (await csvOf(queryOf(`${href}"`))).net]).toEqual(
				Array(2).fill(NET.day + NET.hour + NET.hourly)
			);
		}
	});
});

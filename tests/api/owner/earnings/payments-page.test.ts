/** The owner’s figures: the page, its lists and files, and by offer. */
import { beforeAll, describe, expect, it } from 'vitest';
import { triesForgotten, type Browsing } from '../../../support/pages/browsing.ts';
import { addRouter, newOwner, signInOnOwnerPages, type Owner } from '../../../support/pages/owners.ts';
import { addPayment, rowsOf } from './rows.ts';
import { DATABASES, useFixture, type Fixture } from '../../../support/server/fixture.ts';

const day = 24 * 60 * 60_000;
/** Noon in Kampala, UTC. */
const noon = 9 * 60 * 60_000;

/** Milliseconds until the reports' clock shows noon: no test stands beside a midnight. */
function untilNoon({ server }: Fixture): number {
	const now = server.now();
	return (((noon - now) % day) + day) % day;
}

/** The day of the week, from Monday as 1, and of the month, in Kampala. */
function localDay(now: number): { weekday: number; date: number } {
	const local = new Date(now + 3 * 60 * 60_000);
	return { weekday: ((local.getUTCDay() + 6) % 7) + 1, date: local.getUTCDate() };
}

describe.each(DATABASES)('the figures on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId, {
			name: '=HYPERLINK("http://evil.example"),A'
		});
		await fixture().buy({ router_id: router, duration: '1h' });
		await fixture().server.advance(40 * day + untilNoon(fixture()));
		await fixture().buy({ router_id: router, duration: '30m' });
		const { payment } = await fixture().buy({ router_id: router, duration: '3h' });
		await fixture().sql.run(
			"update payments set status = 'refunded', refunded_at = paid_at + 1000 where id = ?",
			payment.id
		);
		// Nobody stays signed in for so long.
		await triesForgotten(fixture());
		owner = { ...owner, ...(await signInOnOwnerPages(fixture(), owner.email))[0] };
	});

	const csvOf = async (period: string, person: Browsing = owner) =>
		(await person.raw(`/owner/money/export?period=${period}`)).text();

	it('of forty days ago are found by month', async () => {
		const { html } = await owner.get('/owner/money');
		const [, months = ''] = /By month<.*?<tbody>(.*?)<\/tbody>/s.exec(html) ?? [];
		expect(months.match(/href="[^"]*owner\/money\?period=monthly[^"]*"/g)).toHaveLength(2);
	});

	it('lead from each payment and refund to its purchase', async () => {
		const { html } = await owner.get('/owner/money?period=daily');
		const links = [...html.matchAll(/href="(\/owner\/customers\/\d+)"/g)].map(([, href = '']) => href);
		expect(links).toHaveLength(3);
		for (const href of links) expect((await owner.get(href)).text).toContain('What happened');
	});

	it('leave as a file that no spreadsheet takes for formulas', async () => {
		const answer = await owner.raw('/owner/money/export?period=daily');
		expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
		expect(answer.headers.get('content-disposition')).toMatch(
			/^attachment; filename="airtill-daily-[\d-]+\.csv"$/
		);
		expect(answer.headers.get('cache-control')).toBe('no-store');
		const bytes = Buffer.from(await answer.arrayBuffer());
		expect(bytes.subarray(0, 3).toString('hex')).toBe('efbbbf');
		const text = bytes.toString();
		expect(text).toContain('"\'=HYPERLINK(""http://evil.example""),A"');
		for (const cell of rowsOf(text).flatMap((row) => Object.values(row))) {
			if (!/^-\d+$/.test(cell)) expect(cell).not.toMatch(/^[=+\-@\t]/);
		}
		expect(text).not.toMatch(/\+?256\d{9}/);
	});

	it('belong to the local day, and their file shows the local time beside UTC', async () => {
		const early = await newOwner(fixture());
		const time = '2026-11-20T21:30:00.000Z';
		const paid = { paid_at: Date.parse(time), provider_reference: 'T-2130' };
		const payment = await addPayment(fixture(), await addRouter(fixture(), early.accountId), paid);
		const on = async (date: string) => rowsOf(await csvOf(`daily&day=${date}`, early));
		expect(await on('2026-11-21')).toMatchObject([
			{
				...{ 'Time (Africa/Kampala)': '2026-11-21 00:30:00', 'Time (UTC)': time },
				...{ Payment: String(payment), 'Transaction ID': 'T-2130', 'Held by': 'platform' }
			}
		]);
		expect(await on('2026-11-20')).toEqual([]);
		const { text } = await early.get('/owner/money?period=daily&day=2026-11-21');
		expect(text).toContain(`Payment ${payment}`);
	});

	it('are listed page by page without a gap', async () => {
		const many = await newOwner(fixture());
		const place = await addRouter(fixture(), many.accountId);
		const paid_at = fixture().server.now();
		for (let count = 0; count < 61; count += 1) await addPayment(fixture(), place, { paid_at });
		const seen: string[] = [];
		let path: string | null = '/owner/money?period=daily';
		while (path !== null) {
			const { html } = await many.get(path);
			seen.push(...[...html.matchAll(/Payment (\d+)(?:&nbsp;|\s)·/g)].map(([, id = '']) => id));
			path = /href="([^"]*)"[^>]*>Next page</.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? null;
		}
		expect(seen).toHaveLength(61);
		expect(new Set(seen).size).toBe(61);
		expect(rowsOf(await csvOf('daily', many)).map((one) => one['Payment'])).toEqual(seen);
	});

	it('name an offer in the language of the reader if its name only says how long it is', async () => {
		const seller = await newOwner(fixture());
		const offers = [
			{ id: 1, name: '1 hour', duration: '1h', price_minor: 500, active: true },
			{ id: 2, name: 'Film', duration: '2h', price_minor: 900, active: true }
		];
		const place = await addRouter(fixture(), seller.accountId, { offers: JSON.stringify(offers) });
		await fixture().buy({ router_id: place, duration: '1h', offer_id: 1 });
		await fixture().buy({ router_id: place, duration: '2h', offer_id: 2 });
		const { text } = await seller.get('/fr/owner/money?period=daily');
		const list = text.slice(0, text.indexOf('Par offre')).replaceAll('\u00a0', ' ');
		expect(list.match(/ · (Film|1 heure|1 hour) /g)).toEqual([' · Film ', ' · 1 heure ']);
	});

	it.each(['2026-02-30', 'x'])('of a day that does not exist (%s) are not found', async (wrong) => {
		for (const path of ['/owner/money', '/owner/money/export', '/owner/money/statement'])
			expect((await owner.get(`${path}?day=${wrong}`)).status).toBe(404);
	});

	/** Money by offer: the sums of each offer are those of its payments and refunds, and together they are the total. */
	describe('by offer', () => {
		let owner: Owner;

		beforeAll(async () => {
			const { server, sql } = fixture();
			await server.advance(untilNoon(fixture()));
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

		it.each(['/owner/money?period=daily', '/owner/money'])(
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
			const { text } = await owner.get('/owner/money?period=daily');
			expect(text.match(/Day, all devices (Payment|Refund)/g)).toHaveLength(3);
			expect(text).toContain('=Hour Payment');
			expect(text).toContain('3 hours Payment');
			const csv = await (await owner.raw('/owner/money/export?period=daily')).text();
			expect(csv).toContain(',Duration,Offer,Amount,');
			expect(csv.match(/,1d,"Day, all devices",-?\d+,/g)).toHaveLength(3);
			expect(csv).toMatch(/,1h,'=Hour,333,/);
			expect(csv).toMatch(/,3h,,1500,/);
		});

		const csvOf = async (query: string) => {
			const [, ...lines] = (await (await owner.raw(`/owner/money/export?${query}`)).text())
				.trim()
				.split('\r\n');
			// The last cells hold no quotes.
			const cells = lines.map((line) => line.split(',').slice(-7, -3).map(Number));
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
		const queryOf = (html = '') => /\/owner\/money\?([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';

		it.each(['daily', 'weekly', 'monthly'])(
			'of a period (%s) each figure is the sum of the payments that it leads to',
			async (period) => {
				const { html } = await owner.get(`/owner/money?period=${period}`);
				const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)]
					.map(([, row = '']) => row)
					.filter((row) => row.includes('/owner/money'));
				const { weekday, date } = localDay(fixture().server.now());
				const days = { daily: 0, weekly: weekday, monthly: date }[period] ?? 0;
				// Without a chart for one day: hours, routers, this period, offers, a payment method.
				expect(rows).toHaveLength((days > 1 ? days : 0) + 24 + 2 + 1 + 3 + 1);
				for (const row of rows) {
					const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell);
					const { payments, net } = await csvOf(queryOf(row));
					expect([queryOf(row), amountOf(cells[1]), amountOf(cells[2])]).toEqual([
						queryOf(row),
						payments,
						net
					]);
				}
				const lines = [...html.matchAll(/<dd>(.*?)<\/dd>/gs)].map(([, line = '']) => line);
				const [paid, refunds, fee] = await Promise.all(lines.map((line) => csvOf(queryOf(line))));
				expect(lines.map(amountOf)).toEqual([paid?.paid, refunds?.refunds, fee?.fee, 4]);
				const [, net] = /class="net">.*?<b>(.*?)<\/b>/s.exec(html) ?? [];
				expect(amountOf(net)).toBe(NET.day + NET.hour + NET.hourly);
			}
		);

		it('a month’s statement has a line per router, and its total is that of the payments', async () => {
			const { html } = await owner.get('/owner/money/statement');
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
		});

		it('a month without payments has a statement too, and leads to the months beside it', async () => {
			const { html, text } = await owner.get('/owner/money/statement?day=2020-01-15');
			expect(text).toContain('No payment yet.');
			for (const beside of ['2019-12-31', '2020-02-01'])
				expect(html).toContain(`/money/statement?day=${beside}"`);
		});

		it('a list of a filter says what it shows, and a filter that cannot be is not found', async () => {
			const text = (await owner.get('/owner/money?period=daily&offer=&kind=payment')).text.replaceAll(
				'\u00a0',
				' '
			);
			expect(text).toContain('Only: By the hour · Payments');
			expect(text).toContain(`Your earnings ${money(NET.hourly)}`);
			const any = await owner.get('/owner/money?period=daily&method=mobile_money');
			expect(any.text).toContain('Only: Mobile-money');
			for (const filter of ['router=x', 'router=1', 'hour=24', 'kind=both', 'method=%00', 'offer=%00']) {
				expect([filter, (await owner.get(`/owner/money?${filter}`)).status]).toEqual([filter, 404]);
			}
		});
	});
});

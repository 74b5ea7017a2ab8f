/** The owner pages: figures that are sums of a list, prices with their consequences, and nothing of anybody else's. */
import { beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { browse, fieldValue, PASSWORD, triesForgotten, type Browsing } from '../../support/pages/browsing.ts';
import {
	addRouter,
	alertOf,
	newOwner,
	sendBrand,
	signInOnOwnerPages,
	type Owner
} from '../../support/pages/owners.ts';
import { DATABASES, useFixture, type Fixture } from '../../support/server/fixture.ts';

const day = 24 * 60 * 60_000;
/** Noon in Kampala, UTC. */
const noon = 9 * 60 * 60_000;

/** Milliseconds until the reports' clock shows noon: no test stands beside a midnight. */
function untilNoon({ server }: Fixture): number {
	const now = server.now();
	return (((noon - now) % day) + day) % day;
}

/** Rows of a CSV file without line breaks in its cells. */
function rowsOf(csv: string): Record<string, string>[] {
	const [header = '', ...lines] = csv.replace('\ufeff', '').trimEnd().split('\r\n');
	const cells = (line: string) =>
		[...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
			([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare ?? ''
		);
	const names = cells(header);
	return lines.map((line) =>
		Object.fromEntries(cells(line).map((cell, index) => [names[index] ?? '', cell]))
	);
}

const sum = (rows: readonly Record<string, string>[], name: string) =>
	rows.reduce((total, row) => total + Number(row[name]), 0);

/** "UGX 4,500" as a number, from the line of a receipt that begins with a word. */
function amountAfter(text: string, label: string): number {
	const [, minus = '', digits = ''] = new RegExp(`${label} (−?)UGX\u00a0?\\s?([\\d,]+)`).exec(text) ?? [];
	expect(digits, `${label} in ${text}`).not.toBe('');
	return Number(`${minus && '-'}${digits.replaceAll(',', '')}`);
}

describe.each(DATABASES)('the owner pages on %s', (database) => {
	const fixture = useFixture({ database });

	describe('the sign-in', () => {
		it('leads back to the page that was wanted, and to no other site', async () => {
			const { email } = await newOwner(fixture());
			const nobody = browse(fixture().server.url);
			const asked = await nobody.get('/owner/payments?period=monthly');
			expect(asked.path).toBe('/owner/sign-in?next=%2Fowner%2Fpayments%3Fperiod%3Dmonthly');
			const [, page] = await signInOnOwnerPages(fixture(), email, fieldValue(asked, 'next'));
			expect([page.status, page.path]).toEqual([200, '/owner/payments?period=monthly']);
			for (const next of ['https://evil.example/', '//evil.example', '/owner/../developer', '/owner\\evil']) {
				const [person, safe] = await signInOnOwnerPages(fixture(), email, next);
				expect(safe.path).toBe('/owner');
				expect((await person.post('/owner/sign-out')).path).toBe('/owner/sign-in');
			}
		});

		it('after its end, a form comes back with its entries, to be sent again; one with a secret does not', async () => {
			const owner = await newOwner(fixture());
			const router = await addRouter(fixture(), owner.accountId);
			const path = `/fr/owner/routers/${router}/edit`;
			const form = await owner.get(path);
			const was = Object.fromEntries(
				['name', 'address', 'ssid', 'lat', 'lon', 'opening_hours'].map((name) => [
					`was-${name}`,
					fieldValue(form, `was-${name}`)
				])
			);
			await owner.post('/owner/sign-out');
			const name = 'Café "Ü" & Co';
			const sent = {
				...was,
				name,
				ssid: 'Net',
				lat: '1',
				lon: '2',
				'from-all': '08:00',
				'until-all': '20:00'
			};
			const withSecret = await owner.post(path, { ...sent, password: 'hunter2hunter2' });
			expect(withSecret.path).toBe('/fr/owner/sign-in');
			const page = await owner.post(path, { ...sent, password: '' });
			expect([page.status, page.path]).toEqual([401, path]);
			expect(page.text).toContain('Vous êtes déconnecté. Rien n’a encore été enregistré.');
			expect(page.text).not.toContain('ne sont pas gardés');
			expect(page.html).toContain(`href="/fr/owner/sign-in" target="_blank"`);
			expect(page.html).toContain(`<form method="post" action="${path}"`);
			const kept = Object.fromEntries(Object.keys(sent).map((field) => [field, fieldValue(page, field)]));
			expect(kept).toEqual(sent);
			expect((await owner.post(path, kept)).status).toBe(401);
			await owner.post('/owner/sign-in', { email: owner.email, password: PASSWORD });
			expect((await owner.post(path, kept)).path).toBe(`/fr/owner/routers/${router}?done=edit`);
			expect(await fixture().sql.count('select count(*) from routers where name = ?', name)).toBe(1);
		});

		it('after its end, a form without entries or with a large file leads to the sign-in page', async () => {
			const nobody = browse(fixture().server.url);
			expect((await nobody.post('/owner/staff?/remove')).path).toBe('/owner/sign-in');
			const file = { bytes: Buffer.alloc(20_000) };
			const page = await sendBrand(nobody, fixture().server.url, '/owner/brand', {
				name: 'Mine',
				logo: file
			});
			expect(page.path).toBe('/owner/sign-in');
		});

		it('keeps the language of the address', async () => {
			expect((await browse(fixture().server.url).get('/fr/owner')).path).toBe(
				'/fr/owner/sign-in?next=%2Fowner'
			);
		});

		it('says the same of a wrong password and an unknown address', async () => {
			const { email } = await newOwner(fixture());
			const words = await Promise.all(
				[email, 'nobody@people.example'].map(async (typed) => {
					const person = browse(fixture().server.url);
					return alertOf(await person.post('/owner/sign-in', { email: typed, password: 'wrong password' }));
				})
			);
			expect(words[0]).toBe('The email address or the password is wrong.');
			expect(words[1]).toBe(words[0]);
		});
	});

	describe('the figures', () => {
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
			(await person.raw(`/owner/payments/export?period=${period}`)).text();

		it.each(['daily', 'weekly', 'monthly'])(
			'of a period (%s) are the sum of its list, and of its file',
			async (period) => {
				const { text } = await owner.get(`/owner/payments?period=${period}`);
				const rows = rowsOf(await csvOf(period));
				expect(rows).toHaveLength(3);
				expect(amountAfter(text, 'Your earnings')).toBe(sum(rows, 'Net'));
				expect(amountAfter(text, 'Paid')).toBe(250 + 1500);
				expect(amountAfter(text, 'Refunds')).toBe(-1500);
				expect(amountAfter(text, 'Airtill’s fee')).toBe(-sum(rows, 'Fee'));
				expect(sum(rows, 'Amount') - sum(rows, 'Fee')).toBe(sum(rows, 'Net'));
				expect(text).toMatch(/Refund of payment \d+/);
				expect(rows.map(({ Kind }) => Kind)).toEqual(['refund', 'payment', 'payment']);
			}
		);

		it('of the first page are those of the lists that they lead to, and of the API', async () => {
			const shown = amountAfter((await owner.get('/owner')).text, 'Your earnings');
			expect(amountAfter((await owner.get('/owner/payments')).text, 'Your earnings')).toBe(shown);
			const { api } = await fixture().newKey({ accountId: owner.accountId, role: 'owner' });
			const { body } = await api.send('GET', '/v1/owner/earnings?period=daily');
			const { data } = body as { data: { net: number }[] };
			expect(shown).toBe(data.at(-1)?.net);
		});

		it('of forty days ago are found by month', async () => {
			const { html, text } = await owner.get('/owner/earnings?period=monthly');
			const links = html.match(/href="[^"]*owner\/payments\?period=monthly[^"]*"/g) ?? [];
			expect(links).toHaveLength(2);
			expect(amountAfter(text, 'Your earnings')).toBe(250 - 25 + 500 - 50 + 1500 - 150 - 1500);
		});

		it('leave as a file that no spreadsheet takes for formulas', async () => {
			const answer = await owner.raw('/owner/payments/export?period=daily');
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
			const { payment } = await fixture().buy({ router_id: await addRouter(fixture(), early.accountId) });
			const time = '2026-11-20T21:30:00.000Z';
			await fixture().sql.run('update payments set paid_at = ? where id = ?', Date.parse(time), payment.id);
			const on = async (date: string) => rowsOf(await csvOf(`daily&day=${date}`, early));
			expect(await on('2026-11-21')).toMatchObject([
				{
					...{ 'Time (Africa/Kampala)': '2026-11-21 00:30:00', 'Time (UTC)': time },
					...{ Payment: String(payment.id), 'Transaction ID': payment.provider_reference }
				}
			]);
			expect(await on('2026-11-20')).toEqual([]);
			const { text } = await early.get('/owner/payments?period=daily&day=2026-11-21');
			expect(text).toContain(`Payment ${payment.id}`);
		});

		it('are listed page by page without a gap', async () => {
			const many = await newOwner(fixture());
			const place = await addRouter(fixture(), many.accountId);
			const { payment } = await fixture().buy({ router_id: place });
			const columnsOf = async (table: string) => {
				const [row] = await fixture().sql.all(`select * from ${table} limit 1`);
				return Object.keys(row ?? {})
					.filter((name) => !['id', 'reference', 'session_id'].includes(name))
					.join(', ');
			};
			const [ofSession, ofPayment] = [await columnsOf('sessions'), await columnsOf('payments')];
			for (let index = 0; index < 60; index += 1) {
				const session = await fixture().sql.count(
					`insert into sessions (${ofSession}) select ${ofSession} from sessions where id = ? returning id`,
					payment.session_id
				);
				await fixture().sql.run(
					`insert into payments (session_id, reference, ${ofPayment})
						select ?, ?, ${ofPayment} from payments where id = ?`,
					session,
					`copy-${payment.id}-${index}`,
					payment.id
				);
			}
			const seen: string[] = [];
			let path: string | null = '/owner/payments?period=daily';
			while (path !== null) {
				const { html } = await many.get(path);
				seen.push(...[...html.matchAll(/>Payment (\d+)</g)].map(([, id = '']) => id));
				path = /href="([^"]*)"[^>]*>Next page</.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? null;
			}
			expect(seen).toHaveLength(61);
			expect(new Set(seen).size).toBe(61);
			expect(rowsOf(await csvOf('daily', many)).map((one) => one['Payment'])).toEqual(seen);
		});

		it.each(['2026-02-30', 'x', '0000-01-01', '../x'])(
			'of a day that does not exist (%s) are not found',
			async (wrong) => {
				for (const path of ['/owner/payments', '/owner/payments/export']) {
					expect((await owner.get(`${path}?day=${encodeURIComponent(wrong)}`)).status).toBe(404);
				}
			}
		);
	});

	it('people are listed while their time runs, and shown without their numbers', async () => {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId);
		const { session } = await fixture().buy({ router_id: router, duration: '1h' });
		const online = await owner.get('/owner/people');
		expect(online.text).toContain('Active: 1');
		expect(online.text).toMatch(/\+256\*{5}\d{4}/);
		for (const secret of [session.phone, session.password ?? 'none'])
			expect(online.html).not.toContain(secret);
		await fixture().server.advance(2 * 60 * 60_000);
		expect((await owner.get('/owner/people')).text).toContain('Active: 0');
		const over = await owner.get('/owner/people?group=expired');
		expect(over.html).toMatch(/<h1>Ended/);
		expect(over.text).toContain('ended ');
		expect((await owner.get('/owner/people?cursor=broken')).status).toBe(404);
	});

	describe('the price', () => {
		let owner: Owner;
		let router: number;
		const pathOf = () => `/owner/routers/${router}/price`;

		beforeAll(async () => {
			owner = await newOwner(fixture());
			router = await addRouter(fixture(), owner.accountId);
		});

		it('is shown with what buyers would pay, and set by a second press', async () => {
			const look = await owner.get(`${pathOf()}?price=1,500`);
			expect(look.text).toContain('Change to UGX 1,500 an hour?');
			expect(look.text).toMatch(/30 minutes UGX 250 UGX 750/);
			expect((await fixture().api.getRouter(router)).price).toBe(500);
			const fields = { price: fieldValue(look, 'price'), from: fieldValue(look, 'from') };
			const done = await owner.post(pathOf(), fields);
			expect(done.text).toContain('The price is now UGX 1,500 an hour.');
			expect((await fixture().api.getRouter(router)).price).toBe(1500);
			const history = () =>
				fixture().sql.all('select account_id, api_key_id from price_changes where router_id = ?', router);
			expect(await history()).toEqual([{ account_id: owner.accountId, api_key_id: null }]);
			// Sent twice it is one change.
			expect((await owner.post(pathOf(), fields)).path).toBe(`/owner/routers/${router}?done=price`);
			expect(await history()).toHaveLength(1);
		});

		it('is not set over a change that its owner has not seen', async () => {
			await fixture().admin.send('PUT', `/v1/owner/routers/${router}/price`, { body: { price: 900 } });
			const page = await owner.post(pathOf(), { price: '700', from: '1500' });
			expect([page.status, alertOf(page)]).toEqual([
				409,
				'Somebody else changed the price: it is now UGX 900. Check it again.'
			]);
			expect((await fixture().api.getRouter(router)).price).toBe(900);
		});

		it('that two people change at once is set once: the other one sees an error', async () => {
			const prices = [1100, 1200, 1300, 1400, 1600, 1700];
			const { price } = await fixture().api.getRouter(router);
			const answers = await Promise.all(
				prices.map((wanted) => owner.post(pathOf(), { price: String(wanted), from: String(price) }))
			);
			expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
			const refused = answers.filter(({ status }) => status === 409);
			expect(refused).toHaveLength(prices.length - 1);
			const { price: now } = await fixture().api.getRouter(router);
			for (const page of refused) {
				expect(alertOf(page)).toContain(`it is now UGX ${now.toLocaleString('en')}`);
			}
			await fixture().admin.send('PUT', `/v1/owner/routers/${router}/price`, { body: { price: 900 } });
		});

		it.each(['', '0', '-5', 'abc', '1,5', '1.5', '1e3', '1000001', '9'.repeat(30), '٥٠٠'])(
			'may not be %j: it is said, and nothing changes',
			async (price) => {
				const { price: before } = await fixture().api.getRouter(router);
				const look = await owner.get(`${pathOf()}?price=${encodeURIComponent(price)}`);
				expect(alertOf(look)).not.toBe('');
				const sent = await owner.post(pathOf(), { price, from: String(before) });
				expect(sent.status).toBe(400);
				expect((await fixture().api.getRouter(router)).price).toBe(before);
			}
		);
	});

	it('that do not exist lead back to the first owner page, after the sign-in', async () => {
		const owner = await newOwner(fixture());
		const page = await owner.get('/owner/nonsense');
		expect(page.status).toBe(404);
		expect(page.text).toContain('Page not found.');
		expect(page.html).toMatch(/<main.*<a class="button short" href="\/owner"/s);
		expect((await browse(fixture().server.url).get('/owner/nonsense')).path).toMatch(/^\/owner\/sign-in/);
	});

	it('nothing of another owner’s can be reached, and nothing changed', async () => {
		const [owner, stranger] = [await newOwner(fixture()), await newOwner(fixture())];
		const router = await addRouter(fixture(), owner.accountId, { name: 'Somebody Else’s Place' });
		await fixture().buy({ router_id: router, phone: numberEnding('008') });
		const nobody = browse(fixture().server.url);
		const app = await newOwner(fixture(), 'app');
		const own = [
			'/owner',
			'/owner/earnings',
			'/owner/payments',
			'/owner/people',
			'/owner/routers',
			'/owner/brand',
			'/owner/alerts',
			'/owner/staff'
		];
		const csv = '/owner/payments/export?period=monthly';
		for (const path of [...own, csv, '/owner/people?group=expired', '/owner/payments?period=monthly']) {
			const page = await stranger.get(path);
			expect([path, page.status]).toEqual([path, 200]);
			expect(page.html).not.toContain('Somebody Else');
			expect((await app.get(path)).status).toBe(403);
			expect((await nobody.get(path)).path).toMatch(/^\/owner\/sign-in\?next=/);
		}
		expect((await owner.get(csv)).html).toContain('Somebody Else');
		const before = await fixture().sql.all('select * from routers where id = ?', router);
		for (const path of [
			`/owner/routers/${router}`,
			`/owner/routers/${router}/price`,
			`/owner/routers/${router}/brand`
		]) {
			expect((await owner.get(path)).status).toBe(200);
			expect((await stranger.get(path)).status).toBe(404);
			expect((await app.get(path)).status).toBe(403);
			expect((await nobody.get(path)).path).toMatch(/^\/owner\/sign-in\?next=/);
		}
		const fields = { price: '1', from: '500' };
		for (const [person, status] of [
			[stranger, 404],
			[app, 403]
		] as const) {
			expect((await person.post(`/owner/routers/${router}/price`, fields)).status).toBe(status);
		}
		expect((await nobody.post(`/owner/routers/${router}/price`, fields)).status).toBe(401);
		await fixture().sql.run("update accounts set status = 'suspended' where id = ?", owner.accountId);
		expect((await owner.post(`/owner/routers/${router}/price`, fields)).status).toBe(403);
		expect((await owner.get('/owner')).text).toContain('This account is suspended.');
		expect(await fixture().sql.all('select * from routers where id = ?', router)).toEqual(before);
		for (const id of ['0', '-1', 'abc', '99999999999999999999', `${router}%2F..`]) {
			expect((await owner.get(`/owner/routers/${id}`)).status).toBe(404);
		}
	});

	it('load no framework, only the enhancement script', async () => {
		const owner = await newOwner(fixture());
		const { html } = await owner.get('/owner');
		expect(html.match(/<script type="module"/g)).toHaveLength(1);
		expect(html).not.toMatch(/rel="modulepreload"/);
	});
});

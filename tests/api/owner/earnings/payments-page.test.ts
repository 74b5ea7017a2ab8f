/** Pages of payments and earnings, and the CSV file: figures that are sums of a list. */
import { beforeAll, describe, expect, it } from 'vitest';
import { triesForgotten, type Browsing } from '../../../support/pages/browsing.ts';
import { addRouter, newOwner, signInOnOwnerPages, type Owner } from '../../../support/pages/owners.ts';
import { DATABASES, useFixture, type Fixture } from '../../../support/server/fixture.ts';

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
		expect(amountAfter(text, 'Your earnings')).toBe(250 - 25 + 500 - 50);
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

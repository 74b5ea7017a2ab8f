/**
 * The day of a café: cash for vouchers and mobile money, the till counted, the platform's part paid out, and the signed
 * statement of the month, which somebody checks without an installation, as one does who was sent the file.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { advanceToNoon } from '../../../support/gateways/watch.ts';
import { browse, fieldValue, type Page } from '../../../support/pages/browsing.ts';
import { addRouter, newOwner, newStaff, type Owner } from '../../../support/pages/owners.ts';
import { administratorOf } from '../../../support/pages/administrator.ts';
import { payOut, payoutsOf, setDestination } from '../../../support/pages/payouts.ts';
import { readQr } from '../../../support/pages/qr.ts';
import { redeem } from '../../../support/pages/vouchers.ts';
import { cli } from '../../../support/server/cli.ts';
import { useFixture } from '../../../support/server/fixture.ts';
import { amountAfter, earningsOf, rowsOf, sum } from './rows.ts';

const CODE = /[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}/;

describe('the day of a café', () => {
	const fixture = useFixture({ database: 'sqlite' });
	let owner: Owner;
	let folder: string;
	let file: Buffer;
	let transaction: string;
	let closed: Page;
	let printedPage: Page;

	const post = async (who: Owner, action: string, fields: Record<string, string>) => {
		const form = fieldValue(await who.get('/owner/vouchers'), 'form');
		return who.post(`/owner/vouchers?/${action}`, { form, ...fields });
	};
	const codeOf = ({ html }: Page) => CODE.exec(html)?.[0] ?? '';

	beforeAll(async () => {
		const { sql, server } = fixture();
		await advanceToNoon(fixture());
		owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId, { name: 'Corner, "Café"' });
		const { api } = await fixture().newKey({ accountId: owner.accountId, role: 'owner' });
		const offers = [
			{ name: 'Day', duration: '1d', price: 1000 },
			{ name: 'Hour', duration: '1h', price: 500 }
		];
		const set = await api.send('PUT', `/v1/owner/routers/${router}/offers`, { body: { offers } });
		const offer = `${router}:${(set.body as { data: { id: number }[] }).data[0]?.id}`;
		const manager = await newStaff(fixture(), owner, 'manager');

		// Three on paper for a shop: the manager takes the cash of one.
		const batch = await post(owner, 'make', { offer, size: '3', seller: 'Shop', commission: '10' });
		const printed = await owner.post(`${batch.path}?/print`, { paper: 'a4-24' });
		const [number = ''] = /(?<![\w-])V\d+(?![\w-])/.exec(printed.text) ?? [];
		await post(manager, 'mark', { number });
		await redeem(fixture().api, codeOf(printed));
		// One is sold on the phone, for later.
		await post(manager, 'sell', { offer });
		transaction = (await fixture().buy({ router_id: router })).payment.provider_reference ?? '';
		closed = await post(manager, 'close', { counted: '1,500', note: '' });

		// The platform pays what it has taken, by the operator's portal.
		await setDestination(sql, owner.accountId, '+256772000111');
		await payOut(server, { by: 'file' });
		const [payout] = await payoutsOf(sql, owner.accountId);
		const admin = await administratorOf(server);
		const paid = { id: String(payout?.['id']), outcome: 'paid', transaction: 'OUT-77', note: 'portal' };
		await admin.post('/admin/payouts?/record', paid);

		const page = await owner.get('/owner/money/statement');
		printedPage = await owner.get(
			/href="([^"]*&amp;lines)"/.exec(page.html)?.[1]?.replace('&amp;', '&') ?? ''
		);
		const address = /href="([^"]*signed)"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
		file = Buffer.from(await (await owner.raw(address)).arrayBuffer());
		folder = await mkdtemp(path.join(tmpdir(), 'airtill-statement-'));
		const keys = await browse(server.url).raw('/.well-known/airtill-statement-key');
		await writeFile(path.join(folder, 'key.pem'), await keys.text());
	});

	it('ends with the same money on the page, in the file, by the API and in the books', async () => {
		expect(closed.text).toContain('Counted UGX 1,500, expected UGX 2,000: −UGX 500');
		const { api } = await fixture().newKey({ accountId: owner.accountId, role: 'owner' });
		const { total } = await earningsOf(api, '?period=monthly');
		expect(total).toEqual({
			...{ sessions: 2, gross: 1500, refunds: 0, fees: 50, net: 1450 },
			// One voucher is not redeemed, 500 were missing, and the shop gets a tenth of what was sold of its batch.
			...{ owed: 450, cash: 1500, commission: 100 }
		});
		expect((await owner.get('/owner/money/payouts')).text.replaceAll('\u00a0', ' ')).toContain(
			'Not paid out yet UGX 0'
		);
		expect(amountAfter((await owner.get('/owner')).text, 'Your earnings · Today')).toBe(1450);
		const { text } = await owner.get('/owner/money');
		const shown = ['Your earnings', 'Mobile money', 'Cash in your till', 'Commission due to sellers'];
		expect(shown.map((label) => amountAfter(text, label))).toEqual([1450, 450, 1500, 100]);
		const lines = rowsOf(await (await owner.raw('/owner/money/export?period=monthly')).text());
		const rows = lines.filter((row) => row['Kind'] === 'payment');
		expect([sum(rows, 'Amount'), sum(rows, 'Fee'), sum(rows, 'Net')]).toEqual([1500, 50, 1450]);
		expect(rows.map((row) => row['Held by']).sort()).toEqual(['owner', 'platform']);
		const { env, databaseUrl } = fixture().server;
		const books = await cli(['books', 'check'], { env: { ...env, DATABASE_URL: databaseUrl } });
		expect(books).toMatchObject({ code: 0, stdout: expect.stringContaining('"problems":0') });
	});

	/** No database, no secret: only the file and the public key. */
	async function verify(bytes: Buffer, key = 'key.pem'): Promise<{ code: number; text: string }> {
		const [statement, pem] = [path.join(folder, 'statement.csv'), path.join(folder, key)];
		await writeFile(statement, bytes);
		const { code, stdout, stderr } = await cli(['statement', 'verify', statement, '--key', pem], { env: {} });
		return { code, text: stdout + stderr };
	}

	it('has a signed statement with its owner, its period and the operator’s transaction ids', async () => {
		const lines = file.toString('utf8').split('\r\n');
		expect(lines).toHaveLength(7);
		expect(transaction.length).toBeGreaterThan(5);
		expect(lines.slice(1, 3).join()).toContain(transaction);
		expect(lines[3]).toMatch(/payout \d+.*-450.*OUT-77/);
		expect(lines[4]).toContain(`"Statement","${owner.email}",`);
		expect(await verify(file)).toMatchObject({ code: 0, text: expect.stringContaining('as it was signed') });
	});

	it('has a statement on paper with the same ids, whose code proves its sums', async () => {
		const { text, html } = printedPage;
		for (const id of [transaction, 'OUT-77']) expect(text).toContain(id);
		const code = readQr(html) ?? '';
		const sums = ['gross 1500', 'fees 50', 'net 1450', 'owed 450', 'cash 1500', 'paid out 450'];
		for (const cell of [owner.email, 'payments 2', ...sums]) expect(code).toContain(`"${cell}"`);
		// As a phone or an editor saves it.
		for (const end of ['', '\n', '\r\n']) {
			const { text: said } = await verify(Buffer.from(code + end));
			expect(said).toContain('as it was signed');
			expect(said).toContain(`"Statement","${owner.email}",`);
			expect(said).toContain('"paid out 450"');
		}
		const better = Buffer.from(code.replace('net 1450', 'net 9450'));
		expect(await verify(better)).toMatchObject({ code: 1, text: expect.stringContaining('was changed') });
	});

	it('has a statement of which a changed byte, a missing line and an added one are found', async () => {
		const text = file.toString('latin1');
		const lines = text.split('\r\n');
		const changed = [
			...[30, Math.floor(text.length / 2), text.indexOf('"Statement"') + 14].map((at) => {
				const bytes = Buffer.from(file);
				bytes[at] = (bytes[at] ?? 0) ^ 1;
				return bytes;
			}),
			Buffer.from([...lines.slice(0, 1), ...lines.slice(2)].join('\r\n'), 'latin1'),
			Buffer.from([lines[0], lines[1], ...lines.slice(1)].join('\r\n'), 'latin1')
		];
		for (const bytes of changed) {
			expect(await verify(bytes)).toMatchObject({ code: 1, text: expect.stringContaining('was changed') });
		}
		expect((await verify(file.subarray(0, -1))).text).toContain('its end is missing');
	});

	it('has a statement that another key does not prove; a file without a key is refused', async () => {
		const other = Buffer.from(
			file
				.toString('latin1')
				.replace(/Ed25519,[0-9a-f]/, (start) => (start.endsWith('0') ? 'Ed25519,1' : 'Ed25519,0')),
			'latin1'
		);
		expect(await verify(other)).toMatchObject({ code: 1, text: expect.stringContaining('Another key') });
		const refused = await verify(file, 'statement.csv');
		expect([refused.code, refused.text.includes('holds no public key')]).toEqual([1, true]);
	});
});

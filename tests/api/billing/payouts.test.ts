/** Payouts to owners: the balance, where they go, runs, approval, and what a person sends with a file. */
import { beforeAll, describe, expect, it } from 'vitest';
import { acceptInvitation, administratorOf } from '../../support/pages/administrator.ts';
import { PASSWORD, fieldValue } from '../../support/pages/browsing.ts';
import { type Owner, addRouter, newOwner } from '../../support/pages/owners.ts';
import { payOut, payoutsOf, setDestination } from '../../support/pages/payouts.ts';
import { makeVouchers, redeem } from '../../support/pages/vouchers.ts';
import { cli } from '../../support/server/cli.ts';
import { BOTH_DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const HERE = '/owner/money/payouts';

describe.each(BOTH_DATABASES)('payouts on %s', (database) => {
	const fixture = useFixture({ database, env: { COMMISSION_BASIS_POINTS: '1000' } });
	const sql = () => fixture().sql;

	/** An owner with one sale of UGX 500, of which 450 are theirs. */
	async function newSeller(): Promise<{ owner: Owner; session: number; payment: number }> {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId);
		const { session, payment } = await fixture().buy({ router_id: router });
		return { owner, session: session.id, payment: payment.id };
	}
	const checkBooks = async () => {
		const { server } = fixture();
		const env = { ...server.env, DATABASE_URL: server.databaseUrl };
		const { code, stdout } = await cli(['books', 'check'], { env });
		return { code, stdout: stdout.split('\n').length > 2 ? stdout : '' };
	};
	const untilPaid = (owner: Owner) =>
		eventually('the owner is paid', async () => {
			await fixture().server.advance(3_000);
			const [payout] = await payoutsOf(sql(), owner.accountId);
			return payout?.['status'] === 'paid' && payout;
		});
	/** An owner whose balance a person has sent with a file, or is to send. */
	async function sendByFile() {
		const { owner } = await newSeller();
		await setDestination(sql(), owner.accountId, 'Bank of Kampala, 12345', 'bank');
		await payOut(fixture().server, { by: 'file' });
		const find = async () => (await payoutsOf(sql(), owner.accountId)).at(-1) ?? {};
		const { id, reference } = await find();
		return { owner, find, id: String(id), reference: String(reference) };
	}
	async function upload(csv: string): Promise<string> {
		const admin = await administratorOf(fixture().server);
		const form = new FormData();
		form.set('file', new Blob([csv]), 'portal.csv');
		form.set('note', 'from the portal');
		const headers = { origin: fixture().server.url };
		return (await admin.raw('/admin/payouts?/import', { method: 'POST', body: form, headers })).text();
	}
	const record = async (fields: Record<string, string>) =>
		(await administratorOf(fixture().server)).post('/admin/payouts?/record', { note: 'portal', ...fields });
	const balance = async (owner: Owner) =>
		/Not paid out yet (UGX [\d,.-]+|UGX 0)/.exec((await owner.get(HERE)).text.replaceAll('\u00a0', ' '))?.[1];

	describe('where they go', () => {
		let owner: Owner;
		beforeAll(async () => {
			({ owner } = await newSeller());
		});
		const enter = (address: string, password = PASSWORD) =>
			owner.post(HERE, { method: 'mtn_momo', address, password });

		it('needs the password and a mobile number, or a text for a bank', async () => {
			expect((await enter('0772 123456', 'another password')).text).toContain('password is wrong');
			expect((await enter('12345')).text).toContain('Enter a mobile number');
			expect(await sql().count('select count(*) from payout_destinations')).toBe(0);
		});

		it('counts after 24 hours, and each address of the owner hears of it', async () => {
			const mails = "select count(*) from notifications where kind = 'payout' and address = ?";
			const page = await enter('0772 123456');
			expect(page.path).toContain('done');
			expect(page.text).toContain('We do not know yet where to send your money');
			expect(await sql().count(mails, owner.email)).toBe(1);
			expect((await payOut(fixture().server)).preview.text).toContain('has changed where to send it');
			await fixture().server.advance(DAY_MS + 1_000);
			expect((await owner.get(HERE)).text).toContain('Payouts go to: MTN MoMo');
		});

		it('a change that is taken back in time is never used, and the same one again changes nothing', async () => {
			await enter('0772 999999');
			await enter('0772 123456');
			await enter('0772 123456');
			await fixture().server.advance(2 * DAY_MS);
			const { preview } = await payOut(fixture().server, { by: 'file' });
			expect(preview.text).toContain('+256772123456');
			expect(preview.text).not.toContain('+256772999999');
			expect(await sql().count('select count(*) from payout_destinations')).toBe(3);
		});
	});

	it('an operator sends the balance once: less the fee, without cash, and the books and the statement have it', async () => {
		const { owner } = await newSeller();
		const { codes } = await makeVouchers(fixture().owner, 5, 1, { seller: 'Shop', commission_percent: 10 });
		expect((await redeem(fixture().api, codes[0]?.code ?? '')).status).toBe(201);
		expect(await balance(owner)).toBe('UGX 450');
		await setDestination(sql(), owner.accountId, '+256772123456');
		await payOut(fixture().server);
		expect((await owner.get(HERE)).text).toContain('On its way to you');
		const paid = await untilPaid(owner);
		expect(paid).toMatchObject({ amount_minor: 450, operator: 'sandbox' });
		expect(await balance(owner)).toBe('UGX 0');
		expect((await payOut(fixture().server)).preview.text).not.toContain(owner.email);
		const transaction = String(paid['provider_reference']);
		expect((await owner.get('/owner/money/statement')).text).toContain(transaction);
		const file = await (await owner.raw('/owner/money/export?period=monthly&signed')).text();
		expect(file).toMatch(new RegExp(`,payout ${String(paid['id'])},.*,-450,.*${transaction},mtn_momo,owner`));
		expect(await checkBooks()).toEqual({ code: 0, stdout: '' });
	});

	it('a second form, a second run and two runs at once pay an owner once', async () => {
		const { owner } = await newSeller();
		await setDestination(sql(), owner.accountId, '+256772000333');
		const admin = await administratorOf(fixture().server);
		const previews = await Promise.all([1, 2].map(() => admin.get('/admin/payouts?preview=1&by=file')));
		await Promise.all(
			previews.flatMap((page) => {
				const fields = { run: fieldValue(page, 'run'), until: '', minimum: '', by: 'file', note: 'weekly' };
				return [1, 2].map(() => admin.post('/admin/payouts?/create', fields));
			})
		);
		expect(await payoutsOf(sql(), owner.accountId)).toHaveLength(1);
	});

	it('a run that is refused for its reason is shown again, as it was previewed', async () => {
		const { owner } = await newSeller();
		await setDestination(sql(), owner.accountId, '+256772123456');
		const admin = await administratorOf(fixture().server);
		const preview = await admin.get('/admin/payouts?preview=1&by=file&minimum=1');
		const [, action = ''] = /action="(\?\/create[^"]*)"/.exec(preview.html) ?? [];
		const fields = { run: fieldValue(preview, 'run'), until: '', minimum: '1', by: 'file', note: ' ' };
		const refused = await admin.post(`/admin/payouts${action.replaceAll('&amp;', '&')}`, fields);
		expect(refused.status).toBe(400);
		expect(refused.text).toContain(owner.email);
		expect(fieldValue(refused, 'minimum')).toBe('1');
		expect(await payoutsOf(sql(), owner.accountId)).toEqual([]);
	});

	it('a refused outcome stays in its form, to be corrected', async () => {
		const { id, find } = await sendByFile();
		const page = await record({ id, outcome: 'paid', transaction: ' ', note: 'seen in the portal' });
		expect(page.status).toBe(409);
		const [, form = ''] = page.html.split(`name="id" value="${id}"`);
		expect(form).toMatch(/^[^]*?value="paid"[^>]* checked/);
		expect(form).toMatch(/^[^]*?value="seen in the portal"/);
		expect(page.html).toMatch(new RegExp(`<details open[^>]*>(?:(?!</details>)[^])*name="id" value="${id}"`));
		expect(await find()).toMatchObject({ status: 'open' });
	});

	it('a person sends by file, and records what the portal says', async () => {
		const { owner, reference } = await sendByFile();
		const admin = await administratorOf(fixture().server);
		const file = await (await admin.raw('/admin/payouts/export')).text();
		expect(file).toContain(`${reference},${owner.email},bank,"Bank of Kampala, 12345",450,UGX,,`);
		expect(await upload(`Reference,Transaction ID,Status\n${reference},,Failed\n`)).toContain('1 failed');
		expect(await balance(owner)).toBe('UGX 450');
		await payOut(fixture().server, { by: 'file' });
		const again = String((await payoutsOf(sql(), owner.accountId))[1]?.['reference']);
		expect(again).not.toBe(reference);
		const answer = await upload(`Reference,Transaction ID,Status\n${again},BANK-77,\nnobody,BANK-78,Paid\n`);
		expect(answer).toContain('1 paid, 0 failed');
		expect(answer).toContain('there is no payout with the reference');
		expect(await upload(`Reference,Transaction ID,Transaction status\n${again},BANK-77,Paid\n`)).toContain(
			'1 paid'
		);
		expect(await upload(`Reference,Transaction ID,Status\n${again},BANK-79,Paid\n`)).toContain('is paid');
		expect(await balance(owner)).toBe('UGX 0');
		expect((await owner.get(HERE)).text).toContain('BANK-77');
		expect(await checkBooks()).toEqual({ code: 0, stdout: '' });
	});

	it.each(['Successful,Failed', 'Failed,Successful'])('a file ends each payout once: %s', async (order) => {
		const { owner, find, reference } = await sendByFile();
		const [first = '', second = ''] = order
			.split(',')
			.map((status) => `${reference},BANK-${reference},${status}`);
		const answer = await upload(`Reference,Transaction ID,Status\n${first}\n${second}\n${first}\n`);
		const status = order.startsWith('Failed') ? 'failed' : 'paid';
		expect(answer).toContain(`is ${status}. A file ends open payouts only`);
		expect(await find()).toMatchObject({ status });
		expect(await balance(owner)).toBe(status === 'paid' ? 'UGX 0' : 'UGX 450');
		expect(await checkBooks()).toEqual({ code: 0, stdout: '' });
	});

	it('a file that does not say what became of the payouts is refused, and so is a form', async () => {
		const { find, id, reference } = await sendByFile();
		const answer = await upload(`Reference,Transaction ID,State\n${reference},BANK-1,Failed\n`);
		expect(answer).toContain('The file has no column "Status".');
		for (const fields of [{ id }, { id, outcome: 'Paid', transaction: 'X-0' }]) {
			expect((await record(fields)).text).toContain('Outcome: choose one.');
		}
		expect(await find()).toMatchObject({ status: 'open' });
	});

	it('money that comes back is in the balance again, once', async () => {
		const { owner } = await newSeller();
		await setDestination(sql(), owner.accountId, '+256772123456');
		await payOut(fixture().server);
		const { id } = await untilPaid(owner);
		const of = { id: String(id) };
		expect((await record({ ...of, outcome: 'failed' })).status).toBe(200);
		expect(await balance(owner)).toBe('UGX 450');
		expect((await record({ ...of, outcome: 'paid', transaction: 'X-1' })).status).toBe(409);
		expect((await owner.get('/owner/money/statement')).text).toContain(
			'Failed. The money is in your balance'
		);
		expect(await checkBooks()).toEqual({ code: 0, stdout: '' });
	});

	it('a refund counts before the next payout, and less than nothing is not paid', async () => {
		const { owner, session, payment } = await newSeller();
		await setDestination(sql(), owner.accountId, '+256772123456');
		await owner.post(`/owner/customers/${session}?/refund`, { note: 'No Wi-Fi' });
		expect(await sql().count("select count(*) from payments where status = 'refund_pending'")).toBe(1);
		expect((await payOut(fixture().server)).preview.text).not.toContain(owner.email);
		await eventually('the refund arrives', async () => {
			await fixture().server.advance(1_000);
			return (await fixture().api.getPayment(payment)).status === 'refunded';
		});
		const { preview } = await payOut(fixture().server);
		expect(preview.text).not.toContain(owner.email);
		expect(await balance(owner)).toBe('UGX 0');
	});

	it('pays only what was sold until the chosen day, and no less than the minimum', async () => {
		const { owner } = await newSeller();
		await setDestination(sql(), owner.accountId, '+256772123456');
		for (const order of [{ until: '2020-01-31' }, { minimum: '451' }, { minimum: '1,000' }]) {
			expect((await payOut(fixture().server, order)).preview.text).not.toContain(owner.email);
		}
		expect((await payOut(fixture().server, { minimum: '450', by: 'file' })).preview.text).toContain(
			owner.email
		);
		expect((await payOut(fixture().server, { minimum: 'some' })).preview.text).toContain(
			'Smallest payout: "some" is not an amount; write it like 1,500.'
		);
	});
});

describe('payouts that a second administrator approves', () => {
	const fixture = useFixture({ database: 'sqlite', env: { PAYOUT_APPROVAL: '1' } });

	it('are sent only then, and not for more than is left', async () => {
		const { sql, server } = fixture();
		const sellers = await Promise.all(
			[1, 2].map(async () => {
				const owner = await newOwner(fixture());
				const router = await addRouter(fixture(), owner.accountId);
				const { session, payment } = await fixture().buy({ router_id: router });
				await setDestination(sql, owner.accountId, '+256772123456');
				return { owner, session, payment };
			})
		);
		const [first, second] = sellers;
		if (!first || !second) throw new Error('No sellers');
		const admin = await administratorOf(server);
		await payOut(server, {}, admin);
		const own = await admin.get('/admin/payouts');
		expect(own.text).toContain('Another administrator must approve it');
		const run = fieldValue(own, 'run');
		const shown = { count: fieldValue(own, 'count'), sum: fieldValue(own, 'sum') };
		expect(shown).toEqual({ count: '2', sum: '900' });
		for (const { owner } of sellers) expect(own.text).toContain(`${owner.email}`);
		expect(own.text).toContain('+256772123456');
		const approve = (person: typeof admin, fields = {}) =>
			person.post('/admin/payouts?/approve', { run, ...shown, ...fields, note: 'checked' });
		expect((await approve(admin)).text).toContain('You have made this run');
		await second.owner.post(`/owner/customers/${second.session.id}?/refund`, { note: 'No Wi-Fi' });
		await eventually('the refund arrives', async () => {
			await server.advance(1_000);
			return (await fixture().api.getPayment(second.payment.id)).status === 'refunded';
		});
		expect((await payoutsOf(sql, first.owner.accountId))[0]).toMatchObject({ status: 'proposed' });
		const [other] = await acceptInvitation(server, 'admin');
		for (const fields of [{ count: '1', sum: '450' }, { sum: '' }, { count: '3' }]) {
			expect((await approve(other, fields)).text).toContain('The run is not what was shown');
		}
		expect(await sql.count("select count(*) from payouts where status <> 'proposed'")).toBe(0);
		expect((await approve(other)).text).toContain('The run is approved');
		expect((await payoutsOf(sql, second.owner.accountId))[0]).toMatchObject({ status: 'cancelled' });
		await eventually('the other one is paid', async () => {
			await server.advance(3_000);
			return (await payoutsOf(sql, first.owner.accountId))[0]?.['status'] === 'paid';
		});
	});

	it('are not sent where the owner no longer wants them', async () => {
		const { sql, server } = fixture();
		const owner = await newOwner(fixture());
		await fixture().buy({ router_id: await addRouter(fixture(), owner.accountId) });
		await setDestination(sql, owner.accountId, '+256772123456');
		const admin = await administratorOf(server);
		await payOut(server, {}, admin);
		await setDestination(sql, owner.accountId, '+256772999999');
		const [other] = await acceptInvitation(server, 'admin');
		const page = await other.get('/admin/payouts');
		const fields = Object.fromEntries(['run', 'count', 'sum'].map((name) => [name, fieldValue(page, name)]));
		const { text } = await other.post('/admin/payouts?/approve', { ...fields, note: 'checked' });
		expect(text).not.toContain('The run is approved');
		expect(text).toContain('Nothing was approved');
		expect(await payoutsOf(sql, owner.accountId)).toMatchObject([{ status: 'cancelled' }]);
		await payOut(server, {}, admin);
		expect((await payoutsOf(sql, owner.accountId))[1]).toMatchObject({ address: '+256772999999' });
	});
});

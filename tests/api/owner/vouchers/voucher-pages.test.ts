/** The pages on which owners and staff make, print, sell and count vouchers. */
import { beforeAll, describe, expect, it } from 'vitest';
import { browse, fieldValue, type Page } from '../../../support/pages/browsing.ts';
import { addRouter, alertOf, newOwner, newStaff, type Owner } from '../../../support/pages/owners.ts';
import { redeem } from '../../../support/pages/vouchers.ts';
import { DATABASES, useFixture } from '../../../support/server/fixture.ts';
import { amountAfter } from '../earnings/rows.ts';

const OFFERS = JSON.stringify([
	{ id: 1, name: 'Day', duration: '1d', price_minor: 1000, active: true, max_devices: 3 },
	{ id: 2, name: 'Hour', duration: '1h', price_minor: 500, active: true }
]);
const CODE = /[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}/g;

describe.each(DATABASES)('vouchers on the owner pages, on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let cashier: Owner;
	let router: number;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		cashier = await newStaff(fixture(), owner, 'cashier');
		router = await addRouter(fixture(), owner.accountId, { offers: OFFERS });
	});

	const page = (who = owner) => who.get('/owner/vouchers');
	const post = async (who: Owner, action: string, fields: Record<string, string>) =>
		who.post(`/owner/vouchers?/${action}`, { form: fieldValue(await page(who), 'form'), ...fields });
	const sell = (who: Owner) => post(who, 'sell', { offer: `${router}:1` });
	const make = (fields: Record<string, string> = {}) =>
		post(owner, 'make', { offer: `${router}:1`, size: '3', seller: '', commission: '', ...fields });
	const print = async (at: string, fields: Record<string, string> = {}) => {
		const printed = fieldValue(await owner.get(at), 'printed');
		return owner.post(`${at}?/print`, { paper: 'a4-40', printed, ...fields });
	};
	const codesOf = ({ html }: Page) => [...new Set(html.match(CODE) ?? [])];
	const numbersOf = ({ text }: Page) => [...new Set(text.match(/(?<![\w-])V\d+(?![\w-])/g) ?? [])];
	const statusOf = async (number: string) => {
		const [row] = await fixture().sql.all('select * from vouchers where id = ?', Number(number.slice(1)));
		return row?.['status'];
	};

	it('a batch gets its codes with its print, and printing again voids only the unsold ones', async () => {
		const batch = await make({ size: '3', seller: 'Corner shop', commission: '10' });
		expect(batch.path).toMatch(/^\/owner\/vouchers\/\d+$/);
		expect(codesOf(batch)).toEqual([]);
		const printed = await print(batch.path);
		const codes = codesOf(printed);
		expect(codes).toHaveLength(3);
		expect(printed.html.match(/<svg/g)?.length).toBeGreaterThanOrEqual(3);
		expect(codesOf(await owner.get(batch.path))).toEqual([]);
		expect((await redeem(fixture().api, codes[0] ?? '')).status).toBe(201);

		const unconfirmed = await print(batch.path);
		expect([unconfirmed.status, codesOf(unconfirmed)]).toEqual([400, []]);
		const earlier = fieldValue(await owner.get(batch.path), 'printed');
		const again = await print(batch.path, { confirm: 'yes' });
		expect(codesOf(again)).toHaveLength(2);
		// A reload of that answer sends the form again, while its codes are on paper.
		const reloaded = await print(batch.path, { confirm: 'yes', printed: earlier });
		expect([reloaded.status, codesOf(reloaded)]).toEqual([400, []]);
		await fixture().api.refused('400 voucher_void', 'POST', '/v1/vouchers/redeem', {
			body: { code: codes[1] }
		});
		expect((await redeem(fixture().api, codesOf(again)[0] ?? '')).status).toBe(201);
		expect((await owner.get(batch.path)).text).toContain('Unsold: 1 · Sold: 0 · Used: 2 · Void: 2');
	});

	it('are offered with a word about a router that sells nothing, where nobody could redeem them', async () => {
		const venue = await newOwner(fixture());
		const closed = await addRouter(fixture(), venue.accountId, { offers: OFFERS });
		expect((await page(venue)).html).not.toContain('disabled</option>');
		await venue.post(`/owner/routers/${closed}?/sales`, { do: 'disable' });
		expect((await page(venue)).html).toMatch(/UGX.500.? · disabled<\/option>/);
	});

	it('names the devices that a buyer gets, if there are several: in the list, on the paper and at the sale', async () => {
		const seller = await newStaff(fixture(), owner, 'cashier');
		const batch = await make({ size: '1' });
		const sold = await sell(seller);
		for (const { text } of [batch, await print(batch.path), sold, await page(), await page(seller)])
			expect(text).toMatch(/Day\W{1,2} 3 devices/);
		expect((await post(seller, 'sell', { offer: `${router}:2` })).text).not.toContain('1 device');
	});

	it('of two prints at once the codes of one are valid', async () => {
		const batch = await make({ size: '2' });
		const sheets = await Promise.all([print(batch.path), print(batch.path)]);
		expect(sheets.map((sheet) => codesOf(sheet).length)).toContain(2);
		const id = Number(batch.path.split('/').at(-1));
		const unsold = "select count(*) from vouchers where status = 'unsold' and batch_id = ?";
		expect(await fixture().sql.count(unsold, id)).toBe(2);
	});

	it('a used voucher is found by its number, for a customer who lost the page', async () => {
		const seller = await newStaff(fixture(), owner, 'cashier');
		const sold = await sell(seller);
		const [number = ''] = numbersOf(sold);
		await redeem(fixture().api, codesOf(sold)[0] ?? '');
		const [row] = await fixture().sql.all('select * from vouchers where id = ?', Number(number.slice(1)));
		const found = await seller.get(`/owner/customers?q=${number.toLowerCase()}`);
		expect(found.html).toContain(`/owner/customers/${String(row?.['session_id'])}"`);
	});

	it('the cash of a used voucher goes back by hand: the owner and the buyer read nothing of mobile money', async () => {
		const seller = await newStaff(fixture(), owner, 'cashier');
		// An empty till is not shown.
		await sell(seller);
		const sold = await sell(seller);
		const buyer = browse(fixture().server.url);
		const code = codesOf(sold)[0] ?? '';
		const purchase = fieldValue(await buyer.get(`/redeem?code=${code}`), 'purchase');
		const bought = await buyer.post('/resume', { code, purchase });
		expect(bought.path).toMatch(/^\/s\//);
		const [number = ''] = numbersOf(sold);
		const [row] = await fixture().sql.all('select * from vouchers where id = ?', Number(number.slice(1)));
		const path = `/owner/customers/${String(row?.['session_id'])}`;
		const before = await owner.get(path);
		expect(before.text).toContain('Then return UGX 1,000');
		expect(before.text).not.toMatch(/settle that with|The operator cannot refund/);
		const till = async () => amountAfter((await owner.get('/owner/money')).text, 'Cash in your till');
		const held = await till();
		const payment = fieldValue(before, 'payment');
		const refunded = await owner.post(`${path}?/by-hand`, { note: 'It was slow', payment });
		expect(refunded.path).toBe(`${path}?done=by-hand`);
		expect(refunded.text).toContain('If the customer does not have the money yet, return it now.');
		expect(refunded.text).not.toContain('mobile-money balance');
		expect(await till()).toBe(held - 1000);
		const { text } = await buyer.get(bought.path);
		expect(text).toContain('The venue returns UGX 1,000 to you, for example in cash.');
		expect(text).not.toMatch(/mobile-money balance|was refunded to/);
	});

	it('a form that is sent twice makes one batch', async () => {
		const form = fieldValue(await page(), 'form');
		const [one, other] = [await make({ form }), await make({ form })];
		expect(other.path).toBe(one.path);
	});

	it.each([
		[{ size: '0' }, 'Enter a number from 1 to 1,000.'],
		[{ size: '1001' }, 'Enter a number from 1 to 1,000.'],
		[{ commission: '51' }, 'Enter a commission from 0 to 50 percent.'],
		[{ offer: `999999:1` }, 'Choose an offer.'],
		[{ offer: '' }, 'Choose an offer.']
	])('refuses a batch with %j', async (fields, why) => {
		const refused = await make(fields);
		expect(refused.status).toBeGreaterThanOrEqual(400);
		expect(alertOf(refused)).toContain(why);
	});

	it('refuses to sell and to print for the router of another owner', async () => {
		const other = await newOwner(fixture());
		const offer = `${await addRouter(fixture(), other.accountId, { offers: OFFERS })}:1`;
		for (const refused of [await post(owner, 'sell', { offer }), await make({ offer })])
			expect([refused.status, alertOf(refused)]).toEqual([409, 'Choose an offer.']);
	});

	it('a cashier sells one voucher now, sees the cash, and counts it', async () => {
		const sold = await sell(cashier);
		expect(sold.text).toContain('Take UGX 1,000 in cash.');
		const [code = ''] = codesOf(sold);
		expect((await page(cashier)).html).not.toContain(code);
		expect((await redeem(fixture().api, code)).status).toBe(201);
		await sell(cashier);
		expect((await page(cashier)).text).toContain(
			'UGX 2,000 Vouchers that you sold since your last count: 2.'
		);
		// Another person's cash is another one.
		expect((await page()).text).toContain('Vouchers that you sold since your last count: 0.');

		const form = fieldValue(await page(cashier), 'form');
		const close = () => post(cashier, 'close', { counted: '1,500', note: 'Gave change twice', form });
		expect((await close()).text).toContain('Counted UGX 1,500, expected UGX 2,000: −UGX 500');
		await close();
		expect(await fixture().sql.count('select count(*) from cash_closings')).toBe(1);
		expect((await page(cashier)).text).toContain('Vouchers that you sold since your last count: 0.');
		// The owner sees the counts of everybody.
		expect((await page()).text).toContain('Gave change twice');
		expect((await post(cashier, 'close', { counted: 'much' })).status).toBe(400);
	});

	it('the same sale form again, also at once, shows the code that the customer may have copied', async () => {
		const form = fieldValue(await page(cashier), 'form');
		const send = () => cashier.post('/owner/vouchers?/sell', { offer: `${router}:1`, form });
		const [first, other] = await Promise.all([send(), send()]);
		const again = await send();
		expect([numbersOf(other), numbersOf(again)]).toEqual([numbersOf(first), numbersOf(first)]);
		expect([codesOf(other), codesOf(again)]).toEqual([codesOf(first), codesOf(first)]);
		// After "Back" another offer is another sale.
		const hour = await cashier.post('/owner/vouchers?/sell', { offer: `${router}:2`, form });
		expect(hour.text).toContain('Hour');
		expect(numbersOf(hour)).not.toEqual(numbersOf(first));
		expect(codesOf(hour)).not.toEqual(codesOf(first));
		const [code = ''] = codesOf(first);
		// The database alone must not give the code.
		expect(JSON.stringify(await fixture().sql.all('select * from vouchers'))).not.toContain(form);
		expect((await redeem(fixture().api, code)).status).toBe(201);
		expect((await post(cashier, 'sell', { offer: `${router}:1`, form })).status).toBe(409);
	});

	it('a sale is cancelled by the person who has its cash, until the customer uses it', async () => {
		const sold = await sell(cashier);
		const [number = ''] = numbersOf(sold);
		const id = number.slice(1);
		const other = await newStaff(fixture(), owner, 'cashier');
		expect((await other.post('/owner/vouchers?/undo', { id })).status).toBe(409);
		expect(await statusOf(number)).toBe('sold');
		expect((await cashier.post('/owner/vouchers?/undo', { id })).path).toBe('/owner/vouchers?done=undo');
		expect(await statusOf(number)).toBe('void');

		const used = await sell(cashier);
		await redeem(fixture().api, codesOf(used)[0] ?? '');
		const refused = await cashier.post('/owner/vouchers?/undo', { id: (numbersOf(used)[0] ?? '').slice(1) });
		expect(alertOf(refused)).toContain('The customer has used this voucher already.');
	});

	it('a printed voucher is marked as sold by its number, once, and only by its own owner', async () => {
		const batch = await make({ size: '1' });
		const [number = ''] = numbersOf(await print(batch.path));
		const stranger = await newOwner(fixture());
		await addRouter(fixture(), stranger.accountId, { offers: OFFERS });
		expect((await stranger.post('/owner/vouchers?/mark', { number })).status).toBe(409);
		const marked = await cashier.post('/owner/vouchers?/mark', { number: number.toLowerCase() });
		expect(marked.path).toBe('/owner/vouchers?done=mark');
		expect(await statusOf(number)).toBe('sold');
		expect((await owner.post('/owner/vouchers?/mark', { number })).status).toBe(409);
		expect((await stranger.get(batch.path)).status).toBe(404);
		expect((await stranger.post(`${batch.path}?/void`)).status).toBe(404);
	});

	it('a cashier neither sells nor cancels the cards of a shop, nor a printed one in a pocket', async () => {
		const ofShop = numbersOf(await print((await make({ seller: 'Shop B' })).path))[0] ?? '';
		const refused = await post(cashier, 'mark', { number: ofShop });
		expect([refused.status, await statusOf(ofShop)]).toEqual([409, 'unsold']);
		expect(refused.text).toContain('Only a manager can mark it as sold.');
		const own = numbersOf(await print((await make()).path))[0] ?? '';
		expect((await post(cashier, 'mark', { number: own })).text).toContain('marked as sold');
		const kept = await post(cashier, 'undo', { id: own.slice(1) });
		expect([kept.status, await statusOf(own)]).toEqual([409, 'sold']);
		await post(owner, 'undo', { id: own.slice(1) });
		expect(await statusOf(own)).toBe('void');
	});

	it('the owner sees what each seller sold this month, and all vouchers in a file', async () => {
		const batch = await make({ size: '2', seller: 'Station kiosk', commission: '12.5' });
		const [code = ''] = codesOf(await print(batch.path));
		await redeem(fixture().api, code);
		const { text } = await page();
		expect(text).toMatch(/Station kiosk .*1 1 UGX 125 UGX 1,000/);
		const file = await owner.raw('/owner/vouchers/export');
		expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
		const lines = (await file.text()).split('\r\n');
		expect(lines.filter((line) => line.includes('Station kiosk')).map((line) => line.split(',')[9])).toEqual([
			...['unsold', 'redeemed']
		]);
		expect(lines.join()).not.toMatch(new RegExp(CODE.source));
		const money = await owner.get('/owner/money?period=daily');
		expect(money.text).toContain('Cash (voucher)');
	});
});

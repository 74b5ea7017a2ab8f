/** /resume over HTTP: what a browser without script sends and gets. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { connectUniFi, newMac, visitOf } from '../../support/gateways/consoles.ts';
import { browse } from '../../support/pages/browsing.ts';
import { buyAt, shownCode } from '../../support/pages/purchase.ts';
import { DATABASES, eventually, useFixture, type Fixture } from '../../support/server/fixture.ts';

/** Sends forms as a browser without script does, and says where answers lead. */
function forms(fixture: () => Fixture) {
	return {
		post: (path: string, fields: Record<string, string>, address = '192.0.2.1') =>
			fetch(fixture().server.url + path, {
				method: 'POST',
				redirect: 'manual',
				headers: { origin: fixture().server.url, accept: 'text/html', 'x-client-address': address },
				body: new URLSearchParams(fields)
			}),
		placeOf: (answer: Response) =>
			new URL(answer.headers.get('location') ?? '', fixture().server.url).pathname
	};
}

describe('resuming by code', () => {
	const fixture = useFixture({ database: 'sqlite', env: { ADDRESS_HEADER: 'x-client-address' } });
	const { post, placeOf } = forms(fixture);
	const get = (path: string) =>
		fetch(fixture().server.url + path, {
			redirect: 'manual',
			headers: { accept: 'text/html', 'x-client-address': '192.0.2.1' }
		});
	it.each([
		['/', '/resume'],
		// With the router, at which a voucher must be valid.
		['/r/3', '/resume?router=3'],
		['/r/999', '/resume'],
		['/nothing-here', '/resume'],
		['/am/r/3', '/am/resume?router=3']
	])('from %s one link leads there', async (path, place) => {
		expect(await (await get(path)).text()).toContain(`href="${place}"`);
	});

	it('a code opens its page in the chosen language; guesses are limited with an error page', async () => {
		const phone = numberEnding('003');
		const page = await buyAt(fixture().server.url, '/r/3', phone);
		const code = shownCode(await (await get(page)).text()) ?? '';
		expect(code).not.toBe('');

		const opened = await post('/resume', { code });
		expect([opened.status, placeOf(opened)]).toEqual([303, page]);
		// As it is copied from a receipt.
		expect(placeOf(await post('/sw/resume', { code: `Code: ${code.toLowerCase()}` }))).toBe(`/sw${page}`);
		expect(placeOf(await get(`/resume?code=${code}`))).toBe(page);

		// What is no code is no guess, and costs none.
		for (const typed of ['', 'hello', 'K7MQ']) {
			const answer = await post('/resume', { code: typed });
			expect(answer.status).toBe(typed === '' ? 400 : 404);
		}
		const unknown = await post('/resume', { code: 'ZZZZ-ZZZZ' });
		expect(unknown.status).toBe(404);
		expect(await unknown.text()).toContain('We can’t find this code.');

		for (let guess = 0; guess < 6; guess += 1) {
			expect((await post('/resume', { code: 'ZZZZ-ZZZZ' })).status).toBe(404);
		}
		// The eleventh of this minute, though it is right: whoever used the others up knows no number that paid.
		const limited = await post('/resume', { code });
		expect(limited.status).toBe(429);
		expect((await post('/resume', { code, phone: numberEnding('003') })).status).toBe(404);
		expect(placeOf(await post('/resume', { code, phone }))).toBe(page);
		expect((await get(page)).status).toBe(200);
		await fixture().server.advance(61_000);
		expect((await post('/resume', { code })).status).toBe(303);
	});

	it('codes that many networks try at once do not keep a buyer who knows the number that paid, in any form, from the purchase', async () => {
		await fixture().server.advance(61_000);
		const phone = numberEnding('001');
		const page = await buyAt(fixture().server.url, '/r/3', phone);
		const code = await eventually('the page has a code', async () =>
			shownCode(await (await fetch(fixture().server.url + page)).text())
		);
		for (let guess = 0; guess < 60; guess += 1) {
			const address = `192.0.2.${100 + Math.floor(guess / 10)}`;
			expect((await post('/resume', { code: 'ZZZZ-ZZZZ' }, address)).status).toBe(404);
		}

		for (const asked of [code, 'XXXX-XXXX']) {
			const crowded = await post('/resume', { code: asked });
			expect(crowded.status).toBe(429);
			const html = await crowded.text();
			expect(html).toContain('name="phone"');
			expect(html).toContain(`value="${asked}"`);
		}
		for (const wrong of [
			{ code, phone: numberEnding('002') },
			{ code: 'XXXX-XXXX', phone },
			{ code, phone: 'no number' }
		]) {
			const refused = await post('/resume', wrong);
			expect(refused.status).toBe(404);
			expect(await refused.text()).toContain('do not match');
		}
		for (const typed of [phone, phone.replace('+256', '0'), `${phone.slice(0, 7)} ${phone.slice(7)}`]) {
			expect(placeOf(await post('/resume', { code, phone: typed }))).toBe(page);
		}
	});
});

describe.each(DATABASES)('a buyer who saw no code, on %s', (database) => {
	const fixture = useFixture({
		database,
		env: { ADDRESS_HEADER: 'x-client-address' }
	});
	const { post, placeOf } = forms(fixture);

	/** Buys an hour at router 3; the payment's transaction is known. */
	async function buy() {
		const phone = numberEnding('008');
		const page = await buyAt(fixture().server.url, '/r/3', phone);
		const payment = await eventually('the payment succeeds', async () => {
			const [row] = await fixture().sql.all(
				"select id, session_id, provider_reference from payments where status = 'success' and phone = ? order by id desc",
				phone
			);
			return row;
		});
		return { phone, page, transaction: String(payment['provider_reference']), id: Number(payment['id']) };
	}

	/** Each try is from a network of its own. */
	let networks = 0;
	const open = (transaction: string, phone: string) => {
		networks += 1;
		return post('/resume', { code: transaction, phone }, `198.51.100.${networks}`);
	};
	const isUnknown = async (transaction: string, phone: string) => {
		const answer = await open(transaction, phone);
		expect(answer.status).toBe(404);
		expect(await answer.text()).toContain(
			'We can’t find a payment with this transaction ID and this number.'
		);
	};
	const change = (id: number, column: string, value: string | number) =>
		fixture().sql.run(`update payments set ${column} = ? where id = ?`, value, id);

	it('opens the page by the transaction ID and the number that paid, however they are typed', async () => {
		const { phone, page, transaction } = await buy();
		const spaced = ` ${transaction.slice(0, 4)} ${transaction.slice(4).toLowerCase()}`;
		for (const [typed, number] of [
			[transaction, phone],
			[spaced, phone.replace('+256', '0')],
			[`\u200e${transaction}.`, `\u202a${phone}\u202c`],
			// The ID of a message stands after its amount and its merchant.
			[
				`Y'ello. You have paid UGX 500 to AIRTILL on 2026-11-28 at 10:20:31. ID: ${transaction}. Thank you.`,
				phone
			]
		] as const) {
			const opened = await open(typed, number);
			expect([opened.status, placeOf(opened)]).toEqual([303, page]);
		}
		expect((await open('', phone)).status).toBe(400);
	});

	it('and the page of the purchase for time added to it', async () => {
		const { page, phone } = await buy();
		const other = numberEnding('008');
		const added = {
			time: '1h 500',
			paymentMethod: 'mobile_money',
			phone: other,
			purchase: 'added-test-token-1234567'
		};
		expect(placeOf(await post(`${page}?/extend`, added))).toBe(page);
		const [row] = await eventually('the added time is paid', async () => {
			const rows = await fixture().sql.all(
				"select provider_reference from payments where status = 'success' and phone = ?",
				other
			);
			return rows.length > 0 && rows;
		});
		expect(placeOf(await open(String(row?.['provider_reference']), other))).toBe(page);
		await isUnknown(String(row?.['provider_reference']), phone);
	});

	it('has one answer for all that opens nothing', async () => {
		const { phone, transaction, id, page } = await buy();
		await isUnknown(transaction, numberEnding('008'));
		await isUnknown(`${transaction}1`, phone);
		await isUnknown('no transaction\0', phone);
		await change(id, 'status', 'failed');
		await isUnknown(transaction, phone);
		await change(id, 'status', 'refunded');
		expect(placeOf(await open(transaction, phone))).toBe(page);
		const token = page.split('/').at(-1);
		const hash = createHash('sha256').update(String(token)).digest('hex');
		await fixture().sql.run(
			'update purchases set updated_at = updated_at - ? where token_hash = ?',
			61 * 24 * 60 * 60 * 1000,
			hash
		);
		await isUnknown(transaction, phone);
	});

	it('of two payments with one ID gets the one whose number matches, and none if both do', async () => {
		const [first, second] = [await buy(), await buy()];
		await change(second.id, 'provider_reference', first.transaction);
		expect(placeOf(await open(first.transaction, first.phone))).toBe(first.page);
		expect(placeOf(await open(first.transaction, second.phone))).toBe(second.page);
		await change(second.id, 'phone', first.phone);
		await isUnknown(first.transaction, first.phone);
	});

	it('opens by the right pair after any number of wrong ones, which then wait for each other', async () => {
		const { phone, page, transaction } = await buy();
		const from = (
			network: string,
			{ transaction: code, phone: number }: { transaction: string; phone: string }
		) => post('/resume', { code, phone: number }, network);
		// Five for a number from one network, ten from all.
		for (let tries = 0; tries < 5; tries += 1)
			expect((await from('203.0.113.9', { transaction: `GUESS${tries}`, phone })).status).toBe(404);
		for (let tries = 5; tries < 10; tries += 1) await isUnknown(`GUESS${tries}`, phone);
		const since = performance.now();
		await isUnknown('GUESS10', phone);
		expect(placeOf(await from('203.0.113.9', { transaction, phone }))).toBe(page);
		expect(performance.now() - since).toBeGreaterThan(4_500);
		const many = await Promise.all(
			Array.from({ length: 9 }, (_, at) => from(`203.0.114.${at}`, { transaction: 'GUESS', phone }))
		);
		const refused = many.filter(({ status }) => status === 429);
		expect(refused.length).toBeGreaterThan(1);
		expect(await refused[0]?.text()).toContain('Your purchase is safe.');
	}, 120_000);

	it('has tries of its own in each captive session, because a venue can share one address', async () => {
		await connectUniFi(fixture());
		const { phone, page, transaction } = await buy();
		const fields = { code: transaction, phone };
		for (let count = 0; count < 10; count += 1) await post('/resume', { code: 'ZZZZ-ZZZZ' }, '203.0.113.8');
		const tryFrom = (visit: string) => post(`/resume?visit=${visit}`, fields, '203.0.113.8');
		// Without one the right pair opens it too, after its turn.
		for (const visit of ['', 'no-captive-session-12345']) expect((await tryFrom(visit)).status).toBe(303);
		const opened = await tryFrom(await visitOf(browse(fixture().server.url), newMac()));
		expect([opened.status, placeOf(opened)]).toEqual([303, page]);
	});

	it('shares the tries of a network with codes', async () => {
		const tries = [];
		for (let count = 0; count < 11; count += 1) {
			const fields =
				count % 2 ? { code: 'ZZZZ-ZZZZ' } : { code: `GUESS-${count}`, phone: numberEnding('008') };
			tries.push((await post('/resume', fields, '203.0.113.7')).status);
		}
		expect(tries).toEqual(Array.from({ length: 11 }, () => 404));
		expect((await post('/resume', { code: 'ZZZZ-ZZZZ' }, '203.0.113.7')).status).toBe(429);
	});
});

/** Vouchers on the pages of buyers, as a browser without script uses them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { connectUniFi, newMac, unifiEntry, UNIFI_ROUTER } from '../../support/gateways/consoles.ts';
import { browse, fieldValue, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { makeVouchers } from '../../support/pages/vouchers.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const ROUTER = 5;
const MINUTE = 60_000;

describe('a voucher on the pages of buyers', () => {
	const fixture = useFixture({ database: 'sqlite' });
	const newCode = async (router = ROUTER) => {
		const { codes } = await makeVouchers(fixture().owner, router, 1);
		return codes[0]?.code ?? '';
	};
	const person = () => browse(fixture().server.url);
	const isUnsold = async (code: string) => {
		const page = await person().get(`/resume?code=${code}`);
		return page.text.includes('Your time starts when you press the button');
	};

	/** Types a code into the one field for codes. */
	async function type(who: Browsing, code: string, at = '/resume') {
		const page = await who.get(at);
		return who.post(at, { code, purchase: fieldValue(page, 'purchase') });
	}

	it('the address in its QR code waits for a press, so that nothing that only opens it starts the time', async () => {
		const code = await newCode();
		const before = await fixture().sql.count('select count(*) from sessions');
		const page = await person().get(`/redeem?code=${code}`);
		expect(page.path).toBe(`/resume?code=${code}`);
		expect(page.html).toContain(`value="${code}"`);
		expect(page.text).toContain('Start my time');
		expect(await isUnsold(code)).toBe(true);
		expect(await fixture().sql.count('select count(*) from sessions')).toBe(before);
	});

	it('its code in the field for codes starts the time, and the page of the purchase has a code of its own', async () => {
		const page = await type(person(), await newCode());
		expect(page.path).toMatch(/^\/s\/[\w-]{24}$/);
		expect(page.text).toContain('Your Wi‑Fi is paid until');
		expect(page.text).toContain('Cash (voucher)');
		// Nor does the form for more time have the number that stands for none.
		const more = await person().get(`${page.path}?more`);
		expect(more.html).toMatch(/name="phone"/);
		expect(more.html).not.toContain('9990000000');
		const code = /class="large"[^>]*>.*?([0-9A-Z]{4}-[0-9A-Z]{4})</s.exec(page.html)?.[1];
		const [row] = await fixture().sql.all('select code_hash from purchases order by id desc limit 1');
		expect(row?.['code_hash']).not.toBeNull();
		if (code) expect((await type(person(), code)).path).toBe(page.path);
	});

	it('a form that is sent twice, at once or later, leads to the same purchase', async () => {
		const code = await newCode();
		const purchase = fieldValue(await person().get('/resume'), 'purchase');
		const send = () => person().post('/resume', { code, purchase });
		const [one, other] = await Promise.all([send(), send()]);
		const later = await send();
		expect([other.path, later.path]).toEqual([one.path, one.path]);
		expect(one.path).toMatch(/^\/s\//);
	});

	it('opens its purchase again where it was redeemed, as the answer may have been lost; later it says that it was used', async () => {
		const code = await newCode();
		const [one, other] = await Promise.all([type(person(), code), type(person(), code)]);
		expect([one.status, other.path]).toEqual([200, one.path]);
		expect((await type(person(), code)).path).toBe(one.path);
		await fixture().server.advance(5 * MINUTE);
		const late = await type(person(), code);
		expect([late.status, late.path]).toEqual([409, '/resume']);
		expect(late.text).toContain('This voucher has been used already');
	});

	it('one form buys two purchases with two vouchers', async () => {
		const purchase = fieldValue(await person().get('/resume'), 'purchase');
		const [first, second] = [await newCode(), await newCode()];
		const one = await person().post('/resume', { code: first, purchase });
		const other = await person().post('/resume', { code: second, purchase });
		expect(other.path).toMatch(/^\/s\//);
		expect(other.path).not.toBe(one.path);
	});

	it('adds its time to the running pass on whose page it is typed, and opens that page to nobody else', async () => {
		const buyer = person();
		const page = await type(buyer, await newCode());
		const code = await newCode();
		const sendTyped = (typed: string, purchase = '') =>
			buyer.post(`${page.path}?/voucher`, { code: typed, purchase });
		// As it is pasted from a message.
		const add = (form: Page) => sendTyped(`Your voucher: ${code}, valid today`, fieldValue(form, 'purchase'));
		const more = await buyer.get(`${page.path}?more`);
		const [added, again] = await Promise.all([add(more), add(more)]);
		expect([added.path, again.path]).toEqual([page.path, page.path]);
		const [one, other] = await fixture().sql.all('select * from sessions order by id desc limit 2');
		expect([one?.['pass_id'], one?.['extends_session_id']]).toEqual([other?.['pass_id'], other?.['id']]);
		expect(Number(one?.['starts_at'])).toBe(Number(other?.['expires_at']));
		expect((await type(person(), code)).status).toBe(409);
		// On another page, the corrected code would begin a second pass.
		for (const typed of ['K7MQ-29XT-4HWB', 'k7mq29xt4hw', 'K7MQ-29XT', 'hello']) {
			const unknown = await sendTyped(typed);
			expect([unknown.status, unknown.text.includes('We can’t find this voucher')]).toEqual([404, true]);
			expect(unknown.html).toContain('href="/resume"');
		}
		const third = await newCode();
		expect((await sendTyped(`${fixture().server.url}/redeem?code=${third}`)).path).toBe(page.path);
		expect((await type(person(), third)).status).toBe(409);
	});

	it('of another speed adds no time to a pass and stays valid; begins a pass once the time is over', async () => {
		const buyer = person();
		const page = await type(buyer, await newCode());
		const code = await newCode();
		const add = () => buyer.post(`${page.path}?/voucher`, { code, purchase: '' });
		await fixture().sql.run('update passes set speed_down_kbps = 512');
		const refused = await add();
		expect([refused.status, refused.text.includes('has another speed or data limit')]).toEqual([409, true]);
		expect(await isUnsold(code)).toBe(true);
		await fixture().server.advance(25 * 60 * MINUTE);
		const begun = await add();
		expect(begun.path).toMatch(/^\/s\//);
		expect(begun.path).not.toBe(page.path);
		expect(begun.text).toContain('Your Wi‑Fi is paid until');
	});

	it('on the page of another router it is not used, and the page names its place', async () => {
		const code = await newCode();
		const refused = await type(person(), code, '/resume?router=3');
		expect(refused.status).toBe(409);
		const { name } = await fixture().api.getRouter(ROUTER);
		expect(refused.text).toContain(
			`This voucher is for \u2068${name}\u2069`.replaceAll(/[\u2068\u2069]/g, '')
		);
		expect(await isUnsold(code)).toBe(true);
	});

	it('works at a kiosk, whose next visitor does not get it', async () => {
		const code = await newCode();
		const start = await person().get(`/kiosk/${ROUTER}`);
		expect(start.html).toContain(`href="/kiosk/${ROUTER}/redeem"`);
		const page = await type(person(), code, `/kiosk/${ROUTER}/redeem`);
		expect(page.path).toMatch(/^\/s\/[\w-]{24}\/kiosk$/);
		expect(page.text).toContain('3 devices');
		expect((await type(person(), code, `/kiosk/${ROUTER}/redeem`)).status).toBe(409);
		const wrong = await type(person(), 'K7MQ', `/kiosk/${ROUTER}/redeem`);
		expect([wrong.status, wrong.text.includes('We can’t find this voucher')]).toEqual([404, true]);
	});

	it('wrong codes are limited for each network, and the right one still works', async () => {
		await fixture().server.advance(MINUTE);
		for (let guess = 0; guess < 10; guess += 1)
			expect((await type(person(), 'ZZZZ-ZZZZ-ZZZZ')).status).toBe(404);
		const page = await type(person(), await newCode());
		expect(page.path).toMatch(/^\/s\//);
	});
});

describe('a voucher behind a console', () => {
	const fixture = useFixture({ database: 'sqlite' });
	let console: UniFiConsole;
	beforeAll(async () => {
		console = await connectUniFi(fixture());
	});
	afterAll(() => console.stop());

	/** Redeems on the splash page of a device. */
	async function redeemOn(mac: string, code: string, who = browse(fixture().server.url)) {
		const splash = await who.get(unifiEntry(mac));
		const path = /href="(\/resume\?visit=[^"]+)"/.exec(splash.html)?.[1] ?? '';
		const page = await who.get(path);
		const action = /<form method="post" action="([^"]+)"/.exec(page.html)?.[1] ?? '';
		return who.post(action, { code, purchase: fieldValue(page, 'purchase') });
	}

	it('connects the device that redeems it, leads it back, and is valid again if no gateway connects it', async () => {
		const { codes } = await makeVouchers(fixture().owner, UNIFI_ROUTER, 2);
		const [used, lost] = codes.map(({ code }) => code);
		const mac = newMac();
		console.join(mac);
		const page = await redeemOn(mac, used ?? '');
		expect(page.path).toMatch(/^\/s\/[\w-]{24}\/[0-9a-f]{24}$/);
		await eventually('the device is in', async () => console.isIn(mac));
		expect((await redeemOn(mac, used ?? '')).path.slice(0, 27)).toBe(page.path.slice(0, 27));
		expect((await redeemOn(newMac(), used ?? '')).status).toBe(409);

		console.fail('down');
		const other = newMac();
		const waiting = await redeemOn(other, lost ?? '');
		expect(waiting.path).toMatch(/^\/s\//);
		const session = () => fixture().sql.all('select * from sessions order by id desc limit 1');
		expect((await session())[0]).toMatchObject({ status: 'active', payment_method: 'voucher' });
		await fixture().server.advance(11 * MINUTE);
		await eventually(
			'the session is cancelled',
			async () => (await session())[0]?.['status'] === 'cancelled'
		);
		const shown = await browse(fixture().server.url).get(waiting.path);
		expect(shown.text).toContain('Your voucher is valid again.');
		expect(shown.text).not.toContain('refunded to');
		const vouchers = await fixture().sql.all('select status, session_id from vouchers order by id');
		expect(vouchers).toMatchObject([{ status: 'redeemed' }, { status: 'sold', session_id: null }]);
		expect(await fixture().sql.all("select actor from audit_log where action = 'voucher.restored'")).toEqual([
			{ actor: 'access' }
		]);
		expect(await fixture().sql.count('select count(*) from refunds')).toBe(0);
		expect(await fixture().sql.count('select count(*) from reviews')).toBe(0);

		console.heal();
		await fixture().server.advance(MINUTE);
		console.join(other);
		await eventually('the router sells again', async () => {
			const again = await redeemOn(other, lost ?? '');
			return again.path.startsWith('/s/') && again.path.slice(0, 27) !== waiting.path.slice(0, 27);
		});
		await eventually('the device is in', async () => console.isIn(other));
	});

	it('of a device whose time runs adds to it, and to that of no other device', async () => {
		const { codes } = await makeVouchers(fixture().owner, UNIFI_ROUTER, 4);
		const [first = '', second = '', third = '', faster = ''] = codes.map(({ code }) => code);
		const [mac, other] = [newMac(), newMac()];
		for (const one of [mac, other]) console.join(one);
		const page = await redeemOn(mac, first);
		await eventually('the device is in', async () => console.isIn(mac));
		const added = await redeemOn(mac, second);
		expect(added.path.slice(0, 27)).toBe(page.path.slice(0, 27));
		expect((await redeemOn(other, third)).path.slice(0, 27)).not.toBe(page.path.slice(0, 27));
		const sessions = await fixture().sql.all('select * from sessions order by id desc limit 3');
		const [apart, later, running] = sessions;
		expect([later?.['extends_session_id'], later?.['pass_id']]).toEqual([
			running?.['id'],
			running?.['pass_id']
		]);
		expect(later?.['starts_at']).toBe(running?.['expires_at']);
		expect(apart).toMatchObject({ extends_session_id: null });
		// Nobody asked for the sum of the two: who bought more speed has it at once.
		await fixture().sql.run('update passes set speed_down_kbps = 512');
		const begun = await redeemOn(mac, faster);
		expect(begun.path).toMatch(/^\/s\//);
		expect(begun.path.slice(0, 27)).not.toBe(page.path.slice(0, 27));
	});
});

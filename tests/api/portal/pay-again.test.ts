/** Paying again: at the price of its offer, also when that is not sold any more; for the device that bought first. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { connectUniFi, newMac, unifiEntry, visitOf } from '../../support/gateways/consoles.ts';
import { registerGateway } from '../../support/gateways/gateways.ts';
import { ndsEntry, sha256 } from '../../support/gateways/opennds.ts';
import { browse, fieldValue, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { shownCode } from '../../support/pages/purchase.ts';
import { buyHourHere, buyHourOn, pathOf } from '../../support/pages/splash.ts';
import { DATABASES, eventually, startFixture, useFixture } from '../../support/server/fixture.ts';

const ROUTER = 4;
const DAY = { name: 'Day', duration: '1d', price: 1000 };
const FAMILY = { name: 'Family day', duration: '1d', price: 1500, max_devices: 3 };

describe.each(DATABASES)(
	'buying again with another number while the first one is asked, on %s',
	(database) => {
		const fixture = useFixture({ database });
		let person: Browsing;
		let path: string;
		let form: Record<string, string>;

		/** @param phone the wrong number, which is asked */
		async function askWrong(phone: string): Promise<void> {
			person = browse(fixture().server.url);
			const shop = await person.get('/r/3');
			const order = { time: '1h 500', paymentMethod: 'mtn_momo', phone };
			({ path } = await person.post('/r/3', { ...order, purchase: fieldValue(shop, 'purchase') }));
			expect((await person.get(path)).html).toContain(`href="${path}?again"`);
			const page = await person.get(`${path}?again`);
			// It would empty the form.
			expect(page.html).not.toContain('http-equiv="refresh"');
			form = givenBy(page);
		}
		const newest = () => fixture().sql.all('select status from payments order by id desc limit 2');
		const statuses = async () => (await newest()).map(({ status }) => String(status)).reverse();
		const sessions = async () => {
			const rows = await fixture().sql.all('select status from sessions order by id desc limit 2');
			return rows.map(({ status }) => String(status)).reverse();
		};

		it('the first order is given up, so a late approval of it goes back', async () => {
			await askWrong(numberEnding('004'));
			const bought = await person.post(`${path}?/retry`, form);
			const again = await person.post(`${path}?/retry`, form);
			expect([again.path, bought.path === path]).toEqual([bought.path, false]);
			expect((await person.get(path)).path).toBe(bought.path);
			await eventually('the second one runs', async () =>
				(await person.get(bought.path)).text.includes('Your Wi‑Fi is paid until')
			);
			await fixture().server.advance(11 * 60_000);
			await eventually('the first one goes back', async () => {
				await fixture().server.advance(3_000);
				return (await statuses()).join() === 'refunded,success';
			});
			expect(await sessions()).toEqual(['cancelled', 'active']);
		});

		it('an approval that comes before it is the purchase, and nobody else is asked', async () => {
			await askWrong(numberEnding('006'));
			const before = await fixture().sql.count('select count(*) from payments');
			await fixture().server.advance(31_000);
			await eventually('the first one is paid', async () => (await statuses()).at(-1) === 'success');
			const page = await person.post(`${path}?/retry`, form);
			expect(page.path).toBe(path);
			expect(page.text).toContain('Your Wi‑Fi is paid until');
			expect(await fixture().sql.count('select count(*) from payments')).toBe(before);
		});
	}
);

const givenBy = (page: Page) => ({
	...{ quoted: fieldValue(page, 'quoted'), instead: fieldValue(page, 'instead') },
	...{ paymentMethod: 'mtn_momo', phone: numberEnding('456') }
});

it.each(DATABASES)(
	'an earlier payment without an answer is still waited for after the next one was declined, on %s',
	async (database) => {
		const fixture = await startFixture({ database });
		try {
			const person = browse(fixture.server.url);
			const shop = await person.get('/r/3');
			const order = { time: '1h 500', paymentMethod: 'mtn_momo', phone: numberEnding('003') };
			const { path } = await person.post('/r/3', { ...order, purchase: fieldValue(shop, 'purchase') });
			await fixture.server.advance(11 * 60_000);
			const waits = 'We are still waiting for your MTN MoMo payment.';
			await eventually('the first one has no answer', async () =>
				(await person.get(path)).text.includes(waits)
			);
			const declined = { paymentMethod: 'mtn_momo', phone: numberEnding('001'), quoted: '500' };
			await person.post(`${path}?/retry`, declined);
			await eventually('the second one is declined', async () => {
				const [row] = await fixture.sql.all('select status from payments order by id desc limit 1');
				return row?.['status'] === 'failed';
			});
			const page = await person.get(path);
			expect(page.text).toContain(waits);
			expect(page.text).toContain('Payment declined, or the PIN was wrong.');
			expect(page.text).not.toContain('You have not been charged');
			expect(shownCode(page.html)).toBeDefined();
			const fresh = await person.get('/r/3');
			const other = { ...order, phone: declined.phone, purchase: fieldValue(fresh, 'purchase') };
			expect((await person.post('/r/3', other)).text).toContain(
				'There is a recent order for this number here.'
			);
		} finally {
			await fixture.stop();
		}
	}
);

const fixture = useFixture({ database: 'sqlite' });
let person: Browsing;
beforeAll(() => {
	person = browse(fixture().server.url);
});

describe('a declined payment for an offer', () => {
	const ownerSets = (offers: readonly object[]) =>
		fixture().owner.send('PUT', `/v1/owner/routers/${ROUTER}/offers`, { body: { offers } });

	let path: string;
	const phone = numberEnding('001');

	beforeEach(async () => {
		const { body } = await ownerSets([DAY, FAMILY]);
		const family = (body as { data: { id: number }[] }).data[1]?.id;
		const shop = await person.get(`/r/${ROUTER}`);
		const ordered = await person.post(`/r/${ROUTER}`, {
			...{ time: `1d 1500 ${family}`, paymentMethod: 'mtn_momo', phone },
			purchase: fieldValue(shop, 'purchase')
		});
		path = ordered.path;
		await shown('Payment declined, or the PIN was wrong.');
	});

	const shown = (text: string): Promise<Page> =>
		eventually(`the page says ${text}`, async () => {
			const page = await person.get(path);
			return page.text.includes(text) ? page : null;
		});
	const methods = ({ html }: Page) =>
		[...html.matchAll(/name="paymentMethod" value="(\w+)"/g)].map(([, method]) => method);
	const again = (fields: object = {}) =>
		person.post(`${path}?/retry`, { paymentMethod: 'mtn_momo', phone, quoted: '1500', ...fields });
	const payments = () =>
		fixture().sql.all(
			'select amount_minor from payments where session_id = (select max(id) from sessions) order by id'
		);

	it('fills in a number of another country with its code, so that it asks the same payer', async () => {
		const { body } = await ownerSets([DAY]);
		const [{ id } = { id: 0 }] = (body as { data: { id: number }[] }).data;
		const shop = await person.get(`/r/${ROUTER}`);
		const ordered = await person.post(`/r/${ROUTER}`, {
			...{ time: `1d 1000 ${id}`, paymentMethod: 'mtn_momo', phone: '00254 712 345001' },
			purchase: fieldValue(shop, 'purchase')
		});
		path = ordered.path;
		const page = await shown('Payment declined, or the PIN was wrong.');
		expect(fieldValue(page, 'phone')).toBe('+254 712 345001');
		expect(page.text).toMatch(/\+254\s712\s•••\s001/);
		await person.post(`${path}?/retry`, {
			paymentMethod: 'mtn_momo',
			phone: fieldValue(page, 'phone'),
			quoted: '1000'
		});
		const asked = await fixture().sql.all('select phone from payments order by id desc limit 2');
		expect(asked.map(({ phone }) => phone)).toEqual(['+254712345001', '+254712345001']);
	});

	it('names that offer and its price; both stay after the offer is gone, with its own payment method', async () => {
		for (const shown of [path, `${path}/kiosk`]) {
			const page = await person.get(shown);
			expect(page.text).toMatch(/Family day, 1 day, 3 devices UGX\s1,500 Try again: pay UGX\s1,500/);
			expect(methods(page)).toContain('airtel_money');
		}
		await ownerSets([DAY]);
		const page = await person.get(path);
		expect(page.text).toContain('You keep this price with MTN MoMo.');
		expect(methods(page)).toEqual(['mtn_momo']);

		const refused = await again({ paymentMethod: 'airtel_money' });
		expect(refused.text).toContain('You keep this price with MTN MoMo.');
		expect(await payments()).toHaveLength(1);
		await again();
		expect(await payments()).toEqual([{ amount_minor: 1500 }, { amount_minor: 1500 }]);
	});
});

describe('other time, bought from the page of a purchase', () => {
	/** Opens the link with this text, as soon as the page has it. */
	const follow = (path: string, text: string): Promise<Page> =>
		eventually(`the link ${text}`, async () => {
			const { html } = await person.get(path);
			const [, href] = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${text}`).exec(html) ?? [];
			return href ? person.get(new URL(href, `http://localhost${path}`).href.slice(16)) : null;
		});

	it('UniFi lets in the device of the first purchase', async () => {
		const unifi = await connectUniFi(fixture());
		try {
			const mac = newMac();
			const other = newMac();
			for (const one of [mac, other]) unifi.join(one);
			const declined = await buyHourHere(person, await person.get(unifiEntry(mac)), numberEnding('001'));
			// Another device opens the purchase since. Without a name the page does not know which one buys.
			await person.raw(`${pathOf(declined)}?visit=${await visitOf(person, other)}`);
			const unnamed = await follow(pathOf(declined), 'Choose another time');
			expect(unnamed.path).toMatch(/^\/splash\/[\w-]{24}$/);
			await buyHourOn(person, await follow(declined, 'Choose another time'));
			await eventually(`${mac} is in`, async () => unifi.isIn(mac));
			expect(unifi.isIn(other)).toBe(false);
		} finally {
			await unifi.stop();
		}
	});

	it('“Buy again with another number” pays for the device of that purchase', async () => {
		const host = '192.168.8.1';
		const gateway = await registerGateway(fixture().server, 'opennds', { loginHost: host });
		const entry = ndsEntry(gateway, { hid: sha256('a token'), mac: newMac() }, host);
		const first = await buyHourHere(person, await person.get(entry), numberEnding('003'));
		const page = await follow(first, 'Buy again with another number');
		const second = await person.post(`${pathOf(first)}?/retry`, givenBy(page));
		expect(second.path).not.toBe(first);
		await eventually('it leads online', async () => {
			const { html } = await person.get(second.path);
			return html.includes(`href="${second.path}/online"`);
		});
	});

	it('“Choose another time” sells to the device of that purchase without its token, and does not ask if it has paid', async () => {
		const host = '192.168.8.1';
		const gateway = await registerGateway(fixture().server, 'opennds', { loginHost: host });
		const entry = ndsEntry(gateway, { hid: sha256('a token'), mac: newMac() }, host);
		const first = await buyHourHere(person, await person.get(entry), numberEnding('001'));
		const page = await follow(first, 'Choose another time');
		expect(page.path).toMatch(/^\/splash\//);
		expect(page.html).not.toContain(pathOf(first).slice(3));
		expect(page.text).not.toContain('Have you already paid?');
		expect(page.html).toContain(`href="/fr${page.path}"`);
		const second = await buyHourOn(person, page);
		expect(second).not.toBe(pathOf(first));
		await eventually('it leads online', async () => {
			const { html } = await person.get(second);
			return html.includes(`href="${second}/online"`);
		});
		await fixture().server.advance(2 * 60 * 60_000);
		expect((await person.get(`${first}?buy`)).path).toBe(`/splash/${gateway.key}`);
	});

	it('does not repeat why the gateway refused the device before', async () => {
		const { server } = fixture();
		const login = 'http://10.5.50.1/login';
		const { key } = await registerGateway(server, 'mikrotik-chap', { loginHost: '10.5.50.1' });
		const redirect = { mac: newMac(), ip: '127.0.0.1', 'link-login-only': login, 'chap-id': '\\001' };
		const enter = (fields: Record<string, string>) =>
			person.post(`/splash/${key}`, { ...redirect, 'chap-challenge': '\\357\\015', ...fields });
		const declined = await buyHourHere(person, await enter({}), numberEnding('001'));
		const refused = await enter({ error: 'uptime limit reached', 'link-orig': server.url + declined });
		expect(pathOf(refused.path)).toBe(pathOf(declined));
		const page = await follow(declined, 'Choose another time');
		expect(page.path).toMatch(/^\/splash\//);
		expect(page.text).not.toContain('did not accept this device');
	});

	it('after the end of the time it begins with a new redirect, because the gateway has forgotten the device', async () => {
		const { server } = fixture();
		const host = '192.168.8.1';
		const gateway = await registerGateway(server, 'opennds', { loginHost: host });
		const entry = ndsEntry(gateway, { hid: sha256('another token'), mac: newMac() }, host);
		const path = await buyHourOn(person, await person.get(entry));
		await eventually('the time runs', async () => (await person.get(path)).html.includes('/online"'));
		await server.advance(61 * 60_000);
		const page = await follow(path, 'Buy Wi‑Fi time at');
		expect(page.path).toBe(`/splash/${gateway.key}`);
		expect(page.html).toContain(`href="http://${host}:2050/`);
		expect((await person.get(`${path}?buy`)).path).toBe(page.path);
	});

	it('without a device it leads to the page of the Wi-Fi', async () => {
		const declined = await buyHourOn(person, await person.get('/r/6'), numberEnding('001'));
		expect((await follow(declined, 'Choose another time')).path).toBe('/r/6');
		expect((await person.get(`${declined}?buy`)).path).toBe(`${declined}?buy`);
	});
});

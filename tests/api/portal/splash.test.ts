/** The splash page and the captive-portal API over HTTP: what browsers and operating systems get, whatever they send. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSecrets } from '../../../src/lib/server/platform/secrets.ts';
import { browse, fieldValue, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { buyHourHere, buyHourOn, hourOn, pathOf } from '../../support/pages/splash.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import { numberEnding } from '../../support/api/api.ts';
import { DATABASES, eventually, SECRET, useFixture, type Fixture } from '../../support/server/fixture.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const LOGIN_HOST = '192.168.8.1';
const MAC = '02:00:00:00:00:01';

/** The query that openNDS at level 1 adds to the portal's address. */
function fas(change: Record<string, string> = {}): string {
	const items = {
		hid: sha256('a token'),
		clientip: '127.0.0.1',
		clientmac: MAC,
		gatewayname: 'Stand-in',
		gatewayaddress: `${LOGIN_HOST}:2050`,
		originurl: encodeURIComponent('http://captive.apple.com/hotspot-detect.html'),
		...change
	};
	const list = Object.entries(items).map(([name, value]) => `${name}=${value}`);
	return `fas=${Buffer.from(list.join(', ')).toString('base64')}`;
}

const hotspot = (change: Record<string, string> = {}) => ({
	mac: MAC,
	ip: '127.0.0.1',
	'link-login-only': 'http://10.5.50.1/login',
	'link-orig': 'http://example.com/',
	'chap-id': '\\371',
	'chap-challenge': '\\357\\015',
	error: '',
	...change
});

const headingOf = ({ html }: Page) =>
	/<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1]?.replace(/<[^>]+>|<!--.*?-->/g, '');

async function active(person: Browsing, path: string): Promise<Page> {
	return eventually(`${path} is active`, async () => {
		const page = await person.get(path);
		return page.text.includes('Your Wi‑Fi is paid until') ? page : null;
	});
}

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	let opennds: Registered;
	let mikrotik: Registered;
	let person: Browsing;

	beforeAll(async () => {
		const { server } = fixture();
		opennds = await registerGateway(server, 'opennds', { loginHost: LOGIN_HOST });
		mikrotik = await registerGateway(server, 'mikrotik-chap', { loginHost: '10.5.50.1' });
		person = browse(server.url);
	});

	const entry = (query: string, of = opennds) => `/splash/${of.key}?${query}`;
	const visits = (w: Fixture) => w.sql.count('select count(*) from captive_sessions');

	it('the first answer shows the price of the gateway’s own router, whatever the query says', async () => {
		const page = await person.get(entry(`${fas()}&price=1&ssid=EVIL&router=5`));
		expect(page.status).toBe(200);
		expect(page.text).toContain('Kisementi Corner');
		expect(page.text).toContain('UGX 500');
		expect(page.html).not.toContain('EVIL');
		expect(page.headers.get('set-cookie')).toBeNull();
		expect(page.headers.get('cache-control')).toBe('no-store');
	});

	it('a captive session is stored under the hash of its id, with its content encrypted', async () => {
		const { sql } = fixture();
		const page = await person.get(entry(fas({ clientmac: '02:00:00:00:00:99' })));
		const id = /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(page.html)?.[1] ?? '';
		const [row] = await sql.all(
			'select * from captive_sessions where client_mac = ? order by id desc',
			'02:00:00:00:00:99'
		);
		expect(row?.['id_hash']).toBe(sha256(id));
		expect(JSON.stringify(row)).not.toContain(id);
		expect(String(row?.['entry_sealed'])).toMatch(/^v1\./);
		// The address of the visit shows the same page, and it can be asked for again.
		expect((await person.get(`/splash/${opennds.key}/${id}`)).text).toContain('Kisementi Corner');
		// Under another gateway it is nothing.
		expect((await person.get(`/splash/${mikrotik.key}/${id}`)).status).toBe(410);
	});

	it('captive sessions are deleted when they expire, without another visit', async () => {
		const { server, sql } = fixture();
		await person.get(entry(fas({ clientmac: '02:00:00:00:00:98' })));
		const stored = () =>
			sql.count('select count(*) from captive_sessions where client_mac = ?', '02:00:00:00:00:98');
		expect(await stored()).toBe(1);
		await sql.run('update captive_sessions set expires_at = 1 where client_mac = ?', '02:00:00:00:00:98');
		await server.advance(61_000);
		await eventually('it is deleted', async () => (await stored()) === 0);
	});

	it('a form of an expired captive session is refused before it charges, unless it was sent before', async () => {
		const { server, sql } = fixture();
		const { action, fields } = hourOn(await person.get(entry(fas({ clientmac: '02:00:00:00:00:96' }))));
		const venue = await person.get('/r/3');
		const sent = { ...fields, purchase: fieldValue(venue, 'purchase') };
		const ordered = await person.post('/r/3', sent);
		const orders = () => sql.count('select count(*) from purchases');
		const before = await orders();
		await server.advance(2 * 60 * 60 * 1000);
		const refused = await person.post(action, fields);
		expect(refused.status).toBe(410);
		expect(refused.text).toContain('You have not been charged. Disconnect from the Wi‑Fi, connect again');
		const repeated = await person.post(action, sent);
		expect([repeated.status, repeated.path]).toEqual([200, ordered.path]);
		expect(await orders()).toBe(before);
	});

	it('the page that a device asked for is not stored', async () => {
		const { sql } = fixture();
		await person.get(entry(fas({ clientmac: '02:00:00:00:00:97', originurl: 'http://private.example/' })));
		const [row] = await sql.all('select * from captive_sessions where client_mac = ?', '02:00:00:00:00:97');
		const context = `gateway-visit:${String(row?.['id_hash'])}`;
		const stored = createSecrets(SECRET).decrypt(String(row?.['entry_sealed']), context);
		expect(JSON.parse(stored)).toMatchObject({ clientMac: '02:00:00:00:00:97', originalUrl: null });
	});

	it.each([
		['a foreign gateway address', () => entry(fas({ gatewayaddress: '203.0.113.9:2050' })), 400],
		['a broken list', () => entry('fas=%%%'), 400],
		['a list without hid', () => entry(fas({ hid: 'x' })), 400],
		['more than any honest entry', () => entry(`fas=${'A'.repeat(9_000)}`), 400],
		['an unknown key', () => `/splash/${'A'.repeat(24)}?${fas()}`, 404],
		['a key that is none', () => `/splash/x?${fas()}`, 404],
		['an unknown visit', () => `/splash/${opennds.key}/${'A'.repeat(24)}`, 410],
		['an unknown UniFi site', () => '/guest/s/nowhere/?id=02:00:00:00:00:01', 404]
	])('%s gets an error page without a form, and no captive session', async (_what, path, status) => {
		const before = await visits(fixture());
		const page = await person.get(path());
		expect(page.status).toBe(status);
		expect(page.html).not.toContain('<form');
		expect(page.html).not.toContain('203.0.113.9');
		expect(page.html).toContain('<h1>');
		expect(await visits(fixture())).toBe(before);
	});

	it('without anything handed over it leads to the gateway’s own sign-in page and sells nothing', async () => {
		const page = await person.get(`/splash/${opennds.key}`);
		expect(page.status).toBe(200);
		expect(page.html).toContain(`href="http://${LOGIN_HOST}:2050/"`);
		expect(page.html).not.toContain('<form');
	});

	it('a form from another site makes a captive session and a redirect, at this one path only', async () => {
		const { server } = fixture();
		const post = (path: string, fields: Record<string, string>) =>
			fetch(server.url + path, {
				method: 'POST',
				redirect: 'manual',
				headers: { origin: 'http://10.5.50.1', 'sec-fetch-site': 'cross-site', accept: 'text/html' },
				body: new URLSearchParams(fields)
			});
		const made = await post(`/splash/${mikrotik.key}`, hotspot());
		expect(made.status).toBe(303);
		const visit = made.headers.get('location') ?? '';
		expect(visit).toMatch(/^\/splash\/[\w-]{24}\/[\w-]{24}$/);
		expect((await post(visit, {})).status).toBe(403);
		expect((await post('/r/3', {})).status).toBe(403);
		const foreign = await post(
			`/splash/${mikrotik.key}`,
			hotspot({ 'link-login-only': 'http://203.0.113.9/login' })
		);
		expect(foreign.status).toBe(400);
		expect(await foreign.text()).not.toContain('203.0.113.9');
		expect((await post(`/splash/${mikrotik.key}`, {})).status).toBe(400);
	});

	it('paid: the sign-in is made for the session, at the registered gateway, and marked as tried', async () => {
		const { sql, api } = fixture();
		const path = await buyHourHere(person, await person.get(entry(fas())));
		const page = await active(person, path);
		expect(page.html).toContain(`href="${path}/online"`);
		expect(page.html).toContain(`http-equiv="refresh" content="12; url=${path}/online"`);
		expect((await person.raw(`${path}/online`, { method: 'HEAD' })).headers.get('location')).toBe(path);
		const answer = await person.raw(`${path}/online`);
		expect(answer.status).toBe(303);
		const to = new URL(answer.headers.get('location') ?? '');
		expect(to.origin + to.pathname).toBe(`http://${LOGIN_HOST}:2050/opennds_auth/`);
		expect(to.searchParams.get('tok')).toBe(sha256(sha256('a token') + opennds.secret));
		expect(to.searchParams.get('redir')).toBe(`${fixture().server.url}${path}?online`);
		const [row] = await sql.all(
			'select session_id from purchases where token_hash = ?',
			sha256(pathOf(path).slice(3))
		);
		const user = Buffer.from(to.searchParams.get('custom') ?? '', 'base64').toString();
		expect(user).toBe(`s${String(row?.['session_id'])}`);
		expect(api).toBeDefined();
		// Back again, nothing goes by itself any more.
		const back = await person.get(`${path}?online`);
		expect(headingOf(back)).toBe('You are online.');
		expect(back.text).toMatch(/Your Wi‑Fi is paid until .*? You can close this page\./);
		expect((await person.get(path)).html).not.toContain('http-equiv="refresh"');
		// A tab that is opened again later knows nothing of the device.
		await fixture().server.advance(11 * 60_000);
		expect(headingOf(await person.get(`${path}?online`))).not.toBe('You are online.');
	});

	it('nothing is signed in before it is paid, nor for a purchase that came through no gateway', async () => {
		const path = await buyHourOn(person, await person.get(entry(fas())), numberEnding('003'));
		expect((await person.raw(`${path}/online`)).headers.get('location')).toBe(path);
		const unpaid = `/s/${'A'.repeat(24)}`;
		expect((await person.raw(`${unpaid}/online`)).headers.get('location')).toBe(unpaid);
		const venue = await person.get('/r/3');
		const bought = await person.post('/r/3', {
			time: '1h 500',
			paymentMethod: 'mobile_money',
			phone: numberEnding('008'),
			purchase: fieldValue(venue, 'purchase')
		});
		const page = await active(person, bought.path);
		expect(page.html).not.toContain('/online');
		expect((await person.raw(`${bought.path}/online`)).headers.get('location')).toBe(bought.path);
	});

	it('somebody else’s MAC brings neither password nor purchase to light; only the device itself is asked for the code', async () => {
		const mac = '02:00:00:00:00:42';
		const path = await buyHourOn(person, await person.get(entry(fas({ clientmac: mac }))));
		const paid = await active(person, path);
		const password =
			/class="password[^>]*>(.*?)<\/p>/s.exec(paid.html)?.[1]?.replace(/<[^>]+>|<!--.*?-->|\s/g, '') ?? '';
		expect(password).toMatch(/^[a-z2-9-]{14}$/);
		const elsewhere = browse(fixture().server.url);
		const claimed = await elsewhere.get(entry(fas({ clientmac: mac, hid: sha256('a forged token') })));
		const stranger = await elsewhere.get(entry(fas({ clientmac: '02:00:00:00:00:43' })));
		expect(claimed.text).toBe(stranger.text);
		expect(claimed.html).not.toContain(password);
		expect(claimed.html).not.toContain(path.slice(3));
		// The token that openNDS gave the device proves it.
		expect((await elsewhere.get(entry(fas({ clientmac: mac })))).text).toContain('Have you already paid?');
		// The same entry, replayed elsewhere, is a visit of its own, which lets nobody online.
		const visit = /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(claimed.html)?.[1] ?? '';
		expect((await person.raw(`/s/${visit}/online`)).headers.get('location')).toBe(`/s/${visit}`);
	});

	it('a purchase that is opened in another captive session lets that device online, once by itself', async () => {
		const named = await buyHourHere(person, await person.get(entry(fas({ hid: sha256('first') }))));
		const path = pathOf(named);
		await active(person, path);
		await person.raw(`${path}/online`);
		const isSentThere = async () =>
			(await person.get(path)).html.includes(`content="12; url=${path}/online"`);
		expect(await isSentThere()).toBe(false);
		const open = async (name: string) => {
			const device = fas({ hid: sha256(name), clientmac: '02:00:00:00:00:77' });
			const page = await person.get(entry(device));
			const visit = /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(page.html)?.[1] ?? '';
			return person.raw(`${path}?visit=${visit}`);
		};
		const adopted = await open('second');
		expect(adopted.status).toBe(303);
		const own = adopted.headers.get('location') ?? '';
		expect(own).toMatch(/^\/s(\/[\w-]{24}){2}$/);
		expect(await isSentThere()).toBe(true);
		const to = new URL((await person.raw(`${path}/online`)).headers.get('location') ?? '');
		expect(to.searchParams.get('tok')).toBe(sha256(sha256('second') + opennds.secret));
		// The first device's page goes on to speak for it, also at the gateway.
		const first = new URL((await person.raw(`${named}/online`)).headers.get('location') ?? '');
		expect(first.searchParams.get('tok')).toBe(sha256(sha256('first') + opennds.secret));
		expect(first.searchParams.get('redir')).toBe(`${fixture().server.url}${named}?online`);
		// A visit that is none changes nothing.
		await person.raw(`${path}?visit=${'A'.repeat(24)}`);
		const again = new URL((await person.raw(`${path}/online`)).headers.get('location') ?? '');
		expect(again.searchParams.get('tok')).toBe(to.searchParams.get('tok'));
		// Its gateway redirects it again: it must not go in a circle.
		await open('second again');
		expect(await isSentThere()).toBe(false);
	});

	it('a purchase that is opened at another router’s gateway is shown there, and never signed in to it', async () => {
		const { server } = fixture();
		const path = await buyHourOn(person, await person.get(entry(fas({ hid: sha256('own') }))));
		await active(person, path);
		const loginHost = '192.168.9.1';
		const foreign = await registerGateway(server, 'opennds', { loginHost, router: 4 });
		const there = await person.get(entry(fas({ gatewayaddress: `${loginHost}:2050` }), foreign));
		const visit = /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(there.html)?.[1] ?? '';
		const opened = await person.get(`${path}?visit=${visit}`);
		expect(opened.path).toBe(`${path}?elsewhere`);
		expect(opened.text).toContain('This Wi‑Fi belongs to another place. Your time works at ');
		const to = new URL((await person.raw(`${path}/online`)).headers.get('location') ?? '', server.url);
		expect(to.hostname).toBe(LOGIN_HOST);
		expect(to.searchParams.get('tok')).toBe(sha256(sha256('own') + opennds.secret));
	});

	it('a refused sign-in returns to its purchase with the reason, and is not repeated automatically', async () => {
		const { server } = fixture();
		const landed = await person.post(`/splash/${mikrotik.key}`, hotspot());
		const path = await buyHourOn(person, landed);
		await active(person, path);
		const refused = await person.post(
			`/splash/${mikrotik.key}`,
			hotspot({
				error: 'no more sessions are allowed for user',
				'link-orig': `${server.url}${path}?online`,
				'chap-id': '\\001'
			})
		);
		expect(pathOf(refused.path)).toBe(path);
		expect(refused.text).toContain('in use on another device');
		expect(refused.html).not.toContain('http-equiv="refresh"');
		const to = new URL((await person.raw(`${path}/online`)).headers.get('location') ?? '');
		expect(to.origin + to.pathname).toBe('http://10.5.50.1/login');
		expect(to.searchParams.get('password')).toMatch(/^[0-9a-f]{32}$/);
	});

	it('a MikroTik redirect, which proves nothing, says nothing about a purchase of its MAC', async () => {
		const mac = '02:00:00:00:00:44';
		await active(
			person,
			await buyHourOn(person, await person.post(`/splash/${mikrotik.key}`, hotspot({ mac })))
		);
		const claimed = await person.post(`/splash/${mikrotik.key}`, hotspot({ mac }));
		expect(claimed.text).toContain('Already paid? Enter your code');
		expect(claimed.text).not.toContain('Have you already paid?');
	});

	it('CoovaChilli’s own language parameter does not break its signature', async () => {
		const { server } = fixture();
		const coova = await registerGateway(server, 'coova', { loginHost: '10.1.0.1' });
		const query =
			`res=notyet&uamip=10.1.0.1&uamport=3990&challenge=${'0'.repeat(32)}` +
			`&mac=02-00-00-00-00-01&ip=127.0.0.1&lang=sw&userurl=http%3a%2f%2fexample.com%2f'"`;
		const md = createHash('md5')
			.update(`${coova.portal}?${query}${coova.secret}`)
			.digest('hex')
			.toUpperCase();
		// By hand: fetch() would write the quotation marks in another way.
		const ask = async (of: string) => {
			const request = http.get({
				host: '127.0.0.1',
				port: server.port,
				path: `/splash/${coova.key}?${of}&md=${md}`,
				headers: { accept: 'text/html' }
			});
			const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
			let text = '';
			for await (const chunk of answer.setEncoding('utf8')) text += String(chunk);
			return { status: answer.statusCode, text };
		};
		expect((await ask(query)).text).toContain('Kisementi Corner');
		expect((await ask(query.replace('127.0.0.1', '127.0.0.2'))).status).toBe(400);
	});

	it('a device that is online already sees that', async () => {
		const page = await person.get(entry('status=authenticated&clientip=127.0.0.1'));
		expect(page.text).toContain('You are already online.');
		expect(page.html).not.toContain('<form');
	});

	describe('the captive-portal API (RFC 8908)', () => {
		const ask = (key: string, init: RequestInit = {}, origin = fixture().server.url) =>
			fetch(`${origin}/captive-portal/${key}`, {
				...init,
				headers: { accept: 'application/captive+json' }
			});

		it('an unknown device is captive; over plain http the answer has no address', async () => {
			const own = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST });
			const answer = await ask(own.key);
			expect(answer.status).toBe(200);
			expect(answer.headers.get('content-type')).toBe('application/captive+json');
			expect(answer.headers.get('cache-control')).toBe('private, no-store');
			expect(await answer.json()).toMatchObject({ captive: true });
			const head = await ask(own.key, { method: 'HEAD' });
			expect(head.status).toBe(200);
			expect(await head.text()).toBe('');
		});

		it('a device that was signed in is not captive, with its seconds, until its gateway sends it again', async () => {
			const own = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST });
			const path = await buyHourOn(person, await person.get(entry(fas(), own)));
			await active(person, path);
			expect(await (await ask(own.key)).json()).toMatchObject({ captive: true });
			await person.raw(`${path}/online`);
			const online = (await (await ask(own.key)).json()) as Record<string, unknown>;
			expect(online).toEqual({
				captive: false,
				'can-extend-session': true,
				'seconds-remaining': expect.any(Number)
			});
			expect(online['seconds-remaining']).toBeGreaterThan(3_500);
			expect(online['seconds-remaining']).toBeLessThanOrEqual(3_600);
			// At another gateway the same address is nobody.
			expect(await (await ask(opennds.key)).json()).toMatchObject({ captive: true });
			await fixture().server.advance(1_000);
			await person.get(entry(fas({ clientmac: '02:00:00:00:00:55' }), own));
			expect(await (await ask(own.key)).json()).toMatchObject({ captive: true });
		});

		it('an unknown key is 404, as JSON', async () => {
			const answer = await ask('A'.repeat(24));
			expect(answer.status).toBe(404);
			expect(answer.headers.get('content-type')).toBe('application/problem+json');
			expect(await answer.json()).toMatchObject({ status: 404 });
		});
	});
});

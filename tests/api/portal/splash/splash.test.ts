/** The splash page and the captive-portal API over HTTP: what browsers and operating systems get, whatever they send. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { createSecrets } from '../../../../src/lib/server/platform/secrets.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { sha256 } from '../../../support/gateways/opennds.ts';
import { fieldValue } from '../../../support/pages/browsing.ts';
import { buyHourOn, hourOn } from '../../../support/pages/splash.ts';
import { eventually, SECRET } from '../../../support/server/fixture.ts';
import { active, useSplash, fas, hotspot, LOGIN_HOST } from './devices.ts';

const { fixture, opennds, mikrotik, person, entry } = useSplash();

it('the first answer shows the price of the gateway’s own router, whatever the query says', async () => {
	const page = await person().get(entry(`${fas()}&price=1&ssid=EVIL&router=5`));
	expect(page.status).toBe(200);
	expect(page.text).toContain('Kisementi Corner');
	expect(page.text).toContain('UGX 500');
	expect(page.html).not.toContain('EVIL');
	expect(page.headers.get('set-cookie')).toBeNull();
	expect(page.headers.get('cache-control')).toBe('no-store');
});

it('a captive session is stored under the hash of its id, encrypted, without the page that its device asked for', async () => {
	const { sql } = fixture();
	const device = { clientmac: '02:00:00:00:00:99', originurl: 'http://private.example/' };
	const page = await person().get(entry(fas(device)));
	const id = /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(page.html)?.[1] ?? '';
	const [row] = await sql.all(
		'select * from captive_sessions where client_mac = ? order by id desc',
		'02:00:00:00:00:99'
	);
	expect(row?.['id_hash']).toBe(sha256(id));
	expect(JSON.stringify(row)).not.toContain(id);
	expect(String(row?.['entry_sealed'])).toMatch(/^v1\./);
	const context = `gateway-visit:${sha256(id)}`;
	const stored = createSecrets(SECRET).decrypt(String(row?.['entry_sealed']), context);
	expect(JSON.parse(stored)).toMatchObject({ clientMac: '02:00:00:00:00:99', originalUrl: null });
	// The address of the visit shows the same page, and it can be asked for again.
	expect((await person().get(`/splash/${opennds().key}/${id}`)).text).toContain('Kisementi Corner');
	// Under another gateway it is nothing.
	expect((await person().get(`/splash/${mikrotik().key}/${id}`)).status).toBe(410);
});

it('every redirect gets its page; of one device only the first of a minute are stored, and others with their order', async () => {
	const { server, sql } = fixture();
	const mac = '02:00:00:00:00:95';
	const stored = () => sql.count('select count(*) from captive_sessions where client_mac = ?', mac);
	let page = await person().get(entry(fas({ clientmac: mac })));
	for (let at = 0; at < 14; at += 1) page = await person().get(entry(fas({ clientmac: mac })));
	expect([page.status, page.text.includes('UGX 500'), await stored()]).toEqual([200, true, 10]);
	const { action: formAction, fields } = hourOn(page);
	const [action = ''] = formAction.split('?');
	expect(action).toMatch(/^\/splash\/[\w-]{24}\/v1\.[\w-]+$/);
	// It can be reloaded, translated and sent to the page of codes, but not changed, moved or used for ever.
	expect((await person().get(action)).text).toContain('Kisementi Corner');
	expect((await person().get(`/sw${action}`)).status).toBe(200);
	expect((await person().get(action.replace(opennds().key, mikrotik().key))).status).toBe(410);
	expect((await person().get(`${action.slice(0, -4)}AAAA`)).status).toBe(410);
	expect(await stored()).toBe(10);
	const bought = await person().post(formAction, fields);
	expect(bought.path).toMatch(/^\/s\/[\w-]{24}\/[0-9a-f]{24}$/);
	expect(await stored()).toBe(11);
	const again = await person().post(formAction, fields);
	expect([again.path, await stored()]).toEqual([bought.path, 11]);
	await active(person(), bought.path);
	await server.advance(61_000);
	await person().get(entry(fas({ clientmac: mac })));
	expect(await stored()).toBe(12);
	await server.advance(2 * 60 * 60 * 1000);
	expect((await person().get(hourOn(page).action.replace('v1.', 'v1.A'))).status).toBe(410);
});

it('captive sessions are deleted when they expire, without another visit', async () => {
	const { server, sql } = fixture();
	await person().get(entry(fas({ clientmac: '02:00:00:00:00:98' })));
	const stored = () =>
		sql.count('select count(*) from captive_sessions where client_mac = ?', '02:00:00:00:00:98');
	expect(await stored()).toBe(1);
	await sql.run('update captive_sessions set expires_at = 1 where client_mac = ?', '02:00:00:00:00:98');
	await server.advance(61_000);
	await eventually('it is deleted', async () => (await stored()) === 0);
});

it('a form of an expired captive session is refused before it charges, unless it was sent before', async () => {
	const { server, sql } = fixture();
	const { action, fields } = hourOn(await person().get(entry(fas({ clientmac: '02:00:00:00:00:96' }))));
	const venue = await person().get('/r/3');
	const sent = { ...fields, purchase: fieldValue(venue, 'purchase') };
	const ordered = await person().post('/r/3', sent);
	const orders = () => sql.count('select count(*) from purchases');
	const before = await orders();
	await server.advance(2 * 60 * 60 * 1000);
	const refused = await person().post(action, fields);
	expect(refused.status).toBe(410);
	expect(refused.text).toContain('You have not been charged. Disconnect from the Wi‑Fi, connect again');
	const repeated = await person().post(action, sent);
	expect([repeated.status, repeated.path]).toEqual([200, ordered.path]);
	expect(await orders()).toBe(before);
});

it.each([
	['a foreign gateway address', () => entry(fas({ gatewayaddress: '203.0.113.9:2050' })), 400],
	['a broken list', () => entry('fas=%%%'), 400],
	['a list without hid', () => entry(fas({ hid: 'x' })), 400],
	['more than any honest entry', () => entry(`fas=${'A'.repeat(9_000)}`), 400],
	['an unknown key', () => `/splash/${'A'.repeat(24)}?${fas()}`, 404],
	['a key that is none', () => `/splash/x?${fas()}`, 404],
	['an unknown visit', () => `/splash/${opennds().key}/${'A'.repeat(24)}`, 410],
	['an unknown UniFi site', () => '/guest/s/nowhere/?id=02:00:00:00:00:01', 404]
])('%s gets an error page without a form, and no captive session', async (_what, path, status) => {
	const newest = () => fixture().sql.count('select coalesce(max(id), 0) from captive_sessions');
	const before = await newest();
	const page = await person().get(path());
	expect(page.status).toBe(status);
	expect(page.html).not.toContain('<form');
	expect(page.html).not.toContain('203.0.113.9');
	expect(page.html).toContain('<h1>');
	// Less is none: those of earlier tests, that have expired, may be deleted meanwhile.
	expect(await newest()).toBeLessThanOrEqual(before);
});

it('without anything handed over it leads to the gateway’s own sign-in page and sells nothing', async () => {
	const page = await person().get(`/splash/${opennds().key}`);
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
	const made = await post(`/splash/${mikrotik().key}`, hotspot());
	expect(made.status).toBe(303);
	const visit = made.headers.get('location') ?? '';
	expect(visit).toMatch(/^\/splash\/[\w-]{24}\/[\w-]{24}$/);
	expect((await post(visit, {})).status).toBe(403);
	expect((await post('/r/3', {})).status).toBe(403);
	const foreign = await post(
		`/splash/${mikrotik().key}`,
		hotspot({ 'link-login-only': 'http://203.0.113.9/login' })
	);
	expect(foreign.status).toBe(400);
	const refused = await foreign.text();
	expect(refused).not.toContain('203.0.113.9');
	// The page does not know who has paid.
	expect(refused).toContain('If you have paid, your payment is safe.');
	expect((await post(`/splash/${mikrotik().key}`, {})).status).toBe(400);
});

it('CoovaChilli’s own language parameter does not break its signature', async () => {
	const { server } = fixture();
	const coova = await registerGateway(server, 'coova', { loginHost: '10.1.0.1' });
	const query =
		`res=notyet&uamip=10.1.0.1&uamport=3990&challenge=${'0'.repeat(32)}` +
		`&mac=02-00-00-00-00-01&ip=127.0.0.1&lang=sw&userurl=http%3a%2f%2fexample.com%2f'"`;
	const md = createHash('md5').update(`${coova.portal}?${query}${coova.secret}`).digest('hex').toUpperCase();
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

it('a uamserver of CoovaChilli with capitals and a slash is accepted', async () => {
	const { server } = fixture();
	const coova = await registerGateway(server, 'coova', { loginHost: '10.1.0.1' });
	const query = `res=notyet&uamip=10.1.0.1&uamport=3990&challenge=${'0'.repeat(32)}&mac=02-00-00-00-00-01`;
	const uamserver = `${coova.portal.replace('http://127.0.0.1', 'http://LOCALHOST')}/`;
	const md = createHash('md5').update(`${uamserver}?${query}${coova.secret}`).digest('hex').toUpperCase();
	// As a browser asks: in lower case, wherever it is led.
	const asked = new URL(`${uamserver}?${query}&md=${md}`);
	const answer = await fetch(asked, { headers: { accept: 'text/html' } });
	expect(await answer.text()).toContain('Kisementi Corner');
	const forged = new URL(asked.href.replace('02-00-00', '02-00-01'));
	expect((await fetch(forged, { headers: { accept: 'text/html' } })).status).toBe(400);
});

it('a device that is online already sees that', async () => {
	const page = await person().get(entry('status=authenticated&clientip=127.0.0.1'));
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
		const path = await buyHourOn(person(), await person().get(entry(fas(), own)));
		await active(person(), path);
		expect(await (await ask(own.key)).json()).toMatchObject({ captive: true });
		await person().raw(`${path}/online`);
		const online = (await (await ask(own.key)).json()) as Record<string, unknown>;
		expect(online).toEqual({
			captive: false,
			'can-extend-session': true,
			'seconds-remaining': expect.any(Number)
		});
		expect(online['seconds-remaining']).toBeGreaterThan(3_500);
		expect(online['seconds-remaining']).toBeLessThanOrEqual(3_600);
		// At another gateway the same address is nobody.
		expect(await (await ask(opennds().key)).json()).toMatchObject({ captive: true });
		await fixture().server.advance(1_000);
		await person().get(entry(fas({ clientmac: '02:00:00:00:00:55' }), own));
		expect(await (await ask(own.key)).json()).toMatchObject({ captive: true });
	});

	it('an unknown key is 404, as JSON', async () => {
		const answer = await ask('A'.repeat(24));
		expect(answer.status).toBe(404);
		expect(answer.headers.get('content-type')).toBe('application/problem+json');
		expect(await answer.json()).toMatchObject({ status: 404 });
	});
});

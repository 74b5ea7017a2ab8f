/** A device and its purchase on the splash page. */
import { expect, it, afterAll, beforeAll, describe } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { sha256 } from '../../../support/gateways/opennds.ts';
import { browse, fieldValue, type Page } from '../../../support/pages/browsing.ts';
import { buyHourHere, buyHourOn, pathOf } from '../../../support/pages/splash.ts';
import { active, useSplash, fas, headingOf, hotspot, LOGIN_HOST } from './devices.ts';
import type { RouterOs } from '../../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../../simulators/gateway/unifi-console.ts';
import { connectRouterOs, connectUniFi, newMac, unifiEntry } from '../../../support/gateways/consoles.ts';
import { cli } from '../../../support/server/cli.ts';

const { fixture, opennds, mikrotik, person, entry } = useSplash();

it('paid: the sign-in is made for the session, at the registered gateway, and marked as tried', async () => {
	const { sql, api } = fixture();
	const path = await buyHourHere(person(), await person().get(entry(fas())));
	const page = await active(person(), path);
	expect(page.html).toContain(`href="${path}/online"`);
	expect(page.html).toContain(`http-equiv="refresh" content="2; url=${path}/online"`);
	expect((await person().raw(`${path}/online`, { method: 'HEAD' })).headers.get('location')).toBe(path);
	const answer = await person().raw(`${path}/online`);
	expect(answer.status).toBe(303);
	const to = new URL(answer.headers.get('location') ?? '');
	expect(to.origin + to.pathname).toBe(`http://${LOGIN_HOST}:2050/opennds_auth/`);
	expect(to.searchParams.get('tok')).toBe(sha256(sha256('a token') + opennds().secret));
	expect(to.searchParams.get('redir')).toBe(`${fixture().server.url}${path}?online`);
	const [row] = await sql.all(
		'select session_id from purchases where token_hash = ?',
		sha256(pathOf(path).slice(3))
	);
	const user = Buffer.from(to.searchParams.get('custom') ?? '', 'base64').toString();
	expect(user).toBe(`s${String(row?.['session_id'])}`);
	expect(api).toBeDefined();
	// Back again, nothing goes by itself any more.
	const back = await person().get(`${path}?online`);
	expect(headingOf(back)).toBe('You are online.');
	expect(back.text).toMatch(/Your Wi‑Fi is paid until .*? You can close this page\./);
	expect(back.html).toMatch(/<a class="button" href="https:[^>]*>Start browsing</);
	expect((await person().get(path)).html).not.toContain('http-equiv="refresh"');
	// A tab that is opened again later knows nothing of the device.
	await fixture().server.advance(11 * 60_000);
	expect(headingOf(await person().get(`${path}?online`))).not.toBe('You are online.');
});

it('nothing is signed in before it is paid, nor for a purchase that came through no gateway', async () => {
	const path = await buyHourOn(person(), await person().get(entry(fas())), numberEnding('003'));
	expect((await person().raw(`${path}/online`)).headers.get('location')).toBe(path);
	const unpaid = `/s/${'A'.repeat(24)}`;
	expect((await person().raw(`${unpaid}/online`)).headers.get('location')).toBe(unpaid);
	const venue = await person().get('/r/3');
	const bought = await person().post('/r/3', {
		time: '1h 500',
		paymentMethod: 'mobile_money',
		phone: numberEnding('008'),
		purchase: fieldValue(venue, 'purchase')
	});
	const page = await active(person(), bought.path);
	expect(page.html).not.toContain('/online');
	expect((await person().raw(`${bought.path}/online`)).headers.get('location')).toBe(bought.path);
});

it('somebody else’s MAC brings neither password nor purchase to light; only the device itself is asked for the code', async () => {
	const mac = '02:00:00:00:00:42';
	const path = await buyHourOn(person(), await person().get(entry(fas({ clientmac: mac }))));
	const paid = await active(person(), path);
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
	expect((await person().raw(`/s/${visit}/online`)).headers.get('location')).toBe(`/s/${visit}`);
});

it('a purchase that is opened in another captive session lets that device online, once by itself', async () => {
	const named = await buyHourHere(person(), await person().get(entry(fas({ hid: sha256('first') }))));
	const path = pathOf(named);
	await active(person(), path);
	await person().raw(`${path}/online`);
	const isSentThere = async () => (await person().get(path)).html.includes(`content="2; url=${path}/online"`);
	expect(await isSentThere()).toBe(false);
	const open = async (name: string) => {
		const device = fas({ hid: sha256(name), clientmac: '02:00:00:00:00:77' });
		const page = await person().get(entry(device));
		const visit = /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(page.html)?.[1] ?? '';
		return person().raw(`${path}?visit=${visit}`);
	};
	const adopted = await open('second');
	expect(adopted.status).toBe(303);
	const own = adopted.headers.get('location') ?? '';
	expect(own).toMatch(/^\/s(\/[\w-]{24}){2}$/);
	expect(await isSentThere()).toBe(true);
	const to = new URL((await person().raw(`${path}/online`)).headers.get('location') ?? '');
	expect(to.searchParams.get('tok')).toBe(sha256(sha256('second') + opennds().secret));
	// The first device's page goes on to speak for it, also at the gateway.
	const first = new URL((await person().raw(`${named}/online`)).headers.get('location') ?? '');
	expect(first.searchParams.get('tok')).toBe(sha256(sha256('first') + opennds().secret));
	expect(first.searchParams.get('redir')).toBe(`${fixture().server.url}${named}?online`);
	// A visit that is none changes nothing.
	await person().raw(`${path}?visit=${'A'.repeat(24)}`);
	const again = new URL((await person().raw(`${path}/online`)).headers.get('location') ?? '');
	expect(again.searchParams.get('tok')).toBe(to.searchParams.get('tok'));
	// Its gateway redirects it again: it must not go in a circle.
	await open('second again');
	expect(await isSentThere()).toBe(false);
});

it('a purchase that is opened at another router’s gateway is shown there, and never signed in to it', async () => {
	const { server } = fixture();
	const path = await buyHourOn(person(), await person().get(entry(fas({ hid: sha256('own') }))));
	await active(person(), path);
	const loginHost = '192.168.9.1';
	const foreign = await registerGateway(server, 'opennds', { loginHost, router: 4 });
	const there = await person().get(entry(fas({ gatewayaddress: `${loginHost}:2050` }), foreign));
	const visit = /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(there.html)?.[1] ?? '';
	const opened = await person().get(`${path}?visit=${visit}`);
	expect(opened.path).toBe(`${path}?elsewhere`);
	expect(opened.text).toContain('This Wi‑Fi belongs to another place. Your time works at ');
	// The sign-in page of its own gateway is not in this Wi-Fi.
	expect(opened.html).not.toContain(`${path}/online`);
	expect(opened.html).not.toContain('/splash/');
	const to = new URL((await person().raw(`${path}/online`)).headers.get('location') ?? '', server.url);
	expect(to.hostname).toBe(LOGIN_HOST);
	expect(to.searchParams.get('tok')).toBe(sha256(sha256('own') + opennds().secret));
});

it('a refused sign-in returns to its purchase with the reason, and is not repeated automatically', async () => {
	const { server } = fixture();
	const landed = await person().post(`/splash/${mikrotik().key}`, hotspot());
	const path = await buyHourOn(person(), landed);
	await active(person(), path);
	const refused = await person().post(
		`/splash/${mikrotik().key}`,
		hotspot({
			error: 'no more sessions are allowed for user',
			'link-orig': `${server.url}${path}?online`,
			'chap-id': '\\001'
		})
	);
	expect(pathOf(refused.path)).toBe(path);
	expect(refused.text).toContain('in use on another device');
	expect(refused.html).not.toContain('http-equiv="refresh"');
	const to = new URL((await person().raw(`${path}/online`)).headers.get('location') ?? '');
	expect(to.origin + to.pathname).toBe('http://10.5.50.1/login');
	expect(to.searchParams.get('password')).toMatch(/^[0-9a-f]{32}$/);
});

it('a MikroTik redirect, which proves nothing, says nothing about a purchase of its MAC', async () => {
	const mac = '02:00:00:00:00:44';
	await active(
		person(),
		await buyHourOn(person(), await person().post(`/splash/${mikrotik().key}`, hotspot({ mac })))
	);
	const claimed = await person().post(`/splash/${mikrotik().key}`, hotspot({ mac }));
	expect(claimed.text).toContain('Paid already? Do not pay again. Enter your code');
	expect(claimed.text).not.toContain('Have you already paid?');
});

/** A buyer whose captive window closed after the payment: no splash page looks as if nothing was paid. */
describe('paid already', () => {
	const PAID = 'Paid already? Do not pay again. Enter your code';
	/** Buttons and fields of the page in their order. */
	const partsOf = ({ html }: Page) =>
		[
			...html.matchAll(
				/<a class="button[^>]*>[^<]*|<details class="buys"|name="time"|<button class="button"/g
			)
		].map(([part]) => part.replace(/ href="[^"]*"/, ''));
	const isProved = ({ text }: Page) => text.includes('Have you already paid?');

	it.each(['opennds', 'mikrotik-chap', 'mikrotik-pap'] as const)(
		'at %s the way to a purchase is a button above the prices',
		async (kind) => {
			const { server } = fixture();
			const { key } = await registerGateway(server, kind, { loginHost: '10.5.50.1' });
			const page =
				kind === 'opennds'
					? await person().get(`/splash/${key}?${fas({ gatewayaddress: '10.5.50.1:2050' })}`)
					: await person().post(`/splash/${key}`, hotspot());
			expect(partsOf(page).slice(0, 2)).toEqual([
				`<a class="button quiet small paid-already">${PAID}`,
				'name="time"'
			]);
			expect(page.html).toMatch(
				/<a class="button quiet small paid-already" href="\/resume\?visit=[\w-]{24}">Paid already/
			);
		}
	);

	it.each(['invalid username or password', 'no more sessions are allowed for user', 'odd words of a router'])(
		'after the refusal "%s" the code is the main button, and buying is folded',
		async (error) => {
			const { server } = fixture();
			const { key } = await registerGateway(server, 'mikrotik-chap', { loginHost: '10.5.50.1' });
			const page = await person().post(`/splash/${key}`, hotspot({ error }));
			expect(partsOf(page).slice(0, 3)).toEqual([
				'<a class="button">Enter my code',
				'<details class="buys"',
				'name="time"'
			]);
			expect(page.text).toContain('Not paid yet? Buy time');
		}
	);

	it('a form that is refused stays open, with its error', async () => {
		const { server } = fixture();
		const { key } = await registerGateway(server, 'mikrotik-chap', { loginHost: '10.5.50.1' });
		const page = await person().post(`/splash/${key}`, hotspot({ error: 'invalid username or password' }));
		const action = /<form method="post" action="([^"]+)"/.exec(page.html)?.[1] ?? '';
		const refused = await person().post(action, { phone: '12', time: '1h 500' });
		expect(refused.html).toMatch(/<details class="buys" open/);
	});

	describe('a device that its router’s own API confirms', () => {
		let router: RouterOs;
		let console: UniFiConsole;
		let key: string;

		beforeAll(async () => {
			const at = fixture();
			router = await connectRouterOs(at);
			console = await connectUniFi(at);
			const { stdout } = await cli(['gateways', 'show', 'hotspot'], at.server);
			key = /\/splash\/([\w-]{24})/.exec(stdout)?.[1] ?? '';
		});
		afterAll(async () => {
			await router.stop();
			await console.stop();
		});

		/** A device buys at the router, and is redirected again as a browser that remembers nothing. */
		const mikrotikEntry = (mac: string, ip: string) => () =>
			browse(fixture().server.url).post(`/splash/${key}`, hotspot({ mac, ip }));
		const unifiPage = (mac: string) => () => browse(fixture().server.url).get(unifiEntry(mac));

		const buyers = [
			[
				'MikroTik',
				() => {
					const mac = newMac();
					const ip = '10.5.50.9';
					const leave = () => router.leave(mac);
					return { open: mikrotikEntry(mac, ip), join: () => router.join(mac, ip), leave, api: router };
				}
			],
			[
				'UniFi',
				() => {
					const mac = newMac();
					const leave = () => console.leave(mac);
					return { open: unifiPage(mac), join: () => console.join(mac), leave, api: console };
				}
			]
		] as const;

		it.each(buyers)('at %s is told not to pay again, as long as the router sees it', async (_, deviceOf) => {
			const { open, join, leave } = deviceOf();
			join();
			const first = await open();
			expect(isProved(first)).toBe(false);
			expect(partsOf(first).slice(0, 2)).toEqual([
				`<a class="button quiet small paid-already">${PAID}`,
				'name="time"'
			]);
			await buyHourOn(person(), await open(), numberEnding('003'));
			const page = await open();
			expect(isProved(page)).toBe(true);
			expect(partsOf(page).slice(0, 2)).toEqual(['<a class="button">Enter my code', '<details class="buys"']);
			expect(page.html).not.toMatch(/class="password|\/s\/[\w-]{24}/);
			leave();
			const gone = await open();
			expect(isProved(gone)).toBe(false);
			expect(partsOf(gone)[0]).toBe(`<a class="button quiet small paid-already">${PAID}`);
		});

		it('a MAC address with another IP address than the router knows says nothing', async () => {
			const mac = newMac();
			router.join(mac, '10.5.50.20');
			await buyHourOn(person(), await mikrotikEntry(mac, '10.5.50.20')(), numberEnding('003'));
			expect(isProved(await mikrotikEntry(mac, '10.5.50.20')())).toBe(true);
			const stranger = await mikrotikEntry(newMac(), '10.5.50.21')();
			for (const ip of ['10.5.50.21', '']) {
				expect((await mikrotikEntry(mac, ip)()).text).toBe(stranger.text);
			}
		});

		// The last: a router that was late is not asked for half a minute.
		it.each(buyers)('at %s waits for no router that is late, and none that fails', async (_, deviceOf) => {
			const { open, join, api } = deviceOf();
			join();
			await buyHourOn(person(), await open(), numberEnding('003'));
			expect(isProved(await open())).toBe(true);
			api.fail('held', { match: /host|sites/ });
			const asked = api.asked.length;
			for (let times = 0; times < 4; times += 1) expect(isProved(await open())).toBe(false);
			// The first page waited for a short time, and the others not at all.
			expect(api.asked.slice(asked).filter((line) => /host|sites/.test(line))).toHaveLength(1);
			await api.release();
			api.heal();
		});
	});
});

/** A buyer whose captive window closed after the payment: no splash page looks as if nothing was paid. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import type { RouterOs } from '../../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../../simulators/gateway/unifi-console.ts';
import { connectRouterOs, connectUniFi, newMac, unifiEntry } from '../../../support/gateways/consoles.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { browse, type Page } from '../../../support/pages/browsing.ts';
import { buyHourOn } from '../../../support/pages/splash.ts';
import { cli } from '../../../support/server/cli.ts';
import { useSplash, fas, hotspot } from './devices.ts';

const { fixture, person } = useSplash();

const PAID = 'Paid already? Do not pay again. Enter your code';
/** Buttons and fields of the page in their order. */
const partsOf = ({ html }: Page) =>
	[
		...html.matchAll(/<a class="button[^>]*>[^<]*|<details class="buys"|name="time"|<button class="button"/g)
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
		expect(partsOf(page).slice(0, 2)).toEqual([`<a class="button quiet">${PAID}`, 'name="time"']);
		expect(page.html).toMatch(/<a class="button quiet" href="\/resume\?visit=[\w-]{24}">Paid already/);
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
		expect(partsOf(first).slice(0, 2)).toEqual([`<a class="button quiet">${PAID}`, 'name="time"']);
		await buyHourOn(person(), await open(), numberEnding('003'));
		const page = await open();
		expect(isProved(page)).toBe(true);
		expect(partsOf(page).slice(0, 2)).toEqual(['<a class="button">Enter my code', '<details class="buys"']);
		expect(page.html).not.toMatch(/class="password|\/s\/[\w-]{24}/);
		leave();
		const gone = await open();
		expect(isProved(gone)).toBe(false);
		expect(partsOf(gone)[0]).toBe(`<a class="button quiet">${PAID}`);
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

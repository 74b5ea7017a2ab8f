/** The scripts that a MikroTik fetches, run by a console that refuses what it does not know. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import {
	formatFetched,
	formatProfile,
	formatRemoval,
	formatRemovedUser,
	formatUser,
	readReport
} from '#lib/server/gateways/mikrotik-fetch.ts';
import type { DeviceLogin, GatewayFacts } from '#lib/server/gateways/gateway.ts';
import { createRouterOsConsole, type RouterOsConsole } from '../../simulators/gateway/routeros-console.ts';

const facts: GatewayFacts = {
	...{ loginHosts: [], secret: null, credentials: {}, settings: {}, installation: '0a1b2c' }
};
const NOW = 1_764_435_600_000;
const HOUR = 3_600_000;
const login = (change: Partial<DeviceLogin> = {}): DeviceLogin => ({
	...{ user: 's12', password: 'abcd-efgh-jkmn', mac: null, login: {}, maxDevices: 1 },
	...{ speed: { down: null, up: null }, dataLeft: null, ...change }
});
const set = (device: DeviceLogin, call = NOW) =>
	formatProfile(device) + formatUser(facts, { login: device, untilMs: NOW + HOUR, call }, NOW);

describe.each(['6.49.10 (long-term)', '7.15.3 (stable)'] as const)('RouterOS %s', (version) => {
	let router: RouterOsConsole;
	beforeEach(() => {
		router = createRouterOsConsole(version);
	});

	it('adds a user, and changes nothing when the script runs again', async () => {
		await router.run(set(login()));
		const first = { ...router.user('s12') };
		expect(first).toMatchObject({
			...{ password: 'abcd-efgh-jkmn', profile: 'airtill-1', 'limit-bytes-total': 0 },
			...{ 'limit-uptime': { seconds: 3_600 }, comment: `Airtill 0a1b2c ${(NOW + HOUR) / 1000} ${NOW}` }
		});
		await router.run(set(login()));
		expect(router.user('s12')).toEqual(first);
		expect(router.rows('ip hotspot user')).toHaveLength(1);
	});

	it('takes any character in a password', async () => {
		const password = String.raw`a"b$c\d?e[f]{g};h` + '\n:error "x"';
		await router.run(set(login({ password })));
		expect(router.user('s12')).toMatchObject({ password });
	});

	it('counts time and data that the user has used already', async () => {
		await router.run(set(login({ dataLeft: 500 })));
		expect(router.signIn('s12', 'abcd-efgh-jkmn')).toBe('online');
		router.use('s12', 200);
		router.pass(60_000);
		router.reboot();
		await router.run(set(login({ dataLeft: 300 })));
		expect(router.user('s12')).toMatchObject({
			...{ 'limit-bytes-total': 500, 'limit-uptime': { seconds: 3_660 } }
		});
	});

	it('gives nobody time without a limit by a script that was cut off', async () => {
		const script = set(login());
		for (let length = 1; length < script.length; length += 1) {
			const cut = createRouterOsConsole(version);
			await cut.run(script.slice(0, length)).catch(() => undefined);
			expect(cut.user('s12')?.['limit-uptime'] ?? { seconds: 3_600 }, script.slice(0, length)).toEqual({
				seconds: 3_600
			});
		}
	});

	it('leaves users of others alone', async () => {
		const theirs = { name: 's12', password: 'theirs', comment: 'Airtill 999999 1 1' };
		router.rows('ip hotspot user').push({ ...theirs });
		await router.run(set(login()));
		await router.run(formatRemovedUser(facts, 's12'));
		await router.paste(formatRemoval(facts));
		expect(router.user('s12')).toEqual(theirs);
	});

	it('reports 1,500 users in parts, of which RouterOS posts none over 64 KiB', async () => {
		const posted: string[] = [];
		const server = createServer((request, response) => {
			void text(request).then((body) => {
				posted.push(body);
				response.writeHead(204).end();
			});
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as { port: number };
		const place = { address: `http://127.0.0.1:${port}`, token: 'x', isChecked: false };
		const names = Array.from({ length: 1_500 }, (_, index) => `s${index + 1}`);
		for (const name of names) {
			const comment = `Airtill 0a1b2c 1764439200 ${NOW}`;
			router.rows('ip hotspot user').push({ name, 'bytes-in': 1e10, 'bytes-out': 1e10, comment });
			router.rows('ip hotspot active').push({ user: name, 'bytes-in': 1e10, 'bytes-out': 1e10 });
		}
		router.rows('ip hotspot active').push({ user: 'guest', 'bytes-in': 0, 'bytes-out': 0 });
		const reporting = { at: NOW, isSplit: true };
		await router.run(formatFetched(facts, place, { changes: '', isMore: false, reporting }));
		server.close();
		expect(Math.max(...posted.map((body) => body.length))).toBeLessThan(64 * 1024);
		const reports = posted.map((body) => readReport(facts, body));
		expect(reports.map((one) => one?.part)).toEqual([...'0123456789']);
		expect(reports.map((one) => one?.devices)).toEqual(Array(10).fill(1_501));
		for (const which of ['users', 'active'] as const) {
			const found = reports.flatMap((one) => [...(one?.[which].keys() ?? [])]);
			expect(found.sort()).toEqual(names.toSorted());
		}
	});
});

it('reads a report, and nothing that no script of ours posts', () => {
	const text = [
		...[
			`at ${NOW}`,
			'version 7.15.3 (stable)',
			'host 10.5.50.1',
			'host ',
			'host 10.5.50.1/24',
			'host 0.0.0.0'
		],
		...[`user s12 700 Airtill 0a1b2c 1764439200 ${NOW}`, 'user s13 1 Airtill 999999 1 2', 'user s14 1 mine'],
		...['devices 2', 'active s12 300', 'active a guest 5', 'junk', '']
	].join('\n');
	expect(readReport(facts, text)).toEqual({
		...{ at: NOW, version: '7.15.3 (stable)', hosts: ['10.5.50.1'], devices: 2, part: '' },
		users: new Map([['s12', { bytes: 700, untilSeconds: 1_764_439_200, call: NOW }]]),
		active: new Map([
			['s12', 300],
			['a guest', 5]
		])
	});
	for (const wrong of ['', 'at soon', 'user s12 700 Airtill 0a1b2c 1 1'])
		expect(readReport(facts, wrong)).toBeNull();
});

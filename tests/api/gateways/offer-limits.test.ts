/** The limits of an offer at each kind of gateway: sent to those that hold them, and not sold where one does not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ndsctlController } from '../../../src/lib/server/gateways/opennds/client.ts';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { numberEnding } from '../../support/api/api.ts';
import { buyAtUniFi, connectRouterOs, connectUniFi, newMac } from '../../support/gateways/consoles.ts';
import { gatewayName, registerGateway, registerRadius } from '../../support/gateways/gateways.ts';
import {
	base64,
	ndsEntry,
	newDevice,
	rhidOf,
	runBinauth,
	sha256,
	waitingAt,
	type NdsDevice
} from '../../support/gateways/opennds.ts';
import { radiusCalls } from '../../support/gateways/radius-calls.ts';
import { browse } from '../../support/pages/browsing.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { cli } from '../../support/server/cli.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

interface Speed {
	speed_down_kbps?: number;
	speed_up_kbps?: number;
	data_limit_mb?: number;
}
const BOTH = { speed_down_kbps: 2000, speed_up_kbps: 512 };
const DOWN = { speed_down_kbps: 5000 };
const LOGIN_HOST = '192.168.8.1';
const MINUTE = 60_000;
/** Demo routers. */
const [UNIFI, REST, RADIUS, COOVA, NDS, POLL, WIFI, NDS2] = [3, 4, 5, 6, 7, 8, 9, 10];

const fixture = useFixture({ database: 'sqlite' });

const setOffers = (router: number, ...speeds: readonly Speed[]) =>
	fixture().owner.send('PUT', `/v1/owner/routers/${router}/offers`, {
		body: {
			offers: speeds.map((speed, n) => ({ name: `Hour ${n}`, duration: '1h', price: 400 + n, ...speed }))
		}
	});
async function sell(router: number, ...speeds: readonly Speed[]): Promise<number[]> {
	const { status, body } = await setOffers(router, ...speeds);
	expect([status, body]).toEqual([200, body]);
	return (body as { data: { id: number }[] }).data.map(({ id }) => id);
}
const refusal = async (router: number, speed: Speed) => {
	const { status, body } = await setOffers(router, speed);
	return { status, detail: (body as { errors?: { detail: string }[] }).errors?.[0]?.detail };
};
/** Orders and pays; the pass may still wait for a gateway. */
async function buy(router: number, offer?: number) {
	const { api } = fixture();
	const session = await api.createSession({
		...{ router_id: router, duration: '1h', phone: numberEnding('008') },
		...(offer !== undefined && { offer_id: offer })
	});
	await api.getPayment((await api.pay(session)).id, 20);
	return session;
}
const newest = async () => {
	const [row] = await fixture().sql.all('select * from passes order by id desc limit 1');
	return Number(row?.['id']);
};
/** Buys with that speed, as an offer would have set it: the portal's form buys an hour. */
async function limited<T>(
	{ speed_down_kbps: down, speed_up_kbps: up }: Speed,
	work: () => Promise<T>
): Promise<T> {
	const { sql } = fixture();
	const change = `speed_down_kbps = ${down ?? 'null'}, speed_up_kbps = ${up ?? 'null'}`;
	await sql.run(
		`create trigger limited after insert on passes begin update passes set ${change} where id = new.id; end`
	);
	try {
		return await work();
	} finally {
		await sql.run('drop trigger limited');
	}
}

describe('by RADIUS', () => {
	it.each([
		['mikrotik', RADIUS, { 'reply:Mikrotik-Rate-Limit': '512k/2000k' }],
		['coova', COOVA, { 'reply:WISPr-Bandwidth-Max-Up': 512_000, 'reply:WISPr-Bandwidth-Max-Down': 2_000_000 }]
	] as const)('%s gets the speed of the pass with its password', async (kind, router, expected) => {
		const calls = radiusCalls(
			fixture().server.url,
			await registerRadius(fixture(), { kind, access: 'portal_login', router })
		);
		const sent = async (offer?: number) => {
			const { attributes } = await calls.authorize(`s${(await buy(router, offer)).id}`);
			const limits = Object.entries(attributes).filter(([name]) => /Rate|WISPr/.test(name));
			return Object.fromEntries(limits.map(([name, { value }]) => [name, value]));
		};
		const [both, down] = await sell(router, BOTH, DOWN);
		expect(await sent(both)).toEqual(expected);
		// RouterOS would use a single rate for both directions.
		expect(await sent(down)).toEqual(
			kind === 'mikrotik'
				? { 'reply:Mikrotik-Rate-Limit': '4294967k/5000k' }
				: { 'reply:WISPr-Bandwidth-Max-Down': 5_000_000 }
		);
		expect(await sent()).toEqual({});
	});
});

describe('a MikroTik hotspot by REST', () => {
	let hotspot: RouterOs;
	beforeAll(async () => {
		hotspot = await connectRouterOs(fixture(), 'hotspot', REST);
	});
	afterAll(() => hotspot.stop());

	const known = (id: number) =>
		eventually('the hotspot knows its user', async () => hotspot.user(`s${id}`) !== null);

	it('has a profile for each speed, which it gets back after a change by hand', async () => {
		const [both] = await sell(REST, BOTH);
		const [limited, plain] = [await buy(REST, both), await buy(REST)];
		await Promise.all([known(limited.id), known(plain.id)]);
		expect(hotspot.rateOf(`s${limited.id}`)).toBe('512k/2000k');
		expect(hotspot.rateOf(`s${plain.id}`)).toBeNull();
		const profile = hotspot.user(`s${limited.id}`)?.['profile'] ?? '';
		hotspot.setRate(profile, '512k/2M');
		await known((await buy(REST, both)).id);
		expect(hotspot.rateOf(`s${limited.id}`)).toBe('512k/2M');
		hotspot.setRate(profile, '10M/10M');
		await known((await buy(REST, both)).id);
		expect(hotspot.rateOf(`s${limited.id}`)).toBe('512k/2000k');
	});
});

describe('a UniFi console', () => {
	let unifi: UniFiConsole;
	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
	});
	afterAll(() => unifi.stop());

	/** An hour of a device, with that speed. */
	async function buyWith(speed: Speed, mac = newMac()) {
		unifi.join(mac);
		return limited(speed, () => buyAtUniFi(fixture(), mac));
	}

	it('gets the speed with each authorization', async () => {
		const both = await buyWith(BOTH);
		await eventually('it is in', async () => unifi.isIn(both.mac));
		expect(unifi.speedOf(both.mac)).toEqual({ rxRateLimitKbps: 2000, txRateLimitKbps: 512 });
		const down = await buyWith(DOWN);
		await eventually('it is in', async () => unifi.isIn(down.mac));
		expect(unifi.speedOf(down.mac)).toEqual({ rxRateLimitKbps: 5000 });
	});

	it('gives a device that has two passes the speed of one only until the end of that one', async () => {
		const { mac } = await buyWith(BOTH);
		const { sql, server } = fixture();
		const pass = await newest();
		const running = 'select count(*) from passes where ends_at is not null and id = ?';
		await eventually('its time runs', async () => (await sql.count(running, pass)) === 1);
		for (const [table, column] of [
			['passes', 'ends_at'],
			['sessions', 'expires_at']
		]) {
			await sql.run(`update ${table} set ${column} = ${column} + ? where id = ?`, 180 * MINUTE, pass);
		}
		await buyWith({}, mac);
		await eventually('it has no limit', async () => Object.keys(unifi.speedOf(mac)).length === 0);
		expect(unifi.minutesOf(mac)).toBeLessThanOrEqual(61);
		await server.advance(65 * MINUTE);
		await eventually(
			'it has the limit of the other pass',
			async () => unifi.speedOf(mac).rxRateLimitKbps === 2000
		);
	});

	it('takes no speed above its own limit', async () => {
		expect(await refusal(UNIFI, { speed_down_kbps: 100_001 })).toEqual({
			status: 400,
			detail: 'The gateway "console" (unifi) takes limits of up to 100000 kbit/s.'
		});
		expect((await setOffers(UNIFI, { speed_down_kbps: 100_000 })).status).toBe(200);
		await setOffers(UNIFI);
	});
});

describe('openNDS', () => {
	function buyAt(gateway: { key: string }, device: NdsDevice, speed: Speed): Promise<number> {
		return limited(speed, async () => {
			const before = await newest();
			const person = browse(fixture().server.url);
			await buyHourOn(person, await person.get(ndsEntry(gateway, device, LOGIN_HOST)));
			return eventually('it is paid', async () => {
				const id = await newest();
				return id !== before && id;
			});
		});
	}

	describe('with a BinAuth script', () => {
		let gateway: Awaited<ReturnType<typeof registerGateway>>;
		beforeAll(async () => {
			gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST, router: NDS });
		});

		/** As a script of an earlier version asks. */
		async function signIn({ mac, token }: NdsDevice, pass: number) {
			const key = /^Token [^\n]*:\n(\S+)/m.exec(gateway.text)?.[1] ?? '';
			const fields = { key, method: 'auth_client', mac, token, custom: base64(`s${pass}`) };
			const response = await fetch(`${fixture().server.url}/opennds/${gateway.key}/binauth`, {
				method: 'POST',
				body: new URLSearchParams(fields)
			});
			return `${response.status} ${await response.text()}`;
		}

		const runScript = (device: NdsDevice, pass: number, version?: string) =>
			runBinauth(fixture().server, gateway, device, pass, version);

		it('gets the speed after the seconds; an older script gets the seconds alone, and its buyer in', async () => {
			const [limited, plain] = [newDevice(), newDevice()];
			const pass = await buyAt(gateway, limited, BOTH);
			expect(await runScript(limited, pass)).toMatch(/^3[56]\d\d 512 2000 0 0$/);
			expect(await signIn(limited, pass)).toMatch(/^200 3[56]\d\d$/);
			const other = await buyAt(gateway, plain, {});
			expect(await runScript(plain, other)).toMatch(/^3[56]\d\d 0 0 0 0$/);
		});

		it('sells a speed only after the script has asked on openNDS 10, and after a change of settings', async () => {
			// An inactive offer waits for the gateway.
			const inactive = { name: 'Later', duration: '1h', price: 500, active: false, ...BOTH };
			const { status: kept } = await fixture().owner.send('PUT', `/v1/owner/routers/${NDS2}/offers`, {
				body: { offers: [inactive], hourly: true }
			});
			expect(kept).toBe(200);
			gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST, router: NDS2 });
			const device = newDevice();
			const pass = await buyAt(gateway, device, {});
			await signIn(device, pass);
			await runScript(device, pass, '9.10.0');
			const { status, detail } = await refusal(NDS2, BOTH);
			expect(status).toBe(400);
			expect(detail).toContain('holds limits only with openNDS 10 or newer');
			await runScript(device, pass);
			const set = ['gateways', 'set', gateway.name, '--login-host', LOGIN_HOST];
			expect((await cli(set, fixture().server)).code).toBe(0);
			expect((await setOffers(NDS2, BOTH)).status).toBe(200);
			await setOffers(NDS2);
		});
	});

	it('of level 4 fetches the speed with the minutes', async () => {
		const more = ['--level', '4'];
		const gateway = await registerGateway(fixture().server, 'opennds', {
			...{ loginHost: LOGIN_HOST, router: POLL, more }
		});
		await sell(POLL, BOTH);
		const device = newDevice();
		await buyAt(gateway, device, BOTH);
		const items = await waitingAt(gateway);
		expect(items).toMatch(new RegExp(`^\\* ${rhidOf(gateway, device)} \\d+ 512 2000 0 0 `));
	});

	it('by ndsctl gets the speed with the minutes', async () => {
		const calls: (readonly string[])[] = [];
		const client = { mac: '02:00:00:00:00:01', state: 'Preauthenticated', token: 'abc' };
		await ndsctlController.authorize(
			{
				...{ user: 's1', password: '', mac: client.mac, login: { hid: sha256('abc') }, maxDevices: 1 },
				...{ speed: { down: 2000, up: null }, dataLeft: null }
			},
			60 * MINUTE,
			{ loginHosts: [], secret: null, credentials: {}, settings: {}, installation: '' },
			{
				now: () => 0,
				send: () => Promise.reject(new Error('not used')),
				run(_program, args) {
					calls.push(args);
					const output =
						args[0] === 'json' ? JSON.stringify({ clients: { a: client } }) : 'Client authenticated.';
					return Promise.resolve({ code: 0, output });
				}
			}
		);
		expect(calls.at(-1)).toEqual(['auth', client.mac, '60', '0', '2000', '0', '0', base64('s1')]);
	});
});

describe('a router that sells a speed', () => {
	const add = (...options: string[]) => cli(['gateways', 'add', gatewayName(), ...options], fixture().server);

	it('has no gateway that cannot hold it, and keeps its last one', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: WIFI }
		});
		await fixture().sql.run("update routers set access_kind = 'wpa_personal_per_client' where id = ?", WIFI);
		await sell(WIFI, DOWN);
		const added = await add('--router', String(WIFI), '--kind', 'hostapd');
		expect(added.code).not.toBe(0);
		expect(added.stderr).toContain(`router ${WIFI} sells "Hour 0" with a limit.`);
		expect(added.stderr).toContain('cannot limit the speed');
		const removed = await cli(['gateways', 'remove', name], fixture().server);
		expect(removed.code).not.toBe(0);
		expect(removed.stderr).toContain('nothing limits the speed');
		expect(await fixture().sql.count('select count(*) from gateways where router_id = ?', WIFI)).toBe(1);
		await setOffers(WIFI);
		expect((await add('--router', String(WIFI), '--kind', 'hostapd')).code).toBe(0);
		expect((await cli(['gateways', 'remove', name], fixture().server)).code).toBe(0);
		expect((await refusal(WIFI, DOWN)).detail).toContain('(hostapd) cannot limit the speed');
	});

	it('keeps a gateway that holds it when the gateway is changed', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: 21 }
		});
		await sell(21, DOWN);
		const moved = await cli(['gateways', 'set', name, '--router', '20'], fixture().server);
		expect(moved.code).not.toBe(0);
		expect(moved.stderr).toContain('nothing limits the speed');
		await setOffers(21);
		expect((await cli(['gateways', 'set', name, '--router', '20'], fixture().server)).code).toBe(0);
	});
});

describe('a router that sells data', () => {
	const [HOTSPOT, ENTERPRISE] = [22, 23];
	const DATA = { data_limit_mb: 500 };
	const run = async (...command: string[]) => {
		const { code, stderr } = await cli(command, fixture().server);
		expect(code).not.toBe(0);
		return stderr;
	};

	it('has gateways that report by RADIUS and can be sent Disconnect-Requests', async () => {
		const { name } = await registerRadius(fixture(), {
			...{ kind: 'mikrotik', access: 'portal_login', router: HOTSPOT }
		});
		expect((await refusal(HOTSPOT, DATA)).detail).toContain('only with an address for Disconnect-Requests');
		expect((await cli(['gateways', 'set', name, '--nas', '10.8.0.22'], fixture().server)).code).toBe(0);
		await sell(HOTSPOT, DATA);
		const sold = `router ${HOTSPOT} sells "Hour 0" with a limit.`;
		expect(await run('gateways', 'set', name, '--nas', '')).toContain(sold);
		// The end of a pass is all that EAP passes on.
		const eap = await run('routers', 'access', String(HOTSPOT), '--kind', 'wpa_enterprise');
		expect(eap).toMatch(
			/^kind: router 22 sells "Hour 0" with a limit\. .* holds no limits with wpa_enterprise\./
		);
		// An offer from before, which its gateway does not hold, hinders no change that leaves it as it is.
		await fixture().sql.run("update routers set access_kind = 'wpa_enterprise' where id = ?", HOTSPOT);
		const other = ['gateways', 'set', name, '--nas', '10.8.0.32'];
		expect(await cli(other, fixture().server)).toMatchObject({ code: 0 });
		const kind = ['routers', 'access', String(HOTSPOT), '--kind', 'portal_login'];
		expect(await cli(kind, fixture().server)).toMatchObject({ code: 0 });
		expect(await run('gateways', 'set', name, '--nas', '')).toContain(sold);
		await setOffers(HOTSPOT);
	});

	it('knows whose data it is', async () => {
		await registerRadius(fixture(), {
			...{ kind: 'hostapd', access: 'wpa_personal_per_client', router: ENTERPRISE, nas: '10.8.0.23' }
		});
		expect((await refusal(ENTERPRISE, DATA)).detail).toContain('only with wpa_enterprise');
		const access = ['routers', 'access', String(ENTERPRISE), '--kind'];
		expect((await cli([...access, 'wpa_enterprise'], fixture().server)).code).toBe(0);
		await sell(ENTERPRISE, DATA);
		expect(await run(...access, 'wpa_personal_per_client')).toMatch(/^kind: .*only with wpa_enterprise/);
		await fixture().sql.run(`update routers set access_kind = 'shared_password' where id = ?`, ENTERPRISE);
		expect((await refusal(ENTERPRISE, DATA)).detail).toContain('Everybody has the same password');
	});
});

/**
 * The captive-portal API (RFC 8908) at a gateway that fetches its devices (openNDS, level 4). Its answer depends on what
 * the gateway has done, not on what was paid. ../portal/splash/ has the gateways where browsers sign in.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { createAuthmon, type Authmon } from '../../simulators/gateway/authmon.ts';
import { browse } from '../../support/pages/browsing.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { reportAuth, rhidOf, sha256 } from '../../support/gateways/opennds.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const LOGIN_HOST = '192.168.8.1';
const HOUR_SECONDS = 3_600;
/** Of a router and clients that see each other: the device's own address is the one that it asks from. */
const ADDRESS = '10.5.50.7';
/** As proxies write it. */
const SPELLINGS = ['10.5.50.7', '"10.5.50.7:51234"', '"[::ffff:10.5.50.7]:443"', '"::FFFF:10.5.50.7"'];

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { ADDRESS_HEADER: 'Forwarded' } });
	let gateway: Registered;
	let router: Authmon;
	const device = { mac: '02:00:00:00:09:01', token: '0a57a4', hid: sha256('0a57a4') };

	beforeAll(async () => {
		gateway = await registerGateway(fixture().server, 'opennds', {
			loginHost: LOGIN_HOST,
			more: ['--level', '4']
		});
		const knows = (rhid: string) => rhid === rhidOf(gateway, device);
		router = createAuthmon(gateway.portal, '10.3.0', knows, () =>
			reportAuth(fixture().server.url, gateway, device)
		);
	});

	/** The answer, which must be the same however a proxy writes the address. */
	async function captiveState(): Promise<unknown> {
		const bodies = [];
		for (const spelling of SPELLINGS) {
			const headers = { accept: 'application/captive+json', forwarded: `for=${spelling};proto=https` };
			const answer = await fetch(`${fixture().server.url}/captive-portal/${gateway.key}`, { headers });
			expect(answer.headers.get('content-type')).toBe('application/captive+json');
			bodies.push(Object(await answer.json()) as { captive: boolean });
		}
		expect(new Set(bodies.map(({ captive }) => captive)).size).toBe(1);
		return bodies[0];
	}
	const becomes = (status: string) =>
		eventually(`the session is ${status}`, async () => {
			const [row] = await fixture().sql.all('select status from sessions order by id desc limit 1');
			return row?.['status'] === status;
		});
	const entry = () => {
		const items = [
			`hid=${device.hid}`,
			`clientip=${ADDRESS}`,
			`clientmac=${device.mac}`,
			'gatewayname=Stand-in%20Node%3a02aabbccddee%20',
			`gatewayaddress=${LOGIN_HOST}:2050`
		];
		return `/splash/${gateway.key}?fas=${Buffer.from(items.join(', ')).toString('base64')}`;
	};

	it('a device is captive until the gateway has let it in, and from its end on', async () => {
		const { server } = fixture();
		const person = browse(server.url);
		expect(await captiveState()).toMatchObject({ captive: true });
		const page = await person.get(entry());
		expect(await captiveState()).toMatchObject({ captive: true });
		await buyHourOn(person, page);
		// Paid, and the gateway has not come for it yet.
		await becomes('activating');
		expect(await captiveState()).toMatchObject({ captive: true });

		await router.poll();
		await becomes('active');
		const remaining = async () => {
			const { 'seconds-remaining': seconds, ...rest } = Object(await captiveState()) as Record<
				string,
				unknown
			>;
			expect(rest).toEqual({ captive: false, 'can-extend-session': true });
			return Number(seconds);
		};
		const first = await remaining();
		const change =
			'update passes set data_limit_mb = 100, data_used_bytes = ? where activating_until is null';
		for (const used of [null, 40_000_000]) {
			await fixture().sql.run(change, used);
			await eventually(`${used} bytes are used`, async () => {
				const left = (Object(await captiveState()) as Record<string, unknown>)['bytes-remaining'];
				return left === (used === null ? undefined : 60_000_000);
			});
		}
		await fixture().sql.run('update passes set data_limit_mb = null, data_used_bytes = null');
		expect(first).toBeGreaterThan(HOUR_SECONDS - 60);
		expect(first).toBeLessThanOrEqual(HOUR_SECONDS);
		await server.advance(30 * 60_000);
		expect(first - (await remaining())).toBeGreaterThanOrEqual(30 * 60);

		await server.advance(30 * 60_000);
		await becomes('expired');
		expect(await captiveState()).toMatchObject({ captive: true });
		await router.poll();
		expect(await captiveState()).toMatchObject({ captive: true });
	});
});

/** Counters of RADIUS accounting that are false, start again or are late: no buyer loses data, and true ones go on. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { useFixture } from '../../support/server/fixture.ts';

const ROUTER = 3;
const MB = 1_000_000;
const WORD = 2 ** 32;
const SECOND = 1_000;

describe('a pass with data', () => {
	const fixture = useFixture({ database: 'sqlite' });
	let calls: RadiusCalls;
	let offers: number[];

	beforeAll(async () => {
		const disconnects = { nas: '127.0.0.1:9', radiusSecret: 'a-secret-of-this-nas' };
		const gateway = { kind: 'mikrotik', access: 'portal_login', router: ROUTER, ...disconnects } as const;
		calls = radiusCalls(fixture().server.url, await registerRadius(fixture(), gateway));
		const hour = { name: 'Hour', duration: '1h', price: 400, data_limit_mb: 500 };
		const large = { ...hour, name: 'Large', data_limit_mb: 10_000 };
		const path = `/v1/owner/routers/${ROUTER}/offers`;
		const { body } = await fixture().owner.send('PUT', path, { body: { offers: [hour, large] } });
		offers = (body as { data: { id: number }[] }).data.map(({ id }) => id);
	});

	/** Buys 500 MB, or 10 GB, and reports each minute what the counter of the download says. */
	async function connect(size: 'usual' | 'large' = 'usual') {
		const offer_id = offers[size === 'usual' ? 0 : 1] ?? 0;
		const { session } = await fixture().buy({ router_id: ROUTER, duration: '1h', offer_id });
		const user = loginUser(session.id);
		const mac = '02:00:00:00:0a:01';
		expect((await calls.postAuth(user, mac)).status).toBe(204);
		let lasted = 0;
		const send = (status: 'start' | 'interim', counter: number, more: Record<string, string> = {}) =>
			calls.account(status, `${user}-1`, {
				...{ user, mac, lasted: String(lasted), out: String(counter % WORD) },
				...{ out_gigawords: String(Math.floor(counter / WORD)), ...more }
			});
		await send('start', 0);
		const report = async (...counters: number[]) => {
			for (const counter of counters) {
				await fixture().server.advance(60 * SECOND);
				lasted += 60;
				await send('interim', counter);
			}
			const { status, data_used_mb } = await fixture().api.getSession(session.id);
			return [status, data_used_mb];
		};
		const restart = () => (lasted = 0);
		return { report, send, restart };
	}

	it.each([
		['above 2^40, for a minute', [10 * MB, 2 ** 45, 20 * MB], 20],
		['with a high word that is not there, for a minute', [10 * MB, WORD + 20 * MB, 30 * MB], 30],
		['with a high word that stays', [10 * MB, WORD + 20 * MB, WORD + 30 * MB, WORD + 40 * MB], 30],
		['that falls below zero and stays there', [0, WORD - 30 * MB, WORD - 20 * MB, 10 * MB, 40 * MB], 40],
		['at 0, for a minute', [300 * MB, 0, 310 * MB], 310],
		['that is smaller for a minute', [300 * MB, 100 * MB, 310 * MB], 310]
	])('does not end by a counter %s', async (_what, counters, used) => {
		const { report } = await connect();
		expect(await report(...counters)).toEqual(['active', used]);
	});

	it.each([
		['in a minute', '60'],
		['in a day, although the pass has just begun', '86400']
	])('does not end by 1.1 TB %s', async (_what, lasted) => {
		const { report, send } = await connect();
		await send('start', 2 ** 40, { session: `absurd-${lasted}`, lasted });
		expect(await report(20 * MB)).toEqual(['active', 20]);
	});

	it.each([
		['a minute of more than 500 Mbit/s', [10, 5_000, 5_100], 110, 5_500, 510],
		['a restart at 0 under the same id', [300, 20, 120], 400, 230, 510]
	])('counts on after %s, and ends', async (_what, counters, used, last, usedUp) => {
		const { report } = await connect();
		expect(await report(...counters.map((one) => one * MB))).toEqual(['active', used]);
		expect(await report(last * MB)).toEqual(['ended', usedUp]);
	});

	it('counts on at 2^32 without gigawords, and ends', async () => {
		const { report } = await connect('large');
		const round = [50 * MB, 3_000 * MB, 4_200 * MB];
		expect(await report(3_000 * MB, 4_200 * MB, ...round)).toEqual(['active', 8_350]);
		expect(await report(...round)).toEqual(['ended', 12_500]);
	});

	it('counts a new connection with the id of one that the gateway forgot in a reboot', async () => {
		const { report, send, restart } = await connect();
		expect(await report(300 * MB)).toEqual(['active', 300]);
		await fixture().server.advance(60 * SECOND);
		restart();
		await send('start', 0);
		expect(await report(120 * MB)).toEqual(['active', 420]);
	});

	it('counts nothing twice when reports are late without saying so', async () => {
		const { report, send } = await connect();
		await report(100 * MB, 200 * MB, 300 * MB);
		await fixture().server.advance(20 * SECOND);
		await send('interim', 100 * MB, { lasted: '60' });
		await send('interim', 200 * MB, { lasted: '120' });
		expect(await report(310 * MB)).toEqual(['active', 310]);
	});
});

/**
 * Gateways that go silent: their router is offline and not sold until one is heard, and nothing else (a lost packet, a
 * machine that slept, a clock that was set, nobody online) takes a router off sale.
 */
import { describe, expect, it } from 'vitest';
import { numberEnding, orderOf } from '../support/api.ts';
import { registerGateway, registerRadius } from '../support/gateways.ts';
import { cli, startServer } from '../support/server.ts';
import { hear, later, minute, minutes } from '../support/watch.ts';
import { DATABASES, eventually, SECRET, useNewWorlds } from '../support/world.ts';

const ROUTER = 3;
const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	const world = useNewWorlds({ database });

	/** openNDS that comes for its guests. */
	const polling = async (router = ROUTER) =>
		(
			await registerGateway(world().server, 'opennds', {
				loginHost: '10.0.0.1',
				router,
				more: ['--level', '4']
			})
		).name;

	const status = async (router = ROUTER) => (await world().api.getRouter(router)).status;
	const unresponsiveSince = async (name: string) => {
		const [row] = await world().sql.all('select silent_since from gateways where name = ?', name);
		return row?.['silent_since'] ?? null;
	};

	it('a gateway that came for its guests, and does not for three minutes, takes its router off sale', async () => {
		const name = await polling();
		await minutes(world(), 2, [name]);
		const [row] = await world().sql.all('select seen_at from gateways where name = ?', name);
		await minutes(world(), 2);
		expect(await status()).toBe('online');
		await minutes(world(), 1);
		expect(await status()).toBe('offline');
		// Since when: the moment at which it was last heard of.
		expect(await unresponsiveSince(name)).toBe(row?.['seen_at']);
		await world().api.refused('400 router_unavailable', 'POST', '/v1/sessions', {
			body: orderOf({ router_id: ROUTER })
		});
		expect(world().server.stderr()).toContain('a router is not sold: none of its gateways is heard');
		// Other routers are sold as before.
		expect(await status(4)).toBe('online');

		await hear(world(), [name]);
		expect(await status()).toBe('online');
		expect(await unresponsiveSince(name)).toBeNull();
		await world().api.createSession({ router_id: ROUTER });
		await minutes(world(), 1, [name]);
		expect(world().server.stderr()).toContain('a gateway is heard of again');
	});

	it('a router of whose gateway nothing was ever heard is not sold: nobody would be let in', async () => {
		const name = await polling();
		await minutes(world(), 2);
		expect(await status()).toBe('online');
		await minutes(world(), 2);
		expect(await status()).toBe('offline');
		const { stdout } = await cli(['gateways', 'test', name], world().server);
		expect(stdout).toMatch(/heard of: never yet .*its router is not sold before it is/s);
		await hear(world(), [name]);
		expect(await status()).toBe('online');
	});

	it('a gateway that asks only when somebody comes is not judged, and neither is a router without one', async () => {
		await registerRadius(world(), { kind: 'mikrotik', access: 'portal_login', router: ROUTER });
		await minutes(world(), 5);
		expect(await status()).toBe('online');
		expect(await status(4)).toBe('online');
	});

	it('a packet that was lost, or two, change nothing: only quiet checks in a row count', async () => {
		const name = await polling();
		await minutes(world(), 1, [name]);
		for (let round = 0; round < 2; round += 1) {
			await minutes(world(), 2);
			expect(await unresponsiveSince(name)).toBeNull();
			await minutes(world(), 1, [name]);
		}
		expect(await status()).toBe('online');
	});

	it('a machine that slept, and a clock that was set, take no router off sale', async () => {
		const names = [await polling(), await polling(4)];
		await minutes(world(), 2, names);
		// Asleep again and again: each time it wakes, gateways had no time to come yet.
		for (const ms of [3 * hour, hour, 40 * 24 * hour, 5 * minute]) await later(world(), ms);
		expect([await status(ROUTER), await status(4)]).toEqual(['online', 'online']);
		// Set back: what was heard lies in the future.
		for (const ms of [-3 * hour, -hour]) await later(world(), ms);
		expect([await status(ROUTER), await status(4)]).toEqual(['online', 'online']);
		await minutes(world(), 2, names);
		// And silence is found as ever.
		await minutes(world(), 3, names.slice(1));
		expect([await status(ROUTER), await status(4)]).toEqual(['offline', 'online']);
	});

	it('a router with several gateways is offline when none of them is heard', async () => {
		const [first, second] = [await polling(), await polling()];
		const names = [first, second];
		await minutes(world(), 1, names);
		await minutes(world(), 3, [second]);
		expect(await unresponsiveSince(first)).not.toBeNull();
		expect(await status()).toBe('online');
		await minutes(world(), 3);
		expect(await status()).toBe('offline');
		await hear(world(), [first]);
		expect(await status()).toBe('online');
		await minutes(world(), 4);
		expect(await status()).toBe('offline');
		// Gateways that are gone say nothing of the router any more.
		for (const name of names) {
			expect((await cli(['gateways', 'remove', name], world().server)).code).toBe(0);
		}
		await world().sql.run(`update jobs set run_at = 0 where kind = 'gateways.check'`);
		await eventually('the router is sold again', async () => (await status()) === 'online');
	});

	it('checks go on after a crash, and what was found is not forgotten', async () => {
		const name = await polling();
		await minutes(world(), 1, [name]);
		await minutes(world(), 2);
		await world().server.kill();
		await world().server.restart();
		expect(await unresponsiveSince(name)).toBeNull();
		await minutes(world(), 1);
		expect(await status()).toBe('offline');
		await world().server.kill();
		await world().server.restart();
		expect(await status()).toBe('offline');
	});

	it('several processes check as often as one', async () => {
		const name = await polling();
		const { server } = world();
		await minutes(world(), 1, [name]);
		const clock = server.env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? '0';
		const env = { AIRTILL_SECRET: SECRET, AIRTILL_TEST_CLOCK_OFFSET_MS: clock };
		const second = await startServer({ database: server.databaseUrl, env });
		try {
			// Asked more often than it is time for.
			for (let index = 0; index < 5; index += 1) {
				await world().sql.run(`update jobs set run_at = 0 where kind = 'gateways.check'`);
				await eventually('the check is over', async () => {
					const due = `select count(*) from jobs where kind = 'gateways.check' and run_at > 0 and lease_until is null`;
					return (await world().sql.count(due)) === 1;
				});
			}
			expect(await world().sql.count('select quiet_checks from gateways where name = ?', name)).toBe(0);
			expect(await status()).toBe('online');
		} finally {
			await second.stop();
		}
	});

	it('who is paying while it goes silent gets what was bought, or the money back', async () => {
		const name = await polling();
		await minutes(world(), 1, [name]);
		const ordered = await world().api.createSession({ router_id: ROUTER, phone: numberEnding('123') });
		const payment = await world().api.pay(ordered);
		await world().asked(payment);
		const late = await world().api.createSession({ router_id: ROUTER });
		await world().sql.run('update routers set silent_since = 1 where id = ?', ROUTER);
		await world().sql.run('update gateways set silent_since = 1, quiet_checks = 3 where name = ?', name);
		expect(await status()).toBe('offline');
		expect(await world().decided(payment)).toMatchObject({ status: 'success', applied: true });
		// Its time does not run while nobody could be let in.
		expect(await world().api.getSession(ordered.id)).toMatchObject({ status: 'activating' });
		// Nobody is asked for money where nobody could be let in, whenever it was ordered.
		const body = { session_id: late.id, amount: late.amount, phone: late.phone };
		await world().api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body });
		const asked = 'select count(*) from payments where session_id = ?';
		expect(await world().sql.count(asked, late.id)).toBe(0);
		expect(await world().api.getSession(late.id)).toMatchObject({
			status: 'pending_payment',
			payment_id: null
		});
		await world().api.refused('400 router_unavailable', 'POST', '/v1/sessions', {
			body: orderOf({ router_id: ROUTER })
		});
		// The order stands, and is paid when the router is heard again.
		await hear(world(), [name]);
		await minutes(world(), 1, [name]);
		const paid = await world().api.getPayment((await world().api.pay(late)).id, 20);
		expect(paid).toMatchObject({ status: 'success', applied: true });
		expect(await world().api.getSession(ordered.id)).toMatchObject({ status: 'active' });
	});
});

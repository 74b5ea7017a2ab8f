/**
 * A router is not sold while none of its gateways responds. Nothing else (a lost packet, a machine that slept, a clock
 * that was set, nobody online) takes it off sale.
 */
import { describe, expect, it } from 'vitest';
import { numberEnding, orderOf } from '../../support/api/api.ts';
import { openDatabase } from '../../../src/lib/server/db/database.ts';
import { createGateways } from '../../../src/lib/server/gateways/gateways.ts';
import { NO_SETTINGS } from '../../../src/lib/server/gateways/settings.ts';
import { systemClock } from '../../../src/lib/server/platform/clock.ts';
import { createSecrets } from '../../../src/lib/server/platform/secrets.ts';
import { startRouterOs } from '../../simulators/gateway/routeros.ts';
import { connectRouterOs, connectUniFi, ROUTER_OS } from '../../support/gateways/consoles.ts';
import { registerGateway, registerRadius } from '../../support/gateways/gateways.ts';
import { addRouter, newOwner } from '../../support/pages/owners.ts';
import { cli } from '../../support/server/cli.ts';
import { startServer } from '../../support/server/server.ts';
import { recordResponse, later, minute, minutes } from '../../support/gateways/watch.ts';
import { DATABASES, eventually, SECRET, useNewFixtures, itWithAll } from '../../support/server/fixture.ts';

const ROUTER = 3;
const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useNewFixtures({ database });

	/** openNDS that comes for its guests. */
	const polling = async (router = ROUTER) =>
		(
			await registerGateway(fixture().server, 'opennds', {
				loginHost: '10.0.0.1',
				router,
				more: ['--level', '4']
			})
		).name;

	const status = async (router = ROUTER) => (await fixture().api.getRouter(router)).status;
	const unresponsiveSince = async (name: string) => {
		const [row] = await fixture().sql.all('select unresponsive_since from gateways where name = ?', name);
		return row?.['unresponsive_since'] ?? null;
	};

	it('a gateway that came for its guests, and does not for three minutes, takes its router off sale', async () => {
		const name = await polling();
		await minutes(fixture(), 2, [name]);
		const [row] = await fixture().sql.all('select seen_at from gateways where name = ?', name);
		await minutes(fixture(), 2);
		expect(await status()).toBe('online');
		await minutes(fixture(), 1);
		expect(await status()).toBe('offline');
		// Since its last message.
		expect(await unresponsiveSince(name)).toBe(row?.['seen_at']);
		await fixture().api.refused('400 router_unavailable', 'POST', '/v1/sessions', {
			body: orderOf({ router_id: ROUTER })
		});
		expect(fixture().server.stderr()).toContain('router offline: none of its gateways responds');
		// Other routers are sold as before.
		expect(await status(4)).toBe('online');

		await recordResponse(fixture(), [name]);
		expect(await status()).toBe('online');
		expect(await unresponsiveSince(name)).toBeNull();
		await fixture().api.createSession({ router_id: ROUTER });
		await minutes(fixture(), 1, [name]);
		await eventually('the log says so', async () =>
			fixture().server.stderr().includes('gateway responds again')
		);
	});

	it('a router whose gateway has never responded does not sell', async () => {
		const name = await polling();
		await minutes(fixture(), 2);
		expect(await status()).toBe('online');
		await minutes(fixture(), 2);
		expect(await status()).toBe('offline');
		const { stdout } = await cli(['gateways', 'test', name], fixture().server);
		expect(stdout).toMatch(/last message: none yet .*its router does not sell until it responds/s);
		await recordResponse(fixture(), [name]);
		expect(await status()).toBe('online');
	});

	it('an answer that refuses our key, or that any web server gives, is no sign of life', async () => {
		const router = await connectRouterOs(fixture(), 'refusing', ROUTER);
		const console = await connectUniFi(fixture(), 'other-server');
		router.fail('unauthorised');
		console.fail('error');
		try {
			const seen = () => fixture().sql.count('select count(*) from gateways where seen_at is not null');
			await minutes(fixture(), 1);
			expect(await seen()).toBe(0);
			await minutes(fixture(), 3);
			expect(await status()).toBe('offline');
			console.heal();
			await minutes(fixture(), 1);
			expect([await seen(), await status()]).toEqual([1, 'online']);
		} finally {
			await Promise.all([router.stop(), console.stop()]);
		}
	});

	it('a gateway that asks only when somebody comes is not judged, and neither is a router without one', async () => {
		await registerRadius(fixture(), { kind: 'mikrotik', access: 'portal_login', router: ROUTER });
		await minutes(fixture(), 5);
		expect(await status()).toBe('online');
		expect(await status(4)).toBe('online');
	});

	it('a packet that was lost, or two, change nothing: only quiet checks in a row count', async () => {
		const name = await polling();
		await minutes(fixture(), 1, [name]);
		for (let round = 0; round < 2; round += 1) {
			await minutes(fixture(), 2);
			expect(await unresponsiveSince(name)).toBeNull();
			await minutes(fixture(), 1, [name]);
		}
		expect(await status()).toBe('online');
	});

	it('a machine that slept, and a clock that was set, take no router off sale', async () => {
		const names = [await polling(), await polling(4)];
		await minutes(fixture(), 2, names);
		// Asleep again and again: each time it wakes, gateways had no time to come yet.
		for (const ms of [3 * hour, hour, 40 * 24 * hour, 5 * minute]) await later(fixture(), ms);
		expect([await status(ROUTER), await status(4)]).toEqual(['online', 'online']);
		// The stored times of the last contacts lie in the future then.
		await fixture().server.advance(-4 * hour);
		await fixture().server.restart();
		await minutes(fixture(), 1);
		expect([await status(ROUTER), await status(4)]).toEqual(['online', 'online']);
		await minutes(fixture(), 2, names);
		// Outages are found as before.
		await minutes(fixture(), 3, names.slice(1));
		expect([await status(ROUTER), await status(4)]).toEqual(['offline', 'online']);
	});

	it('a router with several gateways is offline when none of them responds', async () => {
		const [first, second] = [await polling(), await polling()];
		const names = [first, second];
		await minutes(fixture(), 1, names);
		await minutes(fixture(), 3, [second]);
		expect(await unresponsiveSince(first)).not.toBeNull();
		expect(await status()).toBe('online');
		await minutes(fixture(), 3);
		expect(await status()).toBe('offline');
		await recordResponse(fixture(), [first]);
		expect(await status()).toBe('online');
		await minutes(fixture(), 4);
		expect(await status()).toBe('offline');
		// Gateways that are gone say nothing of the router any more.
		for (const name of names) {
			expect((await cli(['gateways', 'remove', name], fixture().server)).code).toBe(0);
		}
		await fixture().sql.run(`update jobs set run_at = 0, wakes = wakes + 1 where kind = 'gateways.check'`);
		await eventually('the router is sold again', async () => (await status()) === 'online');
	});

	it('checks go on after a crash, and what was found is not forgotten', async () => {
		const name = await polling();
		await minutes(fixture(), 1, [name]);
		await minutes(fixture(), 2);
		await fixture().server.kill();
		await fixture().server.restart();
		expect(await unresponsiveSince(name)).toBeNull();
		await minutes(fixture(), 1);
		expect(await status()).toBe('offline');
		await fixture().server.kill();
		await fixture().server.restart();
		expect(await status()).toBe('offline');
	});

	itWithAll('several processes check as often as one', async () => {
		const name = await polling();
		const { server } = fixture();
		await minutes(fixture(), 1, [name]);
		const clock = server.env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? '0';
		const env = { AIRTILL_SECRET: SECRET, AIRTILL_TEST_CLOCK_OFFSET_MS: clock };
		const second = await startServer({ database: server.databaseUrl, env });
		try {
			// Asked more often than it is time for.
			for (let index = 0; index < 5; index += 1) {
				await fixture().sql.run(
					`update jobs set run_at = 0, wakes = wakes + 1 where kind = 'gateways.check'`
				);
				await eventually('the check is over', async () => {
					const due = `select count(*) from jobs where kind = 'gateways.check' and run_at > 0 and lease_until is null`;
					return (await fixture().sql.count(due)) === 1;
				});
			}
			expect(await fixture().sql.count('select missed_checks from gateways where name = ?', name)).toBe(0);
			expect(await status()).toBe('online');
		} finally {
			await second.stop();
		}
	});

	itWithAll('every gateway is checked, however many there are', async () => {
		await fixture().sql.run(
			`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 1001)
				insert into gateways (router_id, kind, name, key_hash, key_sealed, login_hosts, settings, created_at, updated_at)
				select 5, 'opennds', 'many-' || n, 'hash-' || n, 'v1.none', '[]', '{"level":1}', 1, 1 from numbers`
		);
		const name = await polling();
		await fixture().sql.run("update gateways set name = 'zzz' where name = ?", name);
		await minutes(fixture(), 4);
		expect(await unresponsiveSince('zzz')).not.toBeNull();
		expect(await status()).toBe('offline');
	});

	itWithAll('an owner with many slow gateways does not delay the check of another owner', async () => {
		const slow = await startRouterOs(ROUTER_OS);
		slow.fail('held');
		const owner = await newOwner(fixture());
		const other = await newOwner(fixture());
		const routers = [
			await addRouter(fixture(), owner.accountId, { access_kind: 'portal_login' }),
			await addRouter(fixture(), other.accountId, { access_kind: 'portal_login' })
		] as const;
		// First, so that a check that happens to start now does not find the slow gateways only.
		const quick = await connectRouterOs(fixture(), 'quick', routers[1]);
		const before = quick.asked.length;
		quick.fail('held');
		const database = await openDatabase(fixture().server.databaseUrl, { poolSize: 1 });
		const gateways = createGateways(database, systemClock, createSecrets(SECRET));
		for (let n = 0; n < 9; n += 1) {
			await gateways.add({
				...{ ...NO_SETTINGS, name: `slow-${n}`, routerId: routers[0], kind: 'mikrotik' },
				...{ control: 'rest', loginHosts: ['10.5.50.1'] },
				...{ api: slow.url, apiUser: ROUTER_OS.user, apiKey: ROUTER_OS.password }
			});
		}
		await database.close();
		try {
			await fixture().server.advance(minute);
			await eventually('the other gateway was asked', () => Promise.resolve(quick.asked.length > before));
			// The probe of `quick` is held too, so that an eighth slow gateway does not take its turn.
			expect(slow.asked.length).toBeLessThan(8);
		} finally {
			for (const gateway of [slow, quick]) {
				gateway.heal();
				await gateway.release();
				await gateway.stop();
			}
		}
	});

	it('a buyer who pays while it stops responding gets the time or a refund', async () => {
		const name = await polling();
		await minutes(fixture(), 1, [name]);
		const ordered = await fixture().api.createSession({ router_id: ROUTER, phone: numberEnding('123') });
		const payment = await fixture().api.pay(ordered);
		await fixture().asked(payment);
		const late = await fixture().api.createSession({ router_id: ROUTER });
		await fixture().sql.run('update routers set unresponsive_since = 1 where id = ?', ROUTER);
		await fixture().sql.run(
			'update gateways set unresponsive_since = 1, missed_checks = 3 where name = ?',
			name
		);
		expect(await status()).toBe('offline');
		expect(await fixture().decided(payment)).toMatchObject({ status: 'success', applied: true });
		// Its time does not run while nobody could be let in.
		expect(await fixture().api.getSession(ordered.id)).toMatchObject({ status: 'activating' });
		// Nobody is asked for money where nobody could be let in, whenever it was ordered.
		const body = { session_id: late.id, amount: late.amount, phone: late.phone };
		await fixture().api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body });
		const asked = 'select count(*) from payments where session_id = ?';
		expect(await fixture().sql.count(asked, late.id)).toBe(0);
		expect(await fixture().api.getSession(late.id)).toMatchObject({
			status: 'pending_payment',
			payment_id: null
		});
		await fixture().api.refused('400 router_unavailable', 'POST', '/v1/sessions', {
			body: orderOf({ router_id: ROUTER })
		});
		// The order stands, and is paid when the router responds again.
		await recordResponse(fixture(), [name]);
		await minutes(fixture(), 1, [name]);
		const paid = await fixture().api.getPayment((await fixture().api.pay(late)).id, 20);
		expect(paid).toMatchObject({ status: 'success', applied: true });
		expect(await fixture().api.getSession(ordered.id)).toMatchObject({ status: 'active' });
	});
});

/** Gateways that are removed: whom they let in is put out first, because nobody can do it later. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../simulators/gateway/unifi-console.ts';
import { numberEnding } from '../support/api.ts';
import { buyAtUniFi, connectRouterOs, connectUniFi, newMac, ROUTER_OS_ROUTER } from '../support/consoles.ts';
import { cli } from '../support/server.ts';
import { DATABASES, eventually, useWorld } from '../support/world.ts';

describe.each(DATABASES)('on %s', (kind) => {
	const world = useWorld({ database: kind });
	const running: { unifi?: UniFiConsole; hotspot?: RouterOs; dead?: RouterOs } = {};

	beforeAll(async () => {
		running.unifi = await connectUniFi(world());
	});
	afterEach(() => {
		for (const gateway of Object.values(running)) gateway.heal();
	});
	afterAll(async () => {
		for (const gateway of Object.values(running)) await gateway.stop();
	});

	const remove = (...args: string[]) => cli(['gateways', 'remove', ...args], world().server);
	const isThere = async (name: string) =>
		(await world().sql.count('select count(*) from gateways where name = ?', name)) === 1;
	async function buyAt(hotspot: RouterOs) {
		const { api } = world();
		const session = await api.createSession({ router_id: ROUTER_OS_ROUTER, phone: numberEnding('008') });
		await api.getPayment((await api.pay(session)).id, 20);
		await eventually('it is active', async () => (await api.getSession(session.id)).status === 'active');
		await eventually('its user is there', async () => hotspot.user(`s${session.id}`) !== null);
		return api.getSession(session.id);
	}

	it('a hotspot that does not answer keeps its gateway; one that does has no users of ours left', async () => {
		const hotspot = await connectRouterOs(world());
		running.hotspot = hotspot;
		const session = await buyAt(hotspot);
		const signIn = () => hotspot.signIn(`s${session.id}`, session.password ?? '', newMac());
		expect(signIn()).toBe('online');
		hotspot.fail('down');
		const refused = await remove('hotspot');
		expect(refused.code).toBe(1);
		expect(refused.stderr).toContain('"hotspot" is not removed: 1 of its guests could not be put out there');
		expect(await isThere('hotspot')).toBe(true);
		hotspot.heal();
		// Nothing was changed.
		expect(hotspot.isOnline(`s${session.id}`)).toBe(true);
		const removed = await remove('hotspot');
		expect(removed).toMatchObject({ code: 0 });
		expect(removed.stderr).toContain('Guests put out there: 1.');
		expect(await isThere('hotspot')).toBe(false);
		expect(hotspot.user(`s${session.id}`)).toBeNull();
		expect(hotspot.isOnline(`s${session.id}`)).toBe(false);
		expect(signIn()).not.toBe('online');
	});

	it('a hotspot that is gone for good is removed by force, and it is said what stays there', async () => {
		const dead = await connectRouterOs(world(), 'dead');
		running.dead = dead;
		const { id } = await buyAt(dead);
		dead.fail('down');
		const forced = await remove('dead', '--force');
		expect(forced).toMatchObject({ code: 0 });
		expect(forced.stderr).toMatch(/Not put out there: [1-9]/);
		expect(forced.stderr).toContain(`[find comment="${dead.user(`s${id}`)?.['comment']}"]`);
		expect(await isThere('dead')).toBe(false);
	});

	it('guests of a console are put out', async () => {
		const mac = newMac();
		running.unifi?.join(mac);
		await buyAtUniFi(world(), mac);
		await eventually('it is in', async () => running.unifi?.isIn(mac));
		expect(await remove('console')).toMatchObject({ code: 0 });
		expect(running.unifi?.isIn(mac)).toBe(false);
	});
});

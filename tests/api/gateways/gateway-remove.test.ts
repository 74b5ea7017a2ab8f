/** The removal of a gateway: its devices are disconnected first, because nobody can do it later. */
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import {
	buyAtUniFi,
	connectRouterOs,
	connectUniFi,
	newMac,
	ROUTER_OS_ROUTER,
	UNIFI_ROUTER
} from '../../support/gateways/consoles.ts';
import { cli, startCli } from '../../support/server/server.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

/** Nobody else buys there. */
const OTHER_ROUTER = 5;
const MINUTE = 60_000;
const ACTIONS = /^POST .*\/actions$/;

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	const running: { unifi?: UniFiConsole; hotspot?: RouterOs; dead?: RouterOs; halfWay?: RouterOs } = {};

	afterEach(() => {
		for (const gateway of Object.values(running)) gateway.heal();
	});
	afterAll(async () => {
		for (const gateway of Object.values(running)) await gateway.stop();
	});

	const remove = (...args: string[]) => cli(['gateways', 'remove', ...args], fixture().server);
	const isThere = async (name: string) =>
		(await fixture().sql.count('select count(*) from gateways where name = ?', name)) === 1;
	/** Waits until a gateway has so many guests, and nothing else is to be done there. */
	const allGranted = (name: string, guests: number) =>
		eventually(`${guests} are in at ${name}`, async () => {
			const open = await fixture().sql.all(
				`select state, released_at from grants join gateways on gateways.id = gateway_id
					where name = ? and state in ('granting', 'granted', 'revoking')`,
				name
			);
			const isGranted = open.every((row) => row['state'] === 'granted' && row['released_at'] === null);
			return open.length === guests && isGranted;
		});
	/** Nothing that a gateway was asked for without an answer can still be done: the next command need not wait for it. */
	const forgetAsked = () => fixture().server.advance(MINUTE);
	/** A console of which nobody is a guest, registered. */
	async function theConsole(): Promise<UniFiConsole> {
		if (running.unifi && (await isThere('console'))) return running.unifi;
		await running.unifi?.stop();
		running.unifi = await connectUniFi(fixture());
		return running.unifi;
	}
	/** A device of the console that has bought, and is in. */
	async function inside(mac: string): Promise<void> {
		const console = await theConsole();
		console.join(mac);
		const { sessionId } = await buyAtUniFi(fixture(), mac);
		await eventually('its time runs', async () =>
			fixture().sql.count("select count(*) from sessions where id = ? and status = 'active'", sessionId)
		);
	}
	async function buyAt(hotspot: RouterOs, routerId = ROUTER_OS_ROUTER) {
		const { api } = fixture();
		const session = await api.createSession({ router_id: routerId, phone: numberEnding('008') });
		await api.getPayment((await api.pay(session)).id, 20);
		await eventually('it is active', async () => (await api.getSession(session.id)).status === 'active');
		await eventually('its user is there', async () => hotspot.user(`s${session.id}`) !== null);
		return api.getSession(session.id);
	}

	it('keeps the gateway of a hotspot that does not answer, and removes all users otherwise', async () => {
		const hotspot = await connectRouterOs(fixture());
		running.hotspot = hotspot;
		const session = await buyAt(hotspot);
		const signIn = () => hotspot.signIn(`s${session.id}`, session.password ?? '', newMac());
		expect(signIn()).toBe('online');
		hotspot.fail('down');
		const refused = await remove('hotspot');
		expect(refused.code).toBe(1);
		expect(refused.stderr).toContain('"hotspot" is not removed: 1 of its devices could not be disconnected');
		expect(await isThere('hotspot')).toBe(true);
		hotspot.heal();
		// Nothing was changed.
		expect(hotspot.isOnline(`s${session.id}`)).toBe(true);
		const removed = await remove('hotspot');
		expect(removed).toMatchObject({ code: 0 });
		expect(removed.stderr).toContain('Disconnected devices: 1.');
		expect(await isThere('hotspot')).toBe(false);
		expect(hotspot.user(`s${session.id}`)).toBeNull();
		expect(hotspot.isOnline(`s${session.id}`)).toBe(false);
		expect(signIn()).not.toBe('online');
	});

	it('removes a hotspot that is gone by force, and reports what stays there', async () => {
		const dead = await connectRouterOs(fixture(), 'dead');
		running.dead = dead;
		const { id } = await buyAt(dead);
		dead.fail('down');
		const forced = await remove('dead', '--force');
		expect(forced).toMatchObject({ code: 0 });
		expect(forced.stderr).toMatch(/Not disconnected: [1-9]/);
		expect(forced.stderr).toContain(`[find comment="${dead.user(`s${id}`)?.['comment']}"]`);
		expect(await isThere('dead')).toBe(false);
	});

	describe('a gateway that stops answering during its removal', () => {
		it('keeps its users, and gets removed ones again', async () => {
			const hotspot = await connectRouterOs(fixture(), 'half-way', OTHER_ROUTER);
			running.halfWay = hotspot;
			const guests: Session[] = [];
			for (let count = 0; count < 5; count += 1) guests.push(await buyAt(hotspot, OTHER_ROUTER));
			const user = ({ id }: Session) => `s${id}`;
			const signIn = (guest: Session) => hotspot.signIn(user(guest), guest.password ?? '', newMac());
			for (const guest of guests) expect(signIn(guest)).toBe('online');
			const [, , third] = guests;
			const id = third ? hotspot.user(user(third))?.['.id']?.replace('*', '') : '';
			hotspot.fail('held', { match: new RegExp(`^DELETE .*/user/.${id}$`), times: 1 });
			const removal = startCli(['gateways', 'remove', 'half-way'], fixture().server);
			await eventually('the third is being put out', async () => hotspot.held === 1);
			hotspot.fail('down');
			await hotspot.release();
			const { code, stderr } = await removal.ended;
			expect(code).toBe(1);
			expect(stderr).toContain('"half-way" is not removed: 3 of its devices could not be disconnected');
			expect(stderr).toContain('Disconnected were 2; their users must sign in again once it answers.');
			expect(await isThere('half-way')).toBe(true);
			hotspot.heal();
			await allGranted('half-way', 5);
			for (const guest of guests) expect(hotspot.user(user(guest))).not.toBeNull();
			expect(guests.map((guest) => hotspot.isOnline(user(guest)))).toEqual([false, false, true, true, true]);
			for (const guest of guests.slice(0, 2)) expect(signIn(guest)).toBe('online');
			await forgetAsked();
			expect(await remove('half-way')).toMatchObject({ code: 0 });
			for (const guest of guests) expect(hotspot.user(user(guest))).toBeNull();
		});

		it('keeps its devices, and lets disconnected ones in again', async () => {
			const console = await theConsole();
			const macs = [newMac(), newMac(), newMac(), newMac()];
			for (const mac of macs) await inside(mac);
			const [first = '', second = '', third = '', fourth = ''] = macs;
			console.fail('held', {
				match: new RegExp(`/clients/c1${second.replaceAll(':', '')}-client/`),
				times: 1
			});
			const removal = startCli(['gateways', 'remove', 'console'], fixture().server);
			await eventually('the second is being put out', async () => console.held === 1);
			expect(console.isIn(first)).toBe(false);
			console.fail('down');
			await console.release();
			const { code, stderr } = await removal.ended;
			expect(code).toBe(1);
			expect(stderr).toContain('"console" is not removed: 2 of its devices could not be disconnected');
			expect(await isThere('console')).toBe(true);
			expect(console.isIn(third) && console.isIn(fourth)).toBe(true);
			console.heal();
			for (const mac of macs) await eventually(`${mac} is in`, async () => console.isIn(mac));
			await allGranted('console', 4);
			// The fourth was not asked for, and heard nothing of it.
			expect(console.grantsOf(fourth)).toBe(1);
			await forgetAsked();
			expect(await remove('console')).toMatchObject({ code: 0 });
			expect(macs.some((mac) => console.isIn(mac))).toBe(false);
		});
	});

	it('stays if its router sells a limit by the time its devices are disconnected', async () => {
		const console = await theConsole();
		const mac = newMac();
		await inside(mac);
		const sell = (...offers: object[]) =>
			fixture().owner.send('PUT', `/v1/owner/routers/${UNIFI_ROUTER}/offers`, { body: { offers } });
		console.fail('held', { match: ACTIONS, times: 1 });
		const removal = startCli(['gateways', 'remove', 'console'], fixture().server);
		await eventually('the device is being disconnected', async () => console.held === 1);
		const fast = { name: 'Fast', duration: '1h', price: 500, speed_down_kbps: 2000 };
		expect((await sell(fast)).status).toBe(200);
		await console.release();
		const { code, stderr } = await removal.ended;
		expect(code).toBe(1);
		expect(stderr).toContain(`router ${UNIFI_ROUTER} sells "Fast" with a limit.`);
		expect(await isThere('console')).toBe(true);
		await eventually('the device is in again', async () => console.isIn(mac));
		await allGranted('console', 1);
		expect((await sell()).status).toBe(200);
		await forgetAsked();
		expect(await remove('console')).toMatchObject({ code: 0 });
	});

	describe('a device that is connected during the removal', () => {
		/** A device for which the console has been asked, and has not done it yet. */
		async function halfIn(): Promise<string> {
			const console = await theConsole();
			const mac = newMac();
			console.join(mac);
			console.fail('held', { match: ACTIONS, times: 1 });
			await buyAtUniFi(fixture(), mac);
			await eventually('the grant is on its way', async () => console.held === 1);
			return mac;
		}
		async function removal() {
			const command = startCli(['gateways', 'remove', 'console'], fixture().server);
			const isWaiting = () => command.stderr().includes('Waiting until');
			await Promise.race([eventually('it waits', async () => isWaiting()), command.ended]);
			return command;
		}

		it('is disconnected when the grant is carried out late', async () => {
			const mac = await halfIn();
			const console = await theConsole();
			const command = await removal();
			await console.release();
			await command.advance(3 * MINUTE);
			expect(await command.ended).toMatchObject({ code: 0 });
			expect(console.isIn(mac)).toBe(false);
			expect(await isThere('console')).toBe(false);
		});

		it('is disconnected by the command alone after the server has died', async () => {
			const { server } = fixture();
			const mac = await halfIn();
			const console = await theConsole();
			await server.kill();
			try {
				const command = await removal();
				await console.release();
				expect(console.isIn(mac)).toBe(true);
				await command.advance(MINUTE);
				expect(await command.ended).toMatchObject({ code: 0 });
				expect(console.isIn(mac)).toBe(false);
			} finally {
				await server.restart();
			}
		});

		it('is disconnected when it comes while the command waits', async () => {
			await halfIn();
			const console = await theConsole();
			const command = await removal();
			const late = newMac();
			await inside(late);
			await console.release();
			await command.advance(3 * MINUTE);
			expect(await command.ended).toMatchObject({ code: 0 });
			expect(console.isIn(late)).toBe(false);
		});

		it('is connected again when the command is interrupted', async () => {
			const there = newMac();
			await inside(there);
			const mac = await halfIn();
			const console = await theConsole();
			const command = await removal();
			await eventually('one is out', async () => !console.isIn(there));
			command.signal('SIGINT');
			const { code, stderr } = await command.ended;
			expect(code).toBe(1);
			expect(stderr).toContain('"console" is not removed');
			await console.release();
			for (const one of [there, mac]) await eventually(`${one} is in`, async () => console.isIn(one));
			expect(await isThere('console')).toBe(true);
			await allGranted('console', 2);
			expect([there, mac].every((one) => console.isIn(one))).toBe(true);
			await forgetAsked();
		});
	});

	it('disconnects the devices of a console', async () => {
		const console = await theConsole();
		const mac = newMac();
		await inside(mac);
		expect(await remove('console')).toMatchObject({ code: 0 });
		expect(console.isIn(mac)).toBe(false);
	});
});

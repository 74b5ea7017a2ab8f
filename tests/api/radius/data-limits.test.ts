/** Passes with a data limit at gateways that report by RADIUS: what counts, and what happens when no data is left. */
import { describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { classifyProblem } from '../../../src/lib/server/gateways/gateway.ts';
import type { RadiusAnswer } from '../../support/gateways/radius-calls.ts';
import { BOTH_DATABASES, eventually } from '../../support/server/fixture.ts';
import { CHILLI_ROUTER, MB, newMac, ROUTER, useData } from './use-data.ts';

const MINUTE = 60_000;

const messageOf = ({ attributes }: RadiusAnswer) => String(attributes['reply:Reply-Message']?.value);
const limitsOf = ({ attributes }: RadiusAnswer) =>
	Object.fromEntries(
		Object.entries(attributes).flatMap(([name, { value }]) => (/-Total-/.test(name) ? [[name, value]] : []))
	);

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const { fixture, calls, chilli, elsewhere, buy, read, report, disconnects } = useData(database);

	it('a pass ends for all devices when they have used its data together, without a refund', async () => {
		const { session, payment, user } = await buy(100);
		const [first, second] = [newMac(), newMac()];
		// No gateway has reported any yet.
		expect(session).toMatchObject({ data_used_mb: null, data_left_mb: null, offer: { data_limit_mb: 100 } });
		for (const mac of [first, second]) expect((await calls().postAuth(user, mac)).status).toBe(204);
		await report(user, first, 60 * MB);
		await report(user, second, 39 * MB + 1);
		expect(await read(session)).toMatchObject({ status: 'active', data_used_mb: 99, data_left_mb: 1 });
		await report(user, second, 40 * MB, { in: '0' });
		const over = await read(session);
		expect(over).toMatchObject({
			...{ status: 'ended', status_reason: 'data_limit_reached', password: null, remaining_seconds: 0 },
			...{ data_used_mb: 100, data_left_mb: 0, expires_at: session.expires_at }
		});
		for (const mac of [first, second]) {
			await eventually(`${mac} is disconnected`, () =>
				Promise.resolve(disconnects(`${user}-${mac}`).length > 0)
			);
			const refused = await calls().authorize(user, mac);
			expect(refused.status).toBe(401);
			expect(classifyProblem(messageOf(refused))).toBe('time-over');
		}
		expect(await fixture().api.getPayment(payment.id)).toMatchObject({ status: 'success', applied: true });
		// Reports of devices that are still leaving.
		await report(user, first, 80 * MB);
		expect(await read(session)).toMatchObject({ ended_at: over.ended_at, data_used_mb: 120 });
		expect(await fixture().events(session.id)).toEqual([
			...['payment.success', 'session.activated', 'session.created', 'session.ended']
		]);
		const sent = "select data from events where session_id = ? and type = 'session.ended'";
		const [event] = await fixture().sql.all(sent, session.id);
		expect(JSON.parse(String(event?.['data']))).toMatchObject({
			...{ status_reason: 'data_limit_reached', data_used_mb: 100, data_left_mb: 0 }
		});
	});

	it('the gateway is told what is left of the pass, never nothing', async () => {
		const { user } = await buy(20_000);
		const mac = newMac();
		await calls().postAuth(user, mac);
		const bytes = 20_000 * MB;
		// Otherwise the hotspot's own profile lets in one device.
		expect((await calls().authorize(user, mac)).attributes['reply:Port-Limit']?.value).toBe(2);
		expect(limitsOf(await calls().authorize(user, mac))).toEqual({
			'reply:Mikrotik-Total-Limit': bytes % 2 ** 32,
			'reply:Mikrotik-Total-Limit-Gigawords': 4
		});
		await fixture().server.advance(10 * MINUTE);
		await report(user, mac, 17_000 * MB, { lasted: '600' });
		expect(limitsOf(await calls().authorize(user, mac))).toEqual({
			'reply:Mikrotik-Total-Limit': 3_000 * MB
		});
		const at = { router: CHILLI_ROUTER };
		const small = await buy(4_000, at.router);
		expect(limitsOf(await chilli().authorize(small.user, newMac()))).toEqual({
			'reply:ChilliSpot-Max-Total-Octets': 4_000 * MB
		});
		const large = await buy(5_000, at.router);
		expect(limitsOf(await chilli().authorize(large.user, newMac()))).toEqual({});
	});

	it('every byte counts once: repeated and late reports, reports of a connection named later, restarts', async () => {
		const { session, user } = await buy(100);
		const mac = newMac();
		await calls().postAuth(user, mac);
		const used = async () => (await read(session)).data_used_mb;
		for (const bytes of [30, 30, 10, 20]) await report(user, mac, bytes * MB);
		expect(await used()).toBe(30);
		await Promise.all(Array.from({ length: 6 }, () => report(user, mac, 40 * MB)));
		expect(await used()).toBe(40);
		// Nobody knows whose connection it is, until a report names the user.
		const unnamed = { mac: newMac(), lasted: '60' };
		await calls().account('start', 'named-later', unnamed);
		await calls().account('interim', 'named-later', { ...unnamed, in: String(20 * MB) });
		expect(await used()).toBe(40);
		await calls().account('interim', 'named-later', { ...unnamed, user, in: String(25 * MB) });
		await calls().account('interim', 'named-later', { ...unnamed, user, in: String(25 * MB) });
		expect(await used()).toBe(65);
		await calls().account('on', '');
		await report(user, mac, 40 * MB);
		await calls().account('stop', 'named-later', { ...unnamed, user, in: String(25 * MB) });
		expect(await read(session)).toMatchObject({ status: 'active', data_used_mb: 65 });
	});

	it('data from before a pass is not its data', async () => {
		const older = await buy(100);
		await fixture().server.advance(10 * MINUTE);
		const newer = await buy(100);
		const used = async () => [
			(await read(older.session)).data_used_mb,
			(await read(newer.session)).data_used_mb
		];
		const goesOn = (user: string, megabytes: number, lasted = '300') =>
			calls().account('interim', 'goes-on', { user, mac: '', lasted, out: String(megabytes * MB) });
		await goesOn(older.user, 80);
		// The same connection, now under another name.
		await goesOn(newer.user, 80);
		expect(await used()).toEqual([80, null]);
		await goesOn(newer.user, 90);
		expect(await used()).toEqual([80, 10]);
		// A connection that got its name late.
		const nameless = { mac: newMac(), lasted: '300' };
		await calls().account('start', 'older-than-name', { ...nameless, out: String(50 * MB) });
		const named = { ...nameless, user: newer.user };
		for (const bytes of [50, 55]) {
			await calls().account('interim', 'older-than-name', { ...named, out: String(bytes * MB) });
		}
		expect(await used()).toEqual([80, 15]);
		// A new connection with a used name begins at 0.
		const newest = await buy(100);
		await goesOn(newest.user, 30, '1');
		expect(await read(newest.session)).toMatchObject({ data_used_mb: 30 });
	});

	it('a connection that goes on after its gateway said it restarted still ends with its pass', async () => {
		const { session, user } = await buy(100);
		const mac = newMac();
		await calls().postAuth(user, mac);
		await report(user, mac, 10 * MB);
		const restart = async () => {
			await fixture().server.advance(1_000);
			await calls().account('on', '');
			await fixture().server.advance(1_000);
		};
		const row = async () => {
			const mine = 'select stopped_at is null as is_open, stop_cause from connections where mac = ?';
			const [found] = await fixture().sql.all(mine, mac);
			return [Boolean(found?.['is_open']), found?.['stop_cause']];
		};
		await restart();
		expect(await row()).toEqual([false, 'NAS-Reboot']);
		// Sent before the restart.
		await report(user, mac, 15 * MB, { delay: '30' });
		expect(await row()).toEqual([false, 'NAS-Reboot']);
		await report(user, mac, 20 * MB);
		expect(await row()).toEqual([true, null]);
		await calls().account('stop', `${user}-${mac}`, { user, mac, lasted: '62', cause: 'User-Request' });
		expect(await row()).toEqual([false, 'User-Request']);
		const other = newMac();
		await calls().postAuth(user, other);
		await report(user, other, 10 * MB);
		await restart();
		await report(user, other, 80 * MB);
		expect(await read(session)).toMatchObject({ status: 'ended', data_used_mb: 100 });
		await eventually('it is disconnected', () => Promise.resolve(disconnects(`${user}-${other}`).length > 0));
	});

	it('a gateway of another router changes nothing, and a pass without a limit never ends by data', async () => {
		const { session, user } = await buy(100);
		const mac = newMac();
		const className = `pass-${session.id}-${Math.round(Date.parse(session.expires_at ?? '') / 1000)}`;
		const stolen = { user, mac, class: className, out: String(200 * MB), lasted: '60' };
		await elsewhere().account('start', 'of-another-router', stolen);
		expect(await read(session)).toMatchObject({ status: 'active', data_used_mb: null });
		const unlimited = await fixture().buy({ router_id: ROUTER, duration: '2h' });
		expect(unlimited.session).toMatchObject({ data_used_mb: null, data_left_mb: null });
		await fixture().server.advance(10 * MINUTE);
		await report(loginUser(unlimited.session.id), newMac(), 15_000 * MB, { lasted: '600' });
		expect(await read(unlimited.session)).toMatchObject({
			...{ status: 'active', data_used_mb: 15_000, data_left_mb: null }
		});
	});
});

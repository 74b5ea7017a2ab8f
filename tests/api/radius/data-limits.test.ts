/**
 * Passes with a data limit at gateways that report by RADIUS: what counts, what happens when no data is left, and what added
 * time brings.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { classifyProblem } from '../../../src/lib/server/gateways/gateway.ts';
import { startNas, type StandInNas } from '../../simulators/radius-nas.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusAnswer, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { BOTH_DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const [ROUTER, CHILLI_ROUTER, OTHER_ROUTER] = [3, 4, 5];
/** Of the offers at CoovaChilli. */
const SPEED = { speed_down_kbps: 2_048, speed_up_kbps: 512 };
const SECRET_OF_NAS = 'a-secret-of-this-nas';
const MB = 1_000_000;
const MINUTE = 60_000;

let count = 0;
const newMac = () => `02:00:00:00:09:${(count += 1).toString(16).padStart(2, '0')}`;

const messageOf = ({ attributes }: RadiusAnswer) => String(attributes['reply:Reply-Message']?.value);
const limitsOf = ({ attributes }: RadiusAnswer) =>
	Object.fromEntries(
		Object.entries(attributes).flatMap(([name, { value }]) => (/-Total-/.test(name) ? [[name, value]] : []))
	);

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let nas: StandInNas;
	let chilliNas: StandInNas;
	let calls: RadiusCalls;
	let chilli: RadiusCalls;
	let elsewhere: RadiusCalls;

	beforeAll(async () => {
		nas = await startNas(SECRET_OF_NAS);
		chilliNas = await startNas(SECRET_OF_NAS, '127.0.0.2');
		const more = { access: 'portal_login', radiusSecret: SECRET_OF_NAS } as const;
		const { url } = fixture().server;
		const register = async (kind: 'mikrotik' | 'coova', router: number, host: string, { port } = nas) => {
			const address = { router, nas: `${host}:${port}` };
			return radiusCalls(url, await registerRadius(fixture(), { kind, ...more, ...address }));
		};
		calls = await register('mikrotik', ROUTER, '127.0.0.1');
		chilli = await register('coova', CHILLI_ROUTER, '127.0.0.2', chilliNas);
		elsewhere = await register('mikrotik', OTHER_ROUTER, '127.0.0.3');
	});
	afterAll(() => Promise.all([nas?.stop(), chilliNas?.stop()]));

	/** Sells an hour with so much data for two devices. @returns the id of the offer */
	async function sell(megabytes: number, router = ROUTER): Promise<number> {
		const limits = { max_devices: 2, data_limit_mb: megabytes, ...(router === CHILLI_ROUTER && SPEED) };
		const hour = { name: 'Hour', duration: '1h', price: 400, ...limits };
		const path = `/v1/owner/routers/${router}/offers`;
		const { status, body } = await fixture().owner.send('PUT', path, { body: { offers: [hour] } });
		expect([status, body]).toEqual([200, body]);
		return (body as { data: { id: number }[] }).data[0]?.id ?? 0;
	}
	async function buy(megabytes: number, router = ROUTER) {
		const offer_id = await sell(megabytes, router);
		const { session, payment } = await fixture().buy({ router_id: router, duration: '1h', offer_id });
		return { session, payment, user: loginUser(session.id), offer_id };
	}
	/** Adds an hour with its data to a session. */
	const addHour = ({ id, router_id, phone }: Session, offer_id: number) =>
		fixture().buy({ router_id, duration: '1h', phone, offer_id, extends_session_id: id });
	const read = (session: Session) => fixture().api.getSession(session.id);
	/** Reports what a connection has received since it began. */
	const report = (user: string, mac: string, bytes: number, more: Record<string, string> = {}) =>
		calls.account('interim', `${user}-${mac}`, {
			...{ user, mac, lasted: '60', out: String(bytes % 2 ** 32) },
			...{ out_gigawords: String(Math.floor(bytes / 2 ** 32)), ...more }
		});
	const disconnects = (id: string) =>
		nas.asked.filter(({ kind, attributes }) => kind === 'disconnect' && attributes[44] === id);

	it('a pass ends for all devices when they have used its data together, without a refund', async () => {
		const { session, payment, user } = await buy(100);
		const [first, second] = [newMac(), newMac()];
		// No gateway has reported any yet.
		expect(session).toMatchObject({ data_used_mb: null, data_left_mb: null, offer: { data_limit_mb: 100 } });
		for (const mac of [first, second]) expect((await calls.postAuth(user, mac)).status).toBe(204);
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
			const refused = await calls.authorize(user, mac);
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
		await calls.postAuth(user, mac);
		const bytes = 20_000 * MB;
		// Otherwise the hotspot's own profile lets in one device.
		expect((await calls.authorize(user, mac)).attributes['reply:Port-Limit']?.value).toBe(2);
		expect(limitsOf(await calls.authorize(user, mac))).toEqual({
			'reply:Mikrotik-Total-Limit': bytes % 2 ** 32,
			'reply:Mikrotik-Total-Limit-Gigawords': 4
		});
		await fixture().server.advance(10 * MINUTE);
		await report(user, mac, 17_000 * MB, { lasted: '600' });
		expect(limitsOf(await calls.authorize(user, mac))).toEqual({
			'reply:Mikrotik-Total-Limit': 3_000 * MB
		});
		const at = { router: CHILLI_ROUTER };
		const small = await buy(4_000, at.router);
		expect(limitsOf(await chilli.authorize(small.user, newMac()))).toEqual({
			'reply:ChilliSpot-Max-Total-Octets': 4_000 * MB
		});
		const large = await buy(5_000, at.router);
		expect(limitsOf(await chilli.authorize(large.user, newMac()))).toEqual({});
	});

	it('every byte counts once: repeated and late reports, reports of a connection named later, restarts', async () => {
		const { session, user } = await buy(100);
		const mac = newMac();
		await calls.postAuth(user, mac);
		const used = async () => (await read(session)).data_used_mb;
		for (const bytes of [30, 30, 10, 20]) await report(user, mac, bytes * MB);
		expect(await used()).toBe(30);
		await Promise.all(Array.from({ length: 6 }, () => report(user, mac, 40 * MB)));
		expect(await used()).toBe(40);
		// Nobody knows whose connection it is, until a report names the user.
		const unnamed = { mac: newMac(), lasted: '60' };
		await calls.account('start', 'named-later', unnamed);
		await calls.account('interim', 'named-later', { ...unnamed, in: String(20 * MB) });
		expect(await used()).toBe(40);
		await calls.account('interim', 'named-later', { ...unnamed, user, in: String(25 * MB) });
		await calls.account('interim', 'named-later', { ...unnamed, user, in: String(25 * MB) });
		expect(await used()).toBe(65);
		await calls.account('on', '');
		await report(user, mac, 40 * MB);
		await calls.account('stop', 'named-later', { ...unnamed, user, in: String(25 * MB) });
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
			calls.account('interim', 'goes-on', { user, mac: '', lasted, out: String(megabytes * MB) });
		await goesOn(older.user, 80);
		// The same connection, now under another name.
		await goesOn(newer.user, 80);
		expect(await used()).toEqual([80, null]);
		await goesOn(newer.user, 90);
		expect(await used()).toEqual([80, 10]);
		// A connection that got its name late.
		const nameless = { mac: newMac(), lasted: '300' };
		await calls.account('start', 'older-than-name', { ...nameless, out: String(50 * MB) });
		const named = { ...nameless, user: newer.user };
		for (const bytes of [50, 55]) {
			await calls.account('interim', 'older-than-name', { ...named, out: String(bytes * MB) });
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
		await calls.postAuth(user, mac);
		await report(user, mac, 10 * MB);
		const restart = async () => {
			await fixture().server.advance(1_000);
			await calls.account('on', '');
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
		await calls.account('stop', `${user}-${mac}`, { user, mac, lasted: '62', cause: 'User-Request' });
		expect(await row()).toEqual([false, 'User-Request']);
		const other = newMac();
		await calls.postAuth(user, other);
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
		await elsewhere.account('start', 'of-another-router', stolen);
		expect(await read(session)).toMatchObject({ status: 'active', data_used_mb: null });
		const unlimited = await fixture().buy({ router_id: ROUTER, duration: '2h' });
		expect(unlimited.session).toMatchObject({ data_used_mb: null, data_left_mb: null });
		await fixture().server.advance(10 * MINUTE);
		await report(loginUser(unlimited.session.id), newMac(), 15_000 * MB, { lasted: '600' });
		expect(await read(unlimited.session)).toMatchObject({
			...{ status: 'active', data_used_mb: 15_000, data_left_mb: null }
		});
	});

	it('a gateway that takes no data for an open connection gets the new end without it', async () => {
		const { session, user, offer_id } = await buy(100);
		await calls.postAuth(user, newMac());
		await report(user, newMac(), 70 * MB);
		nas.manner = 'no-vendor';
		await addHour(session, offer_id);
		const ends = () =>
			nas.asked
				.filter(({ kind, attributes }) => kind === 'coa' && attributes[1] === user)
				.map(({ vendor }) => vendor);
		// A slow answer counts as none: the same request may come twice.
		await eventually('it is asked without data', () =>
			Promise.resolve(ends().some((vendor) => Object.keys(vendor).length === 0))
		);
		expect(ends()[0]).toEqual({ '14988.17': 200 * MB, '14988.18': 0 });
		const told = 'select disconnect_attempts, last_error, enforced_until from connections where pass_id = ?';
		await eventually('the end is known', async () => {
			const [row] = await fixture().sql.all(told, session.id);
			return (
				row?.['last_error'] === null && Number(row['enforced_until']) > Date.parse(session.expires_at ?? '')
			);
		});
		nas.manner = 'ack';
	});

	it('added time brings its data, which an open connection gets with the new end', async () => {
		const { session, user, offer_id } = await buy(100);
		const mac = newMac();
		await calls.postAuth(user, mac);
		await report(user, mac, 70 * MB);
		const { session: added } = await addHour(session, offer_id);
		expect(added).toMatchObject({ pass_id: session.id, data_used_mb: 70, data_left_mb: 130 });
		const told = await eventually('the connection gets both', () =>
			Promise.resolve(nas.asked.find(({ kind, attributes }) => kind === 'coa' && attributes[1] === user))
		);
		expect(told.vendor).toEqual({ '14988.17': 200 * MB, '14988.18': 0 });
		expect(told.attributes[27]).toBeGreaterThan(3600);
		await report(user, mac, 199 * MB);
		expect(await read(session)).toMatchObject({ status: 'active', data_left_mb: 1 });
		await report(user, mac, 200 * MB);
		for (const one of [session, added]) {
			expect(await read(one)).toMatchObject({ status: 'ended', status_reason: 'data_limit_reached' });
			expect((await fixture().events(one.id)).filter((type) => type === 'session.ended')).toHaveLength(1);
		}
	});

	it('added time repeats all limits at CoovaChilli, which removes those that a CoA-Request lacks', async () => {
		const { session, user, offer_id } = await buy(100, CHILLI_ROUTER);
		const mac = newMac();
		await chilli.postAuth(user, mac);
		await chilli.account('interim', 'chilli-1', { user, mac, lasted: '60', out: String(70 * MB) });
		await addHour(session, offer_id);
		const request = await eventually('CoovaChilli gets a CoA-Request', () =>
			Promise.resolve(chilliNas.asked.find(({ kind }) => kind === 'coa'))
		);
		expect(request.vendor).toEqual({
			...{ '14559.3': 200 * MB, '14559.23': 0 },
			...{ '14122.7': 512_000, '14122.8': 2_048_000 }
		});
		expect(request.attributes[85]).toBe(60);
		// It refuses what it does not know, without an Error-Cause.
		chilliNas.manner = 'unknown';
		expect((await fixture().admin.send('DELETE', `/v1/sessions/${session.id}`)).status).toBe(200);
		await eventually('the connection is over', () =>
			fixture().sql.count(
				"select count(*) from connections where disconnect_state = 'done' and pass_id = ?",
				session.id
			)
		);
	});

	describe('money on its way when the data ends', () => {
		const extension = ({ session, offer_id }: Awaited<ReturnType<typeof buy>>) =>
			fixture().api.createSession({
				...{ router_id: ROUTER, duration: '1h', phone: numberEnding('008'), offer_id },
				extends_session_id: session.id
			});
		async function useUp({ user }: { user: string }) {
			const mac = newMac();
			await calls.postAuth(user, mac);
			await report(user, mac, 100 * MB);
		}
		async function ownPass(session: Session) {
			const active = await eventually('the time runs', async () => {
				const found = await read(session);
				return found.status === 'active' && found;
			});
			expect(active).toMatchObject({ pass_id: session.id, data_used_mb: null, data_left_mb: null });
			expect((await calls.authorize(loginUser(session.id), newMac())).status).toBe(200);
		}

		it('added time that is paid afterwards is a pass of its own, with all its data', async () => {
			const first = await buy(100);
			const added = await extension(first);
			await useUp(first);
			expect((await read(first.session)).status).toBe('ended');
			await fixture().api.pay(added);
			await ownPass(added);
		});

		it('so is added time whose payment succeeds late', async () => {
			const { api, server } = fixture();
			const first = await buy(100);
			const added = await extension(first);
			await server.advance(25 * MINUTE);
			const payment = await api.pay(added, numberEnding('004'));
			await fixture().asked(payment);
			await server.advance(10 * MINUTE);
			await eventually('it was cancelled', async () => (await read(added)).status === 'cancelled');
			await useUp(first);
			await server.advance(20 * MINUTE);
			await ownPass(added);
			expect(await api.getPayment(payment.id)).toMatchObject({ status: 'success', applied: true });
		});

		it('a payment at the same moment buys time and data of the old pass or of its own', async () => {
			const first = await buy(100);
			const added = await extension(first);
			const mac = newMac();
			await calls.postAuth(first.user, mac);
			const [payment] = await Promise.all([
				fixture().api.pay(added),
				...[98, 99, 100].map((bytes) => report(first.user, mac, bytes * MB))
			]);
			await eventually('it is paid', async () => (await fixture().api.getPayment(payment.id)).applied);
			const { pass_id, ...bought } = await read(added);
			const isOwn = pass_id === added.id;
			// All of its own, or 100 left of 200.
			expect(bought).toMatchObject({ status: 'active', data_left_mb: isOwn ? null : 100 });
			expect((await read(first.session)).status).toBe(isOwn ? 'ended' : 'active');
		});
	});
});

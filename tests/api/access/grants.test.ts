/** Grants at gateways that Airtill calls: lost and late answers, dead processes, failing gateways. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { purchaseToken } from '#lib/server/platform/ids.ts';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import {
	buyAtUniFi,
	connectRouterOs,
	connectUniFi,
	newMac,
	ROUTER_OS_ROUTER,
	UNIFI_KEY,
	UNIFI_ROUTER,
	unifiEntry,
	visitOf,
	type Bought
} from '../../support/gateways/consoles.ts';
import { sha256 } from '../../support/gateways/opennds.ts';
import { browse } from '../../support/pages/browsing.ts';
import { buyHourOn } from '../../support/pages/splash.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The lease of a job, and its next run. */
const LEASE = 16 * SECOND;
const ACTIONS = /^POST .*\/actions$/;

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	let unifi: UniFiConsole;
	let hotspot: RouterOs;

	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
		hotspot = await connectRouterOs(fixture());
	});
	afterEach(() => {
		unifi.heal();
		hotspot.heal();
		unifi.clockOffsetMs = 0;
	});
	afterAll(() => Promise.all([unifi.stop(), hotspot.stop()]));

	async function row(id: number): Promise<Record<string, unknown>> {
		const [found] = await fixture().sql.all('select * from sessions where id = ?', id);
		return found ?? {};
	}
	const becomes = (id: number, status: Session['status']) =>
		eventually(`session ${id} is ${status}`, async () => (await row(id))['status'] === status);
	const grants = (id: number) => fixture().sql.all('select * from grants where pass_id = ? order by id', id);
	const noted = (id: number, state: string) =>
		eventually(`the grant is ${state}`, async () => (await grants(id))[0]?.['state'] === state);
	const isIn = ({ mac }: Pick<Bought, 'mac'>) => eventually(`${mac} is in`, async () => unifi.isIn(mac));
	const isOut = ({ mac }: Pick<Bought, 'mac'>) => eventually(`${mac} is out`, async () => !unifi.isIn(mac));
	const tried = (match: RegExp, times = 1) => {
		const before = unifi.asked.length;
		return eventually(
			`the console was asked ${times} times`,
			async () => unifi.asked.slice(before).filter((line) => match.test(line)).length >= times
		);
	};
	const payment = async (sessionId: number) => {
		const [found] = await fixture().sql.all('select * from payments where session_id = ?', sessionId);
		return found ?? {};
	};
	/** A device on the Wi-Fi of the console that has bought, and is in. */
	async function inside(): Promise<Bought> {
		const mac = newMac();
		unifi.join(mac);
		const bought = await buyAtUniFi(fixture(), mac);
		await becomes(bought.sessionId, 'active');
		return bought;
	}
	const end = async (sessionId: number) => {
		expect((await fixture().admin.send('DELETE', `/v1/sessions/${sessionId}`)).status).toBe(200);
	};
	/** Pays at the hotspot, whose users are told. */
	async function buyAtHotspot(more: { extends_session_id?: number } = {}): Promise<Session> {
		const { api } = fixture();
		const session = await api.createSession({
			router_id: ROUTER_OS_ROUTER,
			phone: numberEnding('008'),
			...more
		});
		await api.getPayment((await api.pay(session)).id, 20);
		await becomes(session.id, 'active');
		return api.getSession(session.id);
	}

	describe('a device at a console that Airtill calls', () => {
		it('waits while the console is down, and its time starts when the console confirms it', async () => {
			const mac = newMac();
			unifi.join(mac);
			unifi.fail('down');
			const bought = await buyAtUniFi(fixture(), mac);
			expect(await row(bought.sessionId)).toMatchObject({ status: 'activating', starts_at: null });
			await tried(/sites/, 2);
			const healedAt = fixture().server.now();
			unifi.heal();
			await becomes(bought.sessionId, 'active');
			expect(unifi.isIn(mac)).toBe(true);
			const { starts_at: startsAt, expires_at: expiresAt } = await row(bought.sessionId);
			expect(Number(startsAt)).toBeGreaterThanOrEqual(healedAt);
			expect(Number(expiresAt) - Number(startsAt)).toBe(HOUR);
			// Whole minutes, and never fewer than were paid.
			expect(unifi.minutesOf(mac)).toBe(61);
			expect(await payment(bought.sessionId)).toMatchObject({ status: 'success', applied: 1 });
			expect(await grants(bought.sessionId)).toMatchObject([
				{ state: 'granted', mac, last_error: null, attempts: 0 }
			]);
			expect(unifi.grantsOf(mac)).toBe(1);
		});

		it.each([
			['unauthorised', 'The console rejected the API key.'],
			['error', 'The console responded with status 500.']
		] as const)('calls a console that answers %s again, and stores the reason', async (fault, reason) => {
			const mac = newMac();
			unifi.join(mac);
			unifi.fail(fault);
			const bought = await buyAtUniFi(fixture(), mac);
			await eventually('the reason is noted', async () => {
				const [grant] = await grants(bought.sessionId);
				return grant?.['last_error'] === reason;
			});
			expect(await fixture().sql.count('select count(*) from gateways where trouble = ?', reason)).toBe(1);
			expect(fixture().server.stdout()).not.toContain(UNIFI_KEY);
			unifi.heal();
			await becomes(bought.sessionId, 'active');
			await eventually(
				'the trouble is over',
				async () =>
					(await fixture().sql.count('select count(*) from gateways where trouble is not null')) === 0
			);
		});

		it('is connected as soon as it is on the Wi-Fi', async () => {
			const mac = newMac();
			const bought = await buyAtUniFi(fixture(), mac);
			await tried(/clients/, 1);
			expect((await row(bought.sessionId))['status']).toBe('activating');
			unifi.join(mac);
			await becomes(bought.sessionId, 'active');
			await isIn(bought);
		});

		it('is refunded after ten minutes, and disconnected if a lost answer let it in', async () => {
			const { server, sql, owner } = fixture();
			// Not the list of days, which moves on at midnight.
			const earned = async () =>
				((await owner.send('GET', '/v1/owner/earnings')).body as { total: unknown }).total;
			const before = await earned();
			const mac = newMac();
			unifi.join(mac);
			unifi.fail('lost', { match: ACTIONS });
			const bought = await buyAtUniFi(fixture(), mac);
			await isIn(bought);
			const again = tried(ACTIONS);
			await server.advance(9 * MINUTE);
			await again;
			expect((await row(bought.sessionId))['status']).toBe('activating');
			await server.advance(MINUTE + SECOND);
			await becomes(bought.sessionId, 'cancelled');
			unifi.heal();
			expect(await row(bought.sessionId)).toMatchObject({
				status_reason: 'provisioning_failed',
				starts_at: null
			});
			expect(await sql.all('select password_sealed from passes where id = ?', bought.sessionId)).toEqual([
				{ password_sealed: null }
			]);
			await isOut(bought);
			await eventually('the money is back', async () => {
				await server.advance(5 * SECOND);
				return (await payment(bought.sessionId))['status'] === 'refunded';
			});
			expect(await payment(bought.sessionId)).toMatchObject({
				applied: 0,
				refund_reason: 'provisioning_failed'
			});
			expect(
				await sql.count(
					'select count(*) from refunds where payment_id = ?',
					Number((await payment(bought.sessionId))['id'])
				)
			).toBe(1);
			expect(await earned()).toEqual(before);
			expect(unifi.isIn(mac)).toBe(false);
		});

		it('is refunded if it came after its payment and the console never let it in', async () => {
			const { server, sql } = fixture();
			const person = browse(server.url);
			const path = await buyHourOn(person, await person.get(`/r/${UNIFI_ROUTER}`));
			const id = await eventually('the time runs without a device', async () => {
				const [newest] = await sql.all('select id, status from sessions order by id desc limit 1');
				return newest?.['status'] === 'active' && Number(newest['id']);
			});
			await server.advance(20 * MINUTE);
			const mac = newMac();
			unifi.join(mac);
			unifi.fail('down');
			await person.get(`${path}?visit=${await visitOf(person, mac)}`);
			await eventually('a grant is requested', async () => (await grants(id)).length > 0);
			await server.advance(9 * MINUTE);
			expect((await row(id))['status']).toBe('active');
			await server.advance(2 * MINUTE);
			await becomes(id, 'cancelled');
			expect(await row(id)).toMatchObject({ status_reason: 'provisioning_failed' });
			expect(await payment(id)).toMatchObject({ applied: 0, refund_reason: 'provisioning_failed' });
		});

		it('is connected if its first order is paid late, before the one that replaced it could cancel it', async () => {
			const { server, sql } = fixture();
			const person = browse(server.url);
			const mac = newMac();
			unifi.join(mac);
			const path = await buyHourOn(person, await person.get(unifiEntry(mac)), numberEnding('004'));
			const first = sha256(path.slice('/s/'.length));
			await eventually('the payment has started', async () =>
				sql.count(`select count(*) from payments where status = 'pending'`)
			);
			// As a crash between the new order and the cancellation of the old one leaves them.
			const next = sha256(purchaseToken());
			const copied =
				'router_id, duration, offer_id, payment_method, phone, amount_minor, currency, created_at, updated_at';
			await sql.run(
				`insert into purchases (${copied}, token_hash, replaces_session_id)
					select ${copied}, '${next}', session_id from purchases where token_hash = '${first}'`
			);
			await sql.run(
				`update captive_sessions set purchase_token_hash = '${next}' where purchase_token_hash = '${first}'`
			);
			await server.advance(10 * MINUTE);
			await server.advance(28 * MINUTE);
			await eventually('the device is in', async () => unifi.isIn(mac));
		});

		it('is disconnected within five seconds after its end', async () => {
			const bought = await inside();
			const left = Number((await row(bought.sessionId))['expires_at']) - fixture().server.now();
			await fixture().server.advance(left - 2 * SECOND);
			expect(unifi.isIn(bought.mac)).toBe(true);
			await isOut(bought);
			const late = fixture().server.now() - Number((await row(bought.sessionId))['expires_at']);
			expect(late).toBeGreaterThanOrEqual(0);
			expect(late).toBeLessThan(9 * SECOND);
			await becomes(bought.sessionId, 'expired');
		});

		it('is disconnected when its session is ended, also if the console is down at first', async () => {
			const bought = await inside();
			unifi.fail('down', { times: 2 });
			await end(bought.sessionId);
			await isOut(bought);
			await noted(bought.sessionId, 'revoked');
			expect(unifi.grantsOf(bought.mac)).toBe(1);
		});

		it('is disconnected when it comes back after its end', async () => {
			const bought = await inside();
			unifi.leave(bought.mac);
			const asked = tried(/clients/);
			await end(bought.sessionId);
			await asked;
			unifi.join(bought.mac);
			await fixture().server.advance(MINUTE + SECOND);
			await isOut(bought);
		});

		it('is connected again when the console has forgotten it', async () => {
			const bought = await inside();
			unifi.forget(bought.mac);
			const visit = await visitOf(bought.person, bought.mac);
			await bought.person.raw(`${bought.path}?visit=${visit}`);
			await isIn(bought);
			expect(await grants(bought.sessionId)).toHaveLength(1);
		});

		it('is connected again when a console that has forgotten it redirects it', async () => {
			const bought = await inside();
			unifi.forget(bought.mac);
			await fixture().server.advance(MINUTE);
			await visitOf(bought.person, bought.mac);
			await isIn(bought);
			expect(unifi.minutesOf(bought.mac)).toBeLessThan(60);
			expect(await grants(bought.sessionId)).toHaveLength(1);
			await noted(bought.sessionId, 'granted');
			expect((await bought.person.get(bought.path)).text).toContain('You are online.');
			// Its pass has ended: nothing to request again.
			await end(bought.sessionId);
			await isOut(bought);
			await visitOf(bought.person, bought.mac);
			await tried(/./, 0);
			expect(unifi.isIn(bought.mac)).toBe(false);
		});

		it('keeps a second device out, unless the router allows two', async () => {
			const { sql } = fixture();
			const first = await inside();
			const other = newMac();
			unifi.join(other);
			await first.person.raw(`${first.path}?visit=${await visitOf(first.person, other)}`);
			await tried(/./, 0);
			expect(unifi.isIn(other)).toBe(false);
			expect(await grants(first.sessionId)).toHaveLength(1);

			await sql.run('update routers set max_devices = 2 where id = 3');
			const second = await inside();
			await sql.run('update routers set max_devices = 1 where id = 3');
			await second.person.raw(`${second.path}?visit=${await visitOf(second.person, other)}`);
			await isIn({ mac: other });
			await end(second.sessionId);
			await isOut(second);
			await isOut({ mac: other });
		});

		it('stays online until the last of its two passes is over', async () => {
			const first = await inside();
			const second = await buyAtUniFi(fixture(), first.mac);
			await becomes(second.sessionId, 'active');
			await end(first.sessionId);
			await noted(first.sessionId, 'revoked');
			await noted(second.sessionId, 'granted');
			expect(unifi.isIn(first.mac)).toBe(true);
			await end(second.sessionId);
			await isOut(first);
		});

		it('gets its full time from a console whose clock is ten minutes off', async () => {
			unifi.clockOffsetMs = 10 * MINUTE;
			const bought = await inside();
			expect(unifi.minutesOf(bought.mac)).toBe(61);
		});
	});

	describe('a process that dies', () => {
		it('loses nothing between the payment and the grant', async () => {
			const { server } = fixture();
			const mac = newMac();
			unifi.join(mac);
			unifi.fail('down');
			const bought = await buyAtUniFi(fixture(), mac);
			await server.kill();
			unifi.heal();
			await server.restart();
			await server.advance(LEASE);
			await becomes(bought.sessionId, 'active');
			expect(unifi.grantsOf(mac)).toBe(1);
			expect(await payment(bought.sessionId)).toMatchObject({ status: 'success', applied: 1 });
		});

		it('loses nothing between the grant and its record', async () => {
			const { server } = fixture();
			const mac = newMac();
			unifi.join(mac);
			unifi.fail('held', { match: ACTIONS, times: 1 });
			const bought = await buyAtUniFi(fixture(), mac);
			await eventually('the grant is on its way', async () => unifi.held === 1);
			await server.kill();
			await unifi.release();
			expect(unifi.isIn(mac)).toBe(true);
			await server.restart();
			const startedAt = fixture().server.now();
			await server.advance(LEASE);
			await becomes(bought.sessionId, 'active');
			expect(await grants(bought.sessionId)).toHaveLength(1);
			// The buyer lost nothing of the time in which we were away.
			expect(Number((await row(bought.sessionId))['starts_at'])).toBeGreaterThanOrEqual(startedAt);
		});

		it('loses nothing before the revoke', async () => {
			const { server } = fixture();
			const bought = await inside();
			unifi.fail('down');
			await end(bought.sessionId);
			await server.kill();
			unifi.heal();
			await server.restart();
			await server.advance(LEASE);
			await isOut(bought);
		});
	});

	it('revokes a grant that is carried out after the revoke', async () => {
		const bought = await inside();
		unifi.forget(bought.mac);
		unifi.fail('held', { match: ACTIONS, times: 1 });
		await bought.person.raw(`${bought.path}?visit=${await visitOf(bought.person, bought.mac)}`);
		await eventually('the grant is on its way', async () => unifi.held === 1);
		const before = unifi.asked.length;
		await end(bought.sessionId);
		// We give up waiting for the answer, and tell the console that the device is to be out.
		await eventually('it was put out', async () =>
			unifi.asked.slice(before).some((line) => line.endsWith('/clients'))
		);
		await unifi.release();
		expect(unifi.isIn(bought.mac)).toBe(true);
		await fixture().server.advance(MINUTE);
		await isOut(bought);
		await noted(bought.sessionId, 'revoked');
	});

	it('revokes a session that is ended during the call to the gateway', async () => {
		const bought = await inside();
		unifi.forget(bought.mac);
		unifi.fail('slow', { match: ACTIONS, times: 1 });
		const visit = await visitOf(bought.person, bought.mac);
		const asked = tried(ACTIONS);
		await bought.person.raw(`${bought.path}?visit=${visit}`);
		await asked;
		await end(bought.sessionId);
		await noted(bought.sessionId, 'revoked');
		expect(unifi.isIn(bought.mac)).toBe(false);
	});

	describe('a user at a hotspot that Airtill calls', () => {
		it('signs in with the bought password, on one device, until the session is ended', async () => {
			const session = await buyAtHotspot();
			const user = `s${session.id}`;
			const password = session.password ?? '';
			expect(hotspot.signIn(user, 'wrong', '02:00:00:00:00:01')).toBe('invalid username or password');
			expect(hotspot.signIn(user, password, '02:00:00:00:00:01')).toBe('online');
			expect(hotspot.signIn(user, password, '02:00:00:00:00:02')).toContain('no more sessions');
			await fixture().api.endSession(session.id);
			await eventually(
				'the user is gone',
				async () => hotspot.user(user) === null && !hotspot.isOnline(user)
			);
			expect(hotspot.signIn(user, password, '02:00:00:00:00:01')).toBe('invalid username or password');
			expect(hotspot.asked.filter((line) => line === 'PUT /rest/ip/hotspot/user')).toHaveLength(1);
		});

		it('gets added time on top of the used time', async () => {
			const session = await buyAtHotspot();
			const user = `s${session.id}`;
			expect(hotspot.signIn(user, session.password ?? '', '02:00:00:00:00:01')).toBe('online');
			hotspot.pass(30 * MINUTE);
			await fixture().server.advance(30 * MINUTE);
			const added = await buyAtHotspot({ extends_session_id: session.id });
			expect(added.password).toBe(session.password);
			const limit = () => Number(hotspot.user(user)?.['limit-uptime']?.replace('s', ''));
			await eventually('the hotspot knows', async () => limit() >= 2 * 3_600);
			hotspot.pass(85 * MINUTE);
			expect(hotspot.isOnline(user)).toBe(true);
			await fixture().api.endSession(session.id);
			await eventually('the user is gone', async () => hotspot.user(user) === null);
		});

		it('is created once, whatever happened to the answers', async () => {
			hotspot.fail('lost', { match: /^PUT .*user$/, times: 1 });
			const session = await buyAtHotspot();
			expect(hotspot.signIn(`s${session.id}`, session.password ?? '', '02:00:00:00:00:01')).toBe('online');
			await fixture().api.endSession(session.id);
			await eventually('the user is gone', async () => hotspot.user(`s${session.id}`) === null);
		});
	});

	it('keeps nobody waiting at another gateway when one holds every call', async () => {
		const guests = await Promise.all(Array.from({ length: 20 }, inside));
		unifi.fail('held');
		await Promise.all(guests.map(({ sessionId }) => end(sessionId)));
		await eventually('questions are held', async () => unifi.held > 0);
		const startedAt = Date.now();
		await buyAtHotspot();
		expect(Date.now() - startedAt).toBeLessThan(9 * SECOND);
		expect(guests.every(({ mac }) => unifi.isIn(mac))).toBe(true);
		unifi.heal();
		await unifi.release();
		// Each that has its turn makes room for the next: nobody waits for a timer.
		for (const guest of guests) await isOut(guest);
	});

	it('calls an unresponsive gateway once a minute to disconnect a device', async () => {
		const { server, sql } = fixture();
		const bought = await inside();
		await sql.run("update gateways set unresponsive_since = 1 where name = 'console'");
		unifi.fail('down');
		await end(bought.sessionId);
		const attempts = async () => Number((await grants(bought.sessionId))[0]?.['attempts']);
		// A job that still ran would be taken over when the clock moves.
		await eventually('it was asked once, and its job waits', () =>
			sql.count(
				`select count(*) from grants join jobs on kind = 'access.grant' and subject_id = grants.id
					where pass_id = ? and grants.attempts = 1 and lease_until is null`,
				bought.sessionId
			)
		);
		await server.advance(50 * SECOND);
		await buyAtHotspot();
		expect(await attempts()).toBe(1);
		unifi.heal();
		await server.advance(11 * SECOND);
		await isOut(bought);
		await eventually('it responds, and sells again', async () => {
			const [console] = await sql.all("select unresponsive_since from gateways where name = 'console'");
			return console?.['unresponsive_since'] === null;
		});
	});

	it('refunds a buyer whose gateway is removed', async () => {
		const { server } = fixture();
		const granted = await inside();
		const mac = newMac();
		const waiting = await buyAtUniFi(fixture(), mac);
		expect((await row(waiting.sessionId))['status']).toBe('activating');
		expect(await cli(['gateways', 'remove', 'console', '--force'], server)).toMatchObject({ code: 0 });
		await server.advance(10 * MINUTE + SECOND);
		await becomes(waiting.sessionId, 'cancelled');
		expect((await payment(waiting.sessionId))['refund_reason']).toBe('provisioning_failed');
		expect((await row(granted.sessionId))['status']).toBe('active');
	});
});

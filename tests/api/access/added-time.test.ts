/** Time that is added while a gateway is away, by whether the gateway learns of it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import {
	connectRouterOs,
	newMac,
	ROUTER_OS_ROUTER,
	buyAtUniFi,
	connectUniFi,
	visitOf
} from '../../support/gateways/consoles.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';
import { createAuthmon } from '../../simulators/gateway/authmon.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { browse } from '../../support/pages/browsing.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import { registerGateway, type Registered } from '../../support/gateways/gateways.ts';
import {
	base64,
	callBinauth,
	ndsEntry,
	newDevice,
	reportAuth,
	rhidOf,
	type NdsDevice
} from '../../support/gateways/opennds.ts';
import { buyHourOn } from '../../support/pages/splash.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const QUARTER = 15 * MINUTE;
/** The activation timeout. */
const GIVE_UP = 10 * MINUTE;
const ms = (moment: string | null) => Date.parse(moment ?? '');

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	let hotspot: RouterOs;

	beforeAll(async () => {
		hotspot = await connectRouterOs(fixture());
	});
	afterEach(() => hotspot.heal());
	afterAll(() => hotspot.stop());

	const order = (more: { extends_session_id?: number } = {}) =>
		fixture().api.createSession({
			router_id: ROUTER_OS_ROUTER,
			phone: numberEnding('008'),
			duration: '15m',
			...more
		});
	/** Pays an order; the id of its payment. */
	async function pay(session: Session): Promise<number> {
		const { api } = fixture();
		const payment = await api.getPayment((await api.pay(session)).id, 20);
		expect(payment).toMatchObject({ status: 'success', applied: true });
		return payment.id;
	}
	/** A pass whose buyer is online. */
	async function online() {
		const session = await order();
		await pay(session);
		await fixture().becomes(session.id, 'active');
		const base = await fixture().api.getSession(session.id);
		const mac = newMac();
		const signIn = () => hotspot.signIn(`s${base.id}`, base.password ?? '', mac);
		expect(signIn()).toBe('online');
		return { base, signIn };
	}
	const pass = async (time: number) => {
		hotspot.pass(time);
		await fixture().server.advance(time);
	};
	const refunds = (paymentId: number) =>
		fixture().sql.count('select count(*) from refunds where payment_id = ?', paymentId);
	const jobsOver = (id: number) =>
		eventually(
			'nobody looks for it any more',
			async () =>
				(await fixture().sql.count(
					"select count(*) from jobs where kind = 'access.added' and subject_id = ?",
					id
				)) === 0
		);

	it('is refunded once if the gateway never learnt of it, with the time that follows', async () => {
		const { api, events } = fixture();
		const { base, signIn } = await online();
		hotspot.fail('down');
		const first = await order({ extends_session_id: base.id });
		const second = await order({ extends_session_id: base.id });
		const payments = [await pay(first), await pay(second)];
		const { sql } = fixture();
		await sql.run('update sessions set data_limit_mb = 100 where pass_id = ?', base.id);
		await sql.run('update passes set data_limit_mb = 300, data_used_bytes = 0 where id = ?', base.id);
		await pass(QUARTER + GIVE_UP - SECOND * 30);
		expect((await api.getSession(first.id)).status).toBe('active');
		await pass(MINUTE);
		for (const [index, { id }] of [first, second].entries()) {
			await fixture().becomes(id, 'cancelled');
			expect(await api.getSession(id)).toMatchObject({
				status_reason: 'provisioning_failed',
				password: null,
				starts_at: null,
				expires_at: null
			});
			const payment = payments[index] ?? 0;
			await eventually('the money is back', async () => {
				await pass(5 * SECOND);
				return (await api.getPayment(payment)).status === 'refunded';
			});
			expect(await api.getPayment(payment)).toMatchObject({
				applied: false,
				refund_reason: 'provisioning_failed'
			});
			expect(await refunds(payment)).toBe(1);
			expect((await events(id)).filter((type) => type === 'session.cancelled')).toHaveLength(1);
		}
		await jobsOver(first.id);
		expect(await api.getSession(base.id)).toMatchObject({ status: 'expired', data_left_mb: 100 });
		// What comes back is not let in for money that went back.
		hotspot.heal();
		await pass(2 * MINUTE);
		expect(signIn()).not.toBe('online');
		// Time that is ordered upon it all the same is a pass of its own.
		const fresh = await order();
		await pay(fresh);
		await fixture().becomes(fresh.id, 'active');
	});

	it('is kept if the gateway learns of it in time', async () => {
		const { api, sql } = fixture();
		const { base, signIn } = await online();
		hotspot.fail('down');
		const more = await order({ extends_session_id: base.id });
		const payment = await pay(more);
		await pass(QUARTER + 5 * MINUTE);
		expect(signIn()).not.toBe('online');
		hotspot.heal();
		await eventually('the buyer is in again', async () => signIn() === 'online');
		await eventually('that is noted', () =>
			sql.count(
				'select count(*) from admissions where pass_id = ? and allowed_until > ?',
				...[base.id, fixture().server.now()]
			)
		);
		await pass(6 * MINUTE);
		await jobsOver(more.id);
		const { status, expires_at: expiresAt } = await api.getSession(more.id);
		expect(status).toBe('active');
		expect(ms(expiresAt)).toBe(ms(base.expires_at) + QUARTER);
		expect(signIn()).toBe('online');
		expect(await refunds(payment)).toBe(0);
	});

	it('is refunded only for the part that the gateway did not learn of before it went away', async () => {
		const { api, sql } = fixture();
		const { base } = await online();
		const told = await order({ extends_session_id: base.id });
		const toldPayment = await pay(told);
		const end = ms((await api.getSession(told.id)).expires_at);
		await eventually('the gateway knows', () =>
			sql.count('select count(*) from admissions where pass_id = ? and allowed_until >= ?', base.id, end)
		);
		hotspot.fail('down');
		const untold = await order({ extends_session_id: base.id });
		const untoldPayment = await pay(untold);
		await pass(QUARTER + GIVE_UP + MINUTE);
		await jobsOver(told.id);
		expect((await api.getSession(told.id)).status).toBe('active');
		await pass(QUARTER);
		await fixture().becomes(untold.id, 'cancelled');
		expect((await api.getSession(told.id)).status).toBe('expired');
		expect([await refunds(toldPayment), await refunds(untoldPayment)]).toEqual([0, 1]);
	});

	/** Two orders upon a pass, paid when it is over while the gateway is away: they wait for it. */
	async function waitingForGateway() {
		const { api } = fixture();
		const { base } = await online();
		const orders = [
			await order({ extends_session_id: base.id }),
			await order({ extends_session_id: base.id })
		] as const;
		await pass(QUARTER + MINUTE);
		await fixture().becomes(base.id, 'expired');
		hotspot.fail('down');
		// The later order is paid first.
		const payments = [await pay(orders[1]), await pay(orders[0])] as const;
		for (const { id } of orders) expect((await api.getSession(id)).status).toBe('activating');
		return { first: orders[1], second: orders[0], payments };
	}

	it('that is paid twice after the end, while the gateway is away, makes one pass', async () => {
		const { api } = fixture();
		const { first, second } = await waitingForGateway();
		hotspot.heal();
		await pass(5 * SECOND);
		await fixture().becomes(first.id, 'active');
		const [one, two] = [await api.getSession(first.id), await api.getSession(second.id)];
		expect(two).toMatchObject({ status: 'active', pass_id: first.id, password: one.password });
		expect(two.starts_at).toBe(one.expires_at);
		expect(ms(two.expires_at) - ms(one.starts_at)).toBe(2 * QUARTER);
		const mac = newMac();
		const signIn = () => hotspot.signIn(`s${first.id}`, one.password ?? '', mac);
		await eventually('the buyer is in', async () => signIn() === 'online');
		await pass(QUARTER + MINUTE);
		expect(signIn()).toBe('online');
		await pass(QUARTER);
		await eventually('the buyer is out', async () => signIn() !== 'online');
	});

	it('that is paid twice after the end is refunded twice if the gateway stays away', async () => {
		const { api } = fixture();
		const { first, second, payments } = await waitingForGateway();
		await pass(GIVE_UP + SECOND);
		for (const { id } of [first, second]) {
			await fixture().becomes(id, 'cancelled');
			expect((await api.getSession(id)).status_reason).toBe('provisioning_failed');
		}
		expect([await refunds(payments[0]), await refunds(payments[1])]).toEqual([1, 1]);
	});

	/** Added time on routers with several gateways: which gateway must learn of it. */
	describe('several gateways', () => {
		const LOGIN_HOST = '192.168.8.1';
		const HOUR = 60 * MINUTE;

		const newest = async () => {
			const [row] = await fixture().sql.all('select * from sessions order by id desc limit 1');
			return { id: Number(row?.['id']), pass: Number(row?.['pass_id']), status: row?.['status'] };
		};
		const inState = (status: string) =>
			eventually(`a session is ${status}`, async () => {
				const row = await newest();
				return row.status === status && row;
			});
		/** The status of a session once nobody looks any more whether a gateway has learnt of it. */
		async function settled(id: number): Promise<string> {
			await jobsOver(id);
			return (await fixture().admin.getSession(id)).status;
		}
		/** Adds an hour on the page of a purchase. @returns the session */
		async function addHour(path: string): Promise<number> {
			const before = await newest();
			await buyAt(fixture().server.url, `${path}?more`, numberEnding('008'));
			return eventually('it is paid', async () => {
				const { id, status } = await newest();
				return id !== before.id && status === 'active' && id;
			});
		}
		async function buyAtNds(gateway: Registered, device: NdsDevice): Promise<string> {
			const person = browse(fixture().server.url);
			return buyHourOn(person, await person.get(ndsEntry(gateway, device, LOGIN_HOST)));
		}

		describe('a gateway that uses BinAuth, beside a console', () => {
			let unifi: UniFiConsole;
			let gateway: Registered;

			beforeAll(async () => {
				unifi = await connectUniFi(fixture());
				gateway = await registerGateway(fixture().server, 'opennds', { loginHost: LOGIN_HOST });
			});
			afterEach(() => unifi.heal());
			afterAll(() => unifi.stop());

			/** Our answer to openNDS when a device signs in there. */
			async function signIn(device: NdsDevice, pass: number): Promise<string> {
				const fields = { method: 'auth_client', custom: base64(`s${pass}`) };
				const response = await callBinauth(fixture().server.url, gateway, device, fields);
				return `${response.status} ${await response.text()}`;
			}
			/** The page of its purchase is opened on a device that the console sends to the portal. */
			async function goToConsole(path: string, { mac }: NdsDevice, pass: number): Promise<void> {
				const person = browse(fixture().server.url);
				await person.get(`${path}?visit=${await visitOf(person, mac)}`);
				await eventually('the console is to be told', () =>
					fixture().sql.count('select count(*) from admissions where pass_id = ? and mac = ?', pass, mac)
				);
			}
			/** Bought at the gateway that asks; the device was at the console, too, which is away when an hour is added. */
			async function atBoth() {
				unifi.fail('down');
				const device = newDevice();
				const path = await buyAtNds(gateway, device);
				const { pass } = await inState('active');
				await goToConsole(path, device, pass);
				const added = await addHour(path);
				// That one lets it in to the end of what was added, and says nothing of it any more.
				expect(await signIn(device, pass)).toMatch(/^200 7(200|1\d\d)$/);
				return { device, pass, added };
			}

			it('refunds a device at a console that never learnt of it, though expected at the other gateway', async () => {
				const { added } = await atBoth();
				await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
				expect(await settled(added)).toBe('cancelled');
			});

			it('refunds a device that came to the console only after the time was added', async () => {
				unifi.fail('down');
				const device = newDevice();
				const path = await buyAtNds(gateway, device);
				const { pass } = await inState('active');
				const added = await addHour(path);
				await goToConsole(path, device, pass);
				await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
				expect(await settled(added)).toBe('cancelled');
			});

			it('keeps the payment of a device that signed in at the other gateway in the added time', async () => {
				const { device, pass, added } = await atBoth();
				await fixture().server.advance(HOUR + MINUTE);
				expect(await signIn(device, pass)).toMatch(/^200 35\d\d$/);
				await fixture().server.advance(GIVE_UP);
				expect(await settled(added)).toBe('active');
			});

			it('keeps the payment of a device that used its time before it came to the console', async () => {
				unifi.fail('down');
				const device = newDevice();
				const path = await buyAtNds(gateway, device);
				const { id, pass } = await inState('active');
				expect(await signIn(device, pass)).toMatch(/^200 3\d{3}$/);
				await goToConsole(path, device, pass);
				await fixture().server.advance(GIVE_UP + MINUTE);
				expect(await settled(id)).toBe('active');
			});

			it('keeps added time of a pass whose gateway asks', async () => {
				const path = await buyAtNds(gateway, newDevice());
				await inState('active');
				const added = await addHour(path);
				await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
				expect(await settled(added)).toBe('active');
			});

			// It has its money back, and nobody can tell a console of a device that is not there.
			it('refunds a device that is away when its added time starts, and does not let it in', async () => {
				const mac = newMac();
				unifi.join(mac);
				const { path } = await buyAtUniFi(fixture(), mac);
				await inState('active');
				expect(unifi.isIn(mac)).toBe(true);
				unifi.leave(mac);
				const added = await addHour(path);
				unifi.clockOffsetMs += HOUR + GIVE_UP + MINUTE;
				await fixture().server.advance(HOUR + GIVE_UP + MINUTE);
				expect(await settled(added)).toBe('cancelled');
				unifi.join(mac);
				await fixture().server.advance(2 * MINUTE);
				expect(unifi.isIn(mac)).toBe(false);
				expect(await fixture().sql.count('select count(*) from refunds')).toBeGreaterThan(0);
			});
		});

		describe('a gateway that polls', () => {
			/** In by authmon, and the added hour was fetched before it begins: who is in takes no new end then. */
			async function fetchedBefore() {
				const gateway = await registerGateway(fixture().server, 'opennds', {
					loginHost: LOGIN_HOST,
					router: 4,
					more: ['--level', '4']
				});
				const device = newDevice();
				const rhid = rhidOf(gateway, device);
				const report = () => reportAuth(fixture().server.url, gateway, device);
				const router = createAuthmon(gateway.portal, '10.3.0', (one) => one === rhid, report);
				const path = await buyAtNds(gateway, device);
				const { pass } = await inState('activating');
				await router.poll();
				await inState('active');
				const added = await addHour(path);
				const told = () =>
					fixture().sql.count('select sent_until - created_at from admissions where pass_id = ?', pass);
				await eventually('it is fetched', async () => {
					await router.poll();
					return (await told()) > HOUR + MINUTE;
				});
				return { router, report, added };
			}

			it('does not count what it fetched, because who is in takes no new end', async () => {
				const { router, added } = await fetchedBefore();
				await fixture().server.advance(HOUR + MINUTE);
				await router.poll();
				await fixture().server.advance(GIVE_UP);
				expect(await settled(added)).toBe('cancelled');
			});

			it('counts a device that comes in again after that', async () => {
				const { report, added } = await fetchedBefore();
				await fixture().server.advance(HOUR + MINUTE);
				await report();
				await fixture().server.advance(GIVE_UP);
				expect(await settled(added)).toBe('active');
			});
		});
	});
});

/** Grants at routers with several gateways, and at gateways that answer late or were away for long. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../simulators/gateway/unifi-console.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import { openSql } from '../../support/database/sql.ts';
import { newOwner } from '../../support/pages/owners.ts';
import { browse } from '../../support/pages/browsing.ts';
import { hourOn } from '../../support/pages/splash.ts';
import {
	buyAtUniFi,
	connectRouterOs,
	connectUniFi,
	newMac,
	UNIFI_ROUTER,
	unifiEntry,
	visitOf
} from '../../support/gateways/consoles.ts';
import { minutes } from '../../support/gateways/watch.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The lease of a job, and its next run. */
const LEASE = 16_000;
const HOLD_FIRST = `create function hold_first() returns trigger language plpgsql as $$ begin
	if nextval('changes') = 1 then perform pg_advisory_xact_lock(1); end if;
	return null;
end $$`;
const ACTIONS = /^POST .*\/actions$/;

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	let unifi: UniFiConsole;
	let hotspot: RouterOs;
	let other: RouterOs;

	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
		// The same router has another gateway, whose users are told.
		other = await connectRouterOs(fixture(), 'beside', UNIFI_ROUTER);
		hotspot = await connectRouterOs(fixture());
	});
	afterEach(() => {
		for (const gateway of [unifi, other, hotspot]) gateway.heal();
	});
	afterAll(() => Promise.all([unifi.stop(), other.stop(), hotspot.stop()]));

	const statusOf = async (id: number) =>
		(await fixture().sql.all('select status from sessions where id = ?', id))[0]?.['status'];
	const becomes = (id: number, status: Session['status']) =>
		eventually(`session ${id} is ${status}`, async () => (await statusOf(id)) === status);
	const grantOf = async (id: number, macs: 'device' | 'user') => {
		const is = macs === 'device' ? 'is not null' : 'is null';
		const [row] = await fixture().sql.all(
			`select * from grants where pass_id = ? and mac ${is} order by id`,
			id
		);
		return row ?? {};
	};
	const end = async (id: number) =>
		expect((await fixture().admin.send('DELETE', `/v1/sessions/${id}`)).status).toBe(200);

	it('starts the time at the gateway of the buyer’s device, and refunds it otherwise', async () => {
		const mac = newMac();
		unifi.join(mac);
		unifi.fail('down');
		const { sessionId } = await buyAtUniFi(fixture(), mac);
		await eventually('the other gateway has the user', async () => other.user(`s${sessionId}`) !== null);
		await eventually('that is noted', async () => (await grantOf(sessionId, 'user'))['state'] === 'granted');
		expect(await statusOf(sessionId)).toBe('activating');
		unifi.heal();
		await becomes(sessionId, 'active');
		expect(unifi.isIn(mac)).toBe(true);

		const late = newMac();
		unifi.join(late);
		unifi.fail('down');
		const lost = await buyAtUniFi(fixture(), late);
		await eventually('that user is there', async () => other.user(`s${lost.sessionId}`) !== null);
		await fixture().server.advance(11 * MINUTE);
		await becomes(lost.sessionId, 'cancelled');
		await eventually('the user is gone', async () => other.user(`s${lost.sessionId}`) === null);
		const [payment] = await fixture().sql.all('select * from payments where session_id = ?', lost.sessionId);
		expect(payment).toMatchObject({ refund_reason: 'provisioning_failed' });
	});

	it('sells nothing at an unresponsive gateway, although its router has another one', async () => {
		const person = browse(fixture().server.url);
		const form = async () => hourOn(await person.get(unifiEntry(newMac())));
		const [ordered, late] = [await form(), await form()];
		const bought = await person.post(ordered.action, ordered.fields);
		expect(bought.path).toMatch(/^\/s\//);

		unifi.fail('down');
		const found = "select count(*) from gateways where name = 'console' and unresponsive_since is not null";
		// Three missed checks; one after a jump of the clock does not count.
		for (let checks = 0; checks < 8 && (await fixture().sql.count(found)) === 0; checks += 1) {
			await minutes(fixture(), 1);
		}
		const before = await fixture().sql.count('select count(*) from sessions');
		expect((await person.get(late.action)).html).toContain('This Wi‑Fi is offline');
		expect((await person.post(late.action, late.fields)).html).toContain('This Wi‑Fi is offline');
		expect(await fixture().sql.count('select count(*) from sessions')).toBe(before);
		// The same form again leads to what it bought.
		expect((await person.post(ordered.action, ordered.fields)).path).toBe(bought.path);

		unifi.heal();
		await minutes(fixture(), 1);
		expect((await person.post(late.action, late.fields)).path).toMatch(/^\/s\//);
	});

	it('revokes a grant of a process that died, carried out after the end', async () => {
		const { server } = fixture();
		const mac = newMac();
		unifi.join(mac);
		unifi.fail('held', { match: ACTIONS, times: 1 });
		const { sessionId } = await buyAtUniFi(fixture(), mac);
		await eventually('the grant is on its way', async () => unifi.held === 1);
		await server.kill('SIGKILL');
		await server.restart();
		await server.advance(LEASE);
		await becomes(sessionId, 'active');
		expect(unifi.held).toBe(1);
		await end(sessionId);
		await eventually('it was put out', async () => !unifi.isIn(mac));
		await unifi.release();
		expect(unifi.isIn(mac)).toBe(true);
		await server.advance(MINUTE);
		await eventually('it is put out again', async () => !unifi.isIn(mac));
	});

	it('revokes a grant that is carried out after a later one and after the end', async () => {
		const mac = newMac();
		unifi.join(mac);
		unifi.fail('held', { match: ACTIONS, times: 1 });
		const { sessionId } = await buyAtUniFi(fixture(), mac);
		await eventually('the grant is on its way', async () => unifi.held === 1);
		// Nobody heard an answer, so it is asked for again.
		await becomes(sessionId, 'active');
		expect(unifi.held).toBe(1);
		await end(sessionId);
		await eventually('it was put out', async () => !unifi.isIn(mac));
		await unifi.release();
		expect(unifi.isIn(mac)).toBe(true);
		await fixture().server.advance(MINUTE);
		await eventually('it is put out again', async () => !unifi.isIn(mac));
		await eventually(
			'that is noted',
			async () => (await grantOf(sessionId, 'device'))['state'] === 'revoked'
		);
	});

	it('disconnects a device that comes back, if it was requested again when it ended', async () => {
		const { server } = fixture();
		const mac = newMac();
		unifi.join(mac);
		const { path, person, sessionId } = await buyAtUniFi(fixture(), mac);
		await becomes(sessionId, 'active');
		unifi.fail('held', { match: ACTIONS, times: 1 });
		const again = async () => person.get(`${path}?visit=${await visitOf(person, mac)}`);
		await again();
		await eventually('it is being told', async () => unifi.held === 1);
		// What is told at this moment does not count any more.
		await again();
		expect((await grantOf(sessionId, 'device'))['requested_end_at']).toBeNull();
		await end(sessionId);
		unifi.leave(mac);
		await unifi.release();
		const { id } = await grantOf(sessionId, 'device');
		const isDone = () =>
			eventually('nothing is done about it now', async () => {
				const busy = `select count(*) from jobs where kind = 'access.grant' and subject_id = ?
					and (lease_until > 0 or run_at <= ?)`;
				return (await fixture().sql.count(busy, Number(id), server.now() + 1_000)) === 0;
			});
		await isDone();
		await server.advance(5 * MINUTE);
		await isDone();
		unifi.join(mac);
		expect(unifi.isIn(mac)).toBe(true);
		await server.advance(2 * MINUTE);
		await eventually('it is put out', async () => !unifi.isIn(mac));
	});

	it('removes a user from a router that did not respond for days', async () => {
		const { api, server } = fixture();
		const session = await api.createSession({ router_id: 4, phone: numberEnding('008') });
		await api.getPayment((await api.pay(session)).id, 20);
		await becomes(session.id, 'active');
		hotspot.fail('down');
		await end(session.id);
		const tries = async () => Number((await grantOf(session.id, 'user'))['attempts']);
		await eventually('it was tried', async () => (await tries()) > 0);
		for (const ms of [30 * HOUR, 100 * HOUR]) {
			const before = await tries();
			await server.advance(ms);
			await eventually('it is tried still', async () => (await tries()) > before);
		}
		expect(hotspot.user(`s${session.id}`)).not.toBeNull();
		hotspot.heal();
		await server.advance(HOUR);
		await eventually('the user is gone', async () => hotspot.user(`s${session.id}`) === null);
	});
});

describe('on PostgreSQL', () => {
	const fixture = useFixture({ database: 'postgres' });
	let unifi: UniFiConsole;

	beforeAll(async () => void (unifi = await connectUniFi(fixture())));
	afterAll(() => unifi.stop());

	it('keeps a device in that got extra time while its job was about to put it out', async () => {
		const { server, sql } = fixture();
		const owner = await newOwner(fixture());
		await sql.run('update routers set owner_account_id = ? where id = ?', owner.accountId, UNIFI_ROUTER);
		const mac = newMac();
		unifi.join(mac);
		const { sessionId } = await buyAtUniFi(fixture(), mac);
		const grants = (state: string) =>
			sql.count(`select count(*) from grants where pass_id = ? and ${state}`, sessionId);
		await eventually('it is in', () => grants("state = 'granted'"));
		await eventually('its job waits', () =>
			sql.count("select count(*) from jobs where kind = 'access.grant' and lease_until is null")
		);
		// The next change of a grant, which is that job's, waits until the lock is free.
		const holder = await openSql(server.databaseUrl);
		await holder.run('create sequence changes');
		await holder.run(HOLD_FIRST);
		await holder.run(
			'create trigger hold before update on grants for each statement execute function hold_first()'
		);
		await holder.all('select pg_advisory_lock(1)');
		await server.advance(61 * MINUTE);
		await eventually('it waits', () =>
			holder.count("select count(*) from pg_locks where locktype = 'advisory' and not granted")
		);
		const order = { note: 'The Wi-Fi was down', duration: '15m', form: 'a'.repeat(24) };
		expect((await owner.post(`/owner/help/${sessionId}/extend`, order)).status).toBe(200);
		await holder.close();
		await eventually('it has a new end', () => grants(`confirmed_end_at > ${server.now()}`));
		await eventually('nothing is left to do', async () => {
			const due =
				"select count(*) from jobs where kind = 'access.grant' and (lease_until > 0 or run_at <= ?)";
			return (await sql.count(due, server.now())) === 0;
		});
		expect(await grants("state = 'granted'")).toBe(1);
		expect(unifi.isIn(mac)).toBe(true);
	});
});

/** Connections as FreeRADIUS' rlm_rest reports them, and the device slots that follow. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { registerRadius, type RadiusGateway } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const [ROUTER, PERSONAL_ROUTER] = [3, 5];
const [FIRST, SECOND] = ['02:00:00:00:03:01', '02-00-00-00-03-02'];

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let gateway: RadiusGateway;
	let calls: RadiusCalls;
	let personal: RadiusCalls;

	beforeAll(async () => {
		gateway = await registerRadius(fixture(), { kind: 'mikrotik', access: 'portal_login', router: ROUTER });
		calls = radiusCalls(fixture().server.url, gateway);
		const other = { kind: 'hostapd', access: 'wpa_personal_per_client', router: PERSONAL_ROUTER } as const;
		personal = radiusCalls(fixture().server.url, await registerRadius(fixture(), other));
	});

	async function buy() {
		const { session } = await fixture().buy({ router_id: ROUTER, duration: '1h' });
		return { session, user: loginUser(session.id), password: session.password ?? '' };
	}

	it('reports in any order leave the same books', async () => {
		const { user, session } = await buy();
		const report = { user, mac: FIRST, nas_address: '10.0.0.1', nas_identifier: 'ap' };
		await calls.account('stop', 'any-order', { ...report, in: '9', cause: 'User-Request', lasted: '60' });
		await calls.account('interim', 'any-order', { ...report, in: '5', delay: '20' });
		await Promise.all([1, 2, 3].map(() => calls.account('start', 'any-order', { ...report, delay: '60' })));
		const rows = await fixture().sql.all('select * from connections where acct_session_id = ?', 'any-order');
		expect(rows).toHaveLength(1);
		expect(rows[0]).toMatchObject({ pass_id: session.id, bytes_in: 9, stop_cause: 'User-Request' });
		expect(rows[0]?.['stopped_at']).not.toBeNull();
		// It left no device in a place.
		expect((await calls.authorize(user, SECOND)).status).toBe(200);
	});

	it('a connection that its pass lets in has no others of its gateway compared; one without a place has', async () => {
		const { user } = await buy();
		const scheduled = () =>
			fixture().sql.count(
				`select coalesce(sum(wakes), 0) + count(*) from jobs join gateways on gateways.id = subject_id
					where jobs.kind = 'access.gateway' and gateways.name = ?`,
				gateway.name
			);
		const before = await scheduled();
		await calls.account('start', 'let-in', { user, mac: FIRST });
		// One that was left may have run meanwhile.
		expect(await scheduled()).toBeLessThanOrEqual(before);
		await calls.account('start', 'without-place', { user, mac: SECOND });
		await eventually('it is put out', async () => {
			const asked = `select count(*) from connections where acct_session_id = ? and disconnect_state <> 'none'`;
			return (await fixture().sql.count(asked, 'without-place')) === 1;
		});
	});

	it('a name that a gateway uses again is another connection, and one that restarts has none', async () => {
		const { user, session } = await buy();
		const report = { user, mac: FIRST, nas_address: '10.0.0.2', nas_identifier: 'ap' };
		await calls.account('start', '00000001', report);
		await calls.account('stop', '00000001', report);
		await fixture().server.advance(60_000);
		await calls.account('start', '00000001', report);
		const mine = 'select * from connections where pass_id = ? order by id';
		const rows = await fixture().sql.all(mine, session.id);
		expect(rows.map(({ stopped_at: at }) => at === null)).toEqual([false, true]);
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
		await calls.account('on', '', { nas_address: '10.0.0.2', nas_identifier: 'another' });
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
		await calls.account('on', '', { nas_address: '10.0.0.2', nas_identifier: 'ap' });
		expect((await fixture().sql.all(mine, session.id)).map(({ stop_cause: cause }) => cause)[1]).toBe(
			'NAS-Reboot'
		);
		expect((await calls.authorize(user, SECOND)).status).toBe(200);
	});

	it('a name that is used again for another pass of the same device is another connection', async () => {
		const [older, newer] = [await buy(), await buy()];
		await calls.account('start', 'reused', { user: older.user, mac: FIRST });
		await calls.account('start', 'reused', { user: newer.user, mac: FIRST });
		const open = await fixture().sql.all(
			'select pass_id from connections where acct_session_id = ? and stopped_at is null',
			'reused'
		);
		expect(open).toEqual([{ pass_id: newer.session.id }]);
		// Its place in the older one is free.
		expect((await calls.authorize(older.user, SECOND)).status).toBe(200);
		expect((await calls.authorize(newer.user, SECOND)).status).toBe(401);
	});

	it('a disconnected device that stays online gets its slot back only with a sign-in', async () => {
		const { user } = await buy();
		await calls.account('start', 'goes-on', { user, mac: FIRST });
		await fixture().server.advance(190_000);
		expect((await calls.postAuth(user, SECOND)).status).toBe(204);
		await eventually('it could not be put out', async () => {
			const failed = `select count(*) from connections where acct_session_id = ? and disconnect_state = 'failed'`;
			return (await fixture().sql.count(failed, 'goes-on')) === 1;
		});
		// The one in its place sleeps for longer than a place is kept.
		await fixture().server.advance(190_000);
		await calls.account('interim', 'goes-on', { user, mac: FIRST });
		const holder = 'select mac from device_slots where released_at is null and pass_id = ?';
		const holders = await fixture().sql.all(holder, Number(user.slice(1)));
		expect(holders.map(({ mac }) => mac)).toEqual(['02:00:00:00:03:02']);
		expect((await calls.postAuth(user, FIRST)).status).toBe(204);
		await calls.account('interim', 'goes-on', { user, mac: FIRST });
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
	});

	it('an unresponsive gateway responds again when it asks about a login, right or wrong', async () => {
		const stopResponding = () =>
			fixture().sql.run('update gateways set unresponsive_since = 1 where name = ?', gateway.name);
		const isUnresponsive = async () =>
			(await fixture().sql.count(
				'select count(*) from gateways where name = ? and unresponsive_since is not null',
				gateway.name
			)) === 1;
		for (const user of ['s999999', (await buy()).user]) {
			await stopResponding();
			await calls.authorize(user, FIRST);
			expect(await isUnresponsive()).toBe(false);
		}
	});

	it('a pass is found by Class where the user name says nothing, at its own router only', async () => {
		const { session } = await buy();
		const className = `0x${Buffer.from(`pass-${session.id}-1900000000`).toString('hex')}`;
		await calls.account('start', 'by-class', { user: 'anonymous', mac: SECOND, class: className });
		await personal.account('start', 'by-class', { user: 'anonymous', mac: SECOND, class: className });
		const rows = await fixture().sql.all(
			'select pass_id, enforced_until from connections where acct_session_id = ? order by id',
			'by-class'
		);
		expect(rows).toEqual([
			{ pass_id: session.id, enforced_until: 1_900_000_000_000 },
			{ pass_id: null, enforced_until: null }
		]);
	});

	it('a delay that cannot be one says nothing of the clock of a gateway', async () => {
		const { user } = await buy();
		const at = String(Math.floor(fixture().server.now() / 1000));
		const offset = async () =>
			(await fixture().sql.all('select clock_offset_ms from gateways where name = ?', gateway.name))[0];
		expect(await calls.account('start', 'delayed', { user, mac: FIRST, at })).toBe(204);
		const measured = await offset();
		expect(Math.abs(Number(measured?.['clock_offset_ms']))).toBeLessThan(60_000);
		for (const delay of ['301', '1795325844']) {
			expect(await calls.account('interim', 'delayed', { user, mac: FIRST, at, delay })).toBe(204);
			expect(await offset()).toEqual(measured);
		}
		expect(await calls.account('interim', 'delayed', { user, mac: FIRST, at, delay: '120' })).toBe(204);
		expect(await offset()).not.toEqual(measured);
	});

	it('no text of a report is an error of ours, which its gateway would send again for ever', async () => {
		const texts = ['a\u0000b', '\ud800', '\u0000'];
		for (const field of ['session', 'user', 'mac', 'ip', 'nas_address', 'nas_identifier', 'class', 'cause']) {
			for (const text of texts) {
				for (const status of ['start', 'stop'] as const) {
					const more = { user: 's1', mac: FIRST, [field]: text };
					expect([field, text, await calls.account(status, 'odd', more)]).toEqual([field, text, 204]);
				}
			}
		}
		for (const text of texts) {
			expect((await calls.authorize(text, text)).status).toBe(404);
			expect((await calls.postAuth(text, text)).status).toBeLessThan(500);
		}
	});
});

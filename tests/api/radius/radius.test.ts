/**
 * Logins that FreeRADIUS' rlm_rest asks about, connections that it reports, and the device slots that follow; tests/gateways has
 * FreeRADIUS itself.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { classifyProblem } from '../../../src/lib/server/gateways/gateway.ts';
import { createSecrets } from '../../../src/lib/server/platform/secrets.ts';
import { registerRadius, type RadiusGateway } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusAnswer, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, eventually, SECRET, useFixture } from '../../support/server/fixture.ts';

const [ROUTER, OTHER_ROUTER, PERSONAL_ROUTER] = [3, 4, 5];
const [FIRST, SECOND] = ['02:00:00:00:03:01', '02-00-00-00-03-02'];

const messageOf = ({ attributes }: RadiusAnswer) => String(attributes['reply:Reply-Message']?.value);
const secondsOf = ({ attributes }: RadiusAnswer) => Number(attributes['reply:Session-Timeout']?.value);

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

	async function buy(router = ROUTER, duration = '1h') {
		const { session } = await fixture().buy({ router_id: router, duration });
		return { session, user: loginUser(session.id), password: session.password ?? '' };
	}

	describe('reports of connections', () => {
		it('reports in any order leave the same books', async () => {
			const { user, session } = await buy();
			const report = { user, mac: FIRST, nas_address: '10.0.0.1', nas_identifier: 'ap' };
			await calls.account('stop', 'any-order', { ...report, in: '9', cause: 'User-Request', lasted: '60' });
			await calls.account('interim', 'any-order', { ...report, in: '5', delay: '20' });
			await Promise.all([1, 2, 3].map(() => calls.account('start', 'any-order', { ...report, delay: '60' })));
			const rows = await fixture().sql.all(
				'select * from connections where acct_session_id = ?',
				'any-order'
			);
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
			for (const field of [
				'session',
				'user',
				'mac',
				'ip',
				'nas_address',
				'nas_identifier',
				'class',
				'cause'
			]) {
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

	it('a pass is answered with its password, unexpanded, and the time left until its end', async () => {
		const { session, user, password } = await buy();
		const first = await calls.authorize(user, FIRST);
		expect(first.status).toBe(200);
		expect(first.attributes['control:Cleartext-Password']).toEqual({
			value: password,
			op: ':=',
			do_xlat: false
		});
		expect(secondsOf(first)).toBeGreaterThan(3500);
		await fixture().server.advance(30 * 60_000);
		// A new login does not renew it.
		await calls.postAuth(user, FIRST);
		expect(secondsOf(await calls.authorize(user.toUpperCase(), FIRST))).toBeLessThanOrEqual(1800);
		for (const attribute of Object.values(first.attributes)) {
			expect(attribute.op).toBe(':=');
			if (typeof attribute.value !== 'number') expect(attribute.do_xlat).toBe(false);
		}
		expect(String(first.attributes['reply:Class']?.value)).toBe(
			`pass-${session.id}-${Math.round(Date.parse(session.expires_at ?? '') / 1000)}`
		);
	});

	it('asking takes no place: a login that was right does', async () => {
		const { user } = await buy();
		await calls.authorize(user, FIRST);
		await calls.authorize(user, FIRST);
		expect((await calls.authorize(user, SECOND)).status).toBe(200);
		expect((await calls.postAuth(user, FIRST)).status).toBe(204);
		for (const refused of [await calls.authorize(user, SECOND), await calls.postAuth(user, SECOND)]) {
			expect(refused.status).toBe(401);
			expect(classifyProblem(messageOf(refused))).toBe('too-many-devices');
		}
	});

	it('of many devices at once exactly one gets the place', async () => {
		const { user, session } = await buy();
		const macs = Array.from({ length: 8 }, (_, index) => `02:00:00:00:04:0${index}`);
		const answers = await Promise.all(macs.map((mac) => calls.postAuth(user, mac)));
		expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(401)]);
		expect(
			await fixture().sql.count(
				'select count(*) from device_slots where pass_id = ? and released_at is null',
				session.id
			)
		).toBe(1);
	});

	it('a device is the same one in every notation, and another one has no place', async () => {
		const { user } = await buy();
		const written = ['ecf4-bb37-ddaa', 'EC-F4-BB-37-DD-AA:Airtill', 'ecf4.bb37.ddaa', 'ecf4bb:37ddaa'];
		for (const mac of written) {
			expect((await calls.authorize(user, mac)).status).toBe(200);
			expect((await calls.postAuth(user, mac)).status).toBe(204);
			expect(await calls.account('start', mac, { user, mac })).toBe(204);
			for (const other of ['ecf4-bb37-ddab', 'EC-F4-BB-37-DD-AB:Airtill', '02 00 5e 10 00 01']) {
				expect((await calls.postAuth(user, other)).status).toBe(401);
			}
		}
		const rows = await fixture().sql.all('select distinct mac from connections where user_name = ?', user);
		expect(rows).toEqual([{ mac: 'ec:f4:bb:37:dd:aa' }]);
	});

	it.each([
		['names of its own', ['Client-1', 'Client-2', '10.5.50.7', 'ecf4-bb37-ddaa-0011']],
		['one name for all', ['unknown', 'unknown', 'unknown', 'unknown']],
		['no address', ['', '', '', '']],
		['the address of nobody', ['00-00-00-00-00-00', '00:00:00:00:00:00', 'ffff-ffff-ffff', '']]
	])(
		'a gateway that gives devices %s lets one device of a pass in, before and after a report',
		async (_, macs) => {
			const { user } = await buy();
			const statuses = [];
			for (const mac of macs) statuses.push((await calls.postAuth(user, mac)).status);
			expect(statuses).toEqual([204, 401, 401, 401]);
			await calls.account('start', `odd ${macs.join()}`, { user, mac: macs[0] ?? '' });
			for (const mac of [...macs.slice(1), FIRST]) {
				expect((await calls.authorize(user, mac)).status).toBe(401);
				expect((await calls.postAuth(user, mac)).status).toBe(401);
			}
			// It has left: its place is free.
			await calls.account('stop', `odd ${macs.join()}`, { user, mac: macs[0] ?? '' });
			expect((await calls.postAuth(user, macs[1])).status).toBe(204);
		}
	);

	it('of several devices without a name at once, as many get in as the pass has places', async () => {
		const { user } = await buy();
		const answers = await Promise.all(Array.from({ length: 6 }, () => calls.postAuth(user, '')));
		expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(5).fill(401)]);
	});

	it('names of devices that are no MAC address show in "gateways test", without their digits', async () => {
		const test = async () => (await cli(['gateways', 'test', gateway.name], fixture().server)).stdout;
		const { user } = await buy();
		for (const mac of ['Client-17', 'unknown', '']) {
			await calls.authorize(user, mac);
			const shown = { 'Client-17': '"Client-xx"', unknown: '"unknown"', '': 'nothing' }[mac];
			expect(await test()).toContain(`it named a device by ${shown}`);
		}
		await calls.account('start', 'odd-name', { user, mac: '192.168.100.7' });
		expect(await test()).toContain('it named a device by "xxx.xxx.xxx.x", which is no MAC address');
		await fixture().server.advance(8 * 24 * 3_600_000);
		await calls.authorize(user, FIRST);
		expect(await test()).not.toContain('named a device');
	});

	it('a silent device loses its slot after three intervals', async () => {
		const { user } = await buy();
		await calls.postAuth(user, FIRST);
		await fixture().server.advance(150_000);
		expect(await calls.account('interim', 'gives-way', { user, mac: FIRST })).toBe(204);
		await fixture().server.advance(150_000);
		expect((await calls.authorize(user, SECOND)).status).toBe(401);
		await fixture().server.advance(31_000);
		expect((await calls.postAuth(user, SECOND)).status).toBe(204);
	});

	it('a device without time is refused with a text that gateways pass on', async () => {
		expect((await calls.authorize('s999999')).status).toBe(404);
		expect((await calls.authorize('')).status).toBe(404);
		expect((await calls.authorize(FIRST, FIRST)).status).toBe(404);
		const elsewhere = await buy(OTHER_ROUTER);
		expect((await calls.authorize(elsewhere.user)).status).toBe(404);
		const unpaid = await fixture().api.createSession({ router_id: ROUTER });
		expect((await calls.authorize(loginUser(unpaid.id))).status).toBe(404);
		const ended = await buy();
		await fixture().api.endSession(ended.session.id);
		const short = await buy(ROUTER, '30m');
		await fixture().server.advance(30 * 60_000 + 1);
		for (const { user } of [ended, short]) {
			for (const refused of [await calls.authorize(user, FIRST), await calls.postAuth(user, FIRST)]) {
				expect(refused.status).toBe(401);
				expect(classifyProblem(messageOf(refused))).toBe('time-over');
			}
		}
	});

	it('only the RADIUS server of the gateway is answered, and guesses are limited', async () => {
		const { user } = await buy();
		const body = JSON.stringify({ user, mac: '' });
		const status = async (answer: Promise<Response>) => (await answer).status;
		expect(await status(calls.send('authorize', body, 'Bearer wrong'))).toBe(403);
		expect(await status(calls.send('authorize', body, gateway.token))).toBe(403);
		const stranger = radiusCalls(fixture().server.url, { ...gateway, key: 'A'.repeat(24) });
		expect(await status(stranger.send('authorize', body))).toBe(404);
		expect(await status(calls.send('authorize', '{}'))).toBe(400);
		expect(await status(calls.send('authorize', 'not json'))).toBe(400);
		expect(await status(calls.send('authorize', JSON.stringify({ user: 'x'.repeat(300), mac: '' })))).toBe(
			400
		);
		expect(await status(calls.send('authorize', ' '.repeat(20_000)))).toBe(400);
		let last = 403;
		for (let guess = 0; guess <= 300 && last === 403; guess += 1) {
			last = await status(calls.send('authorize', body, `Bearer guess-${guess}`));
		}
		expect(last).toBe(429);
		// Who shows the token is not held up by them.
		expect((await calls.authorize(user)).status).toBe(200);
		expect(fixture().server.stderr()).not.toContain(gateway.token);
	});

	it('a change that could not be made is not answered, so that it comes again', async () => {
		const { user, session } = await buy();
		const sealed = createSecrets(SECRET).encrypt('x', 'another context');
		await fixture().sql.run('update passes set password_sealed = ? where id = ?', sealed, session.id);
		expect((await calls.authorize(user)).status).toBe(500);
		await eventually('it is logged', async () =>
			fixture().server.stderr().includes('request of a gateway failed')
		);
	});
});

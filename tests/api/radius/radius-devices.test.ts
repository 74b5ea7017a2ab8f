/**
 * Devices at gateways that ask RADIUS: odd reports and what becomes of connections then, and passes that are moved. The usual is in
 * radius.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { startNas, type StandInNas } from '../../simulators/radius-nas.ts';
import { numberEnding } from '../../support/api/api.ts';
import { browse } from '../../support/pages/browsing.ts';
import { registerRadius, type RadiusGateway } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusAnswer, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import { alertOf, newOwner } from '../../support/pages/owners.ts';
import { buyHourHere, buyHourOn, pathOf } from '../../support/pages/splash.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

/** Of both gateways: one that cannot be asked to put anybody out, and one that is reached by --nas. */
const ROUTER = 3;
const MINUTE = 60_000;
const SECRET_OF_NAS = 'a-secret-of-this-nas';
const MAX_WORD = '4294967295';
const [USER_NAME, ACCT_SESSION_ID] = [1, 44];

const messageOf = ({ attributes }: RadiusAnswer) => String(attributes['reply:Reply-Message']?.value);

let count = 0;
const newMac = () => `02:00:00:00:08:${(count += 1).toString(16).padStart(2, '0')}`;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let nas: StandInNas;
	let gateway: RadiusGateway;
	let reached: RadiusGateway;
	let calls: RadiusCalls;
	let reachedCalls: RadiusCalls;

	beforeAll(async () => {
		nas = await startNas(SECRET_OF_NAS);
		const usual = { kind: 'mikrotik', access: 'portal_login' } as const;
		gateway = await registerRadius(fixture(), { ...usual, router: ROUTER });
		calls = radiusCalls(fixture().server.url, gateway);
		const access = { nas: `127.0.0.1:${nas.port}`, radiusSecret: SECRET_OF_NAS };
		reached = await registerRadius(fixture(), { ...usual, router: ROUTER, ...access });
		reachedCalls = radiusCalls(fixture().server.url, reached);
	});
	afterAll(() => nas?.stop());

	async function buy(duration = '1h') {
		const { session } = await fixture().buy({ router_id: ROUTER, duration });
		return { session, user: loginUser(session.id) };
	}
	const connections = (id: string) =>
		fixture().sql.all('select * from connections where acct_session_id = ? order by id', id);

	it('counters that cannot be are not counted, and the report counts all the same', async () => {
		const { user, session } = await buy();
		const [first, second] = [newMac(), newMac()];
		await calls.postAuth(user, first);
		const report = { user, mac: first, in: '5000', out: '7000', lasted: '1' };
		expect(await calls.account('start', 'odd-counts', report)).toBe(204);
		const odd = [
			{ in: MAX_WORD, in_gigawords: MAX_WORD },
			{ out: MAX_WORD, out_gigawords: '2147483648' },
			{ in: '999999999999999', out_gigawords: '3000000' },
			{ in: '18446744073709551615', out: '-1' },
			{ lasted: '999999999999999', at: '999999999999999', delay: '-5' }
		];
		for (const counters of odd) {
			expect(await calls.account('interim', 'odd-counts', { ...report, ...counters })).toBe(204);
		}
		expect(await connections('odd-counts')).toMatchObject([
			{ pass_id: session.id, bytes_in: 5000, bytes_out: 7000, stopped_at: null }
		]);
		const [row] = await connections('odd-counts');
		expect(Number(row?.['started_at'])).toBeGreaterThan(Number(row?.['seen_at']) - MINUTE);
		await fixture().server.advance(5 * MINUTE);
		const more = { in_gigawords: '3', in: '1' };
		await calls.account('interim', 'odd-counts', { ...report, ...more });
		expect(await connections('odd-counts')).toMatchObject([{ bytes_in: 3 * 2 ** 32 + 1 }]);
		const stop = { ...report, in_gigawords: MAX_WORD };
		expect(await calls.account('stop', 'odd-counts', stop)).toBe(204);
		expect((await calls.authorize(user, second)).status).toBe(200);
	});

	it('reports for other servers are accepted, or the gateway would repeat them for ever', async () => {
		const { user } = await buy();
		const mac = newMac();
		// The longest Class, of another RADIUS server; the device is known by its user name.
		const report = { user, mac, class: `0x${'ff'.repeat(253)}` };
		expect(await calls.account('start', 'of-another', report)).toBe(204);
		expect(await connections('of-another')).toMatchObject([{ stopped_at: null }]);
		for (const status of ['9', '15', '4294967295']) {
			expect(await calls.account('start', 'no-status-of-ours', { user, mac, status })).toBe(204);
		}
		expect(await connections('no-status-of-ours')).toEqual([]);
		for (const status of ['', 'Start', '-1']) {
			expect(await calls.account('start', 'no-status', { user, mac, status })).toBe(400);
		}
	});

	it('after a restart with a clock that was set back, a device that has left keeps no slot', async () => {
		const { user } = await buy('2h');
		const [first, second] = [newMac(), newMac()];
		expect((await calls.postAuth(user, first)).status).toBe(204);
		await fixture().server.advance(-60 * MINUTE);
		await fixture().server.restart();
		expect((await calls.authorize(user, second)).status).toBe(200);
		// A device that is there says so, by the clock of today.
		expect((await calls.postAuth(user, first)).status).toBe(204);
		expect((await calls.authorize(user, second)).status).toBe(401);
		await fixture().server.advance(3 * MINUTE + 1_000);
		expect((await calls.postAuth(user, second)).status).toBe(204);
		expect((await calls.authorize(user, first)).status).toBe(401);
		await fixture().server.advance(57 * MINUTE);
	});

	it('each new end of a connection is sent, whatever the result of the last one', async () => {
		const { session, user } = await buy();
		const mac = newMac();
		const endsAt = Math.round(Date.parse(session.expires_at ?? '') / 1000);
		const className = `pass-${session.id}-${endsAt}`;
		await reachedCalls.postAuth(user, mac);
		await reachedCalls.account('start', 'longer', { user, mac, class: className });
		const addTime = () =>
			fixture().buy({
				router_id: ROUTER,
				duration: '1h',
				phone: session.phone,
				extends_session_id: session.id
			});
		nas.manner = 406;
		await addTime();
		const refused = async () =>
			/Error-Cause 406/.test(String((await connections('longer'))[0]?.['last_error']));
		await eventually('it is refused', refused);
		nas.manner = 'ack';
		await addTime();
		await eventually('the newest end is told', async () => {
			const [row] = await connections('longer');
			return Number(row?.['enforced_until']) >= (endsAt + 2 * 3600) * 1000 - 1_000;
		});
	});

	it('two access servers of a gateway may call their connections the same', async () => {
		const [one, two] = [await buy(), await buy()];
		const at = (number: number) => ({ nas_address: `10.0.0.${number}`, nas_identifier: `ap-${number}` });
		const first = { user: one.user, mac: newMac(), ...at(1) };
		const second = { user: two.user, mac: newMac(), ...at(2) };
		for (const { user, mac } of [first, second]) await calls.postAuth(user, mac);
		await calls.account('start', '80000001', first);
		await calls.account('start', '80000001', second);
		for (let round = 1; round <= 3; round += 1) {
			await calls.account('interim', '80000001', { ...first, in: String(1000 * round) });
			await calls.account('interim', '80000001', { ...second, in: String(10 * round) });
		}
		await calls.account('stop', '80000001', { ...second, in: '40' });
		const rows = await connections('80000001');
		expect(rows.map(({ pass_id, bytes_in, stopped_at }) => [pass_id, bytes_in, stopped_at === null])).toEqual(
			[
				[one.session.id, 3000, true],
				[two.session.id, 40, false]
			]
		);
		expect((await calls.authorize(one.user, newMac())).status).toBe(401);
		expect((await calls.authorize(two.user, newMac())).status).toBe(200);
		// One whose address is another one by now goes on.
		await calls.account('interim', '80000001', { ...first, nas_address: '10.0.0.9', in: '5000' });
		expect((await connections('80000001')).map(({ bytes_in }) => bytes_in)).toEqual([5000, 40]);
	});

	describe('a pass for one device that is moved', () => {
		/** The fields that the login page of the hotspot posts for a device. */
		const hotspot = (mac: string, more: Record<string, string> = {}) => ({
			mac,
			ip: '10.5.50.9',
			'link-login-only': 'http://10.5.50.1/login',
			...more
		});

		it('the refused device takes the place, and the one that had it is out', async () => {
			const { server, sql } = fixture();
			const [first, second] = [newMac(), newMac()];
			const person = browse(server.url);
			const page = await person.post(`/splash/${reached.key}`, hotspot(first));
			const named = await buyHourHere(person, page);
			const path = pathOf(named);
			await eventually('it is paid', async () =>
				(await person.get(path)).text.includes('Your Wi‑Fi is paid until')
			);
			const user = loginUser(await sql.count('select max(pass_id) from sessions'));
			const askedAbout = () => nas.asked.filter(({ attributes }) => attributes[USER_NAME] === user);
			expect((await reachedCalls.postAuth(user, first)).status).toBe(204);
			const report = { user, mac: first, nas_address: '127.0.0.1' };
			await person.raw(`${path}/online`);
			expect(await reachedCalls.account('start', 'has-it', report)).toBe(204);
			const state = async () => (await person.raw(`${named}/status`)).json();
			expect((await person.get(named)).text).toContain('You are online.');
			const before = await state();

			// The other device signs in with the same password, and its hotspot sends it back with what RADIUS said.
			const refused = await reachedCalls.authorize(user, second);
			expect([refused.status, messageOf(refused)]).toEqual([
				401,
				'Too many devices: another one uses this pass.'
			]);
			const own = browse(server.url);
			const back = await own.post(
				`/splash/${reached.key}`,
				hotspot(second, { error: messageOf(refused), 'link-orig': `${server.url}${path}?online` })
			);
			expect(back.path).toContain(path);
			expect(back.text).toContain('in use on another device');
			expect(back.text).toContain('If you use it here, all other devices go offline.');
			expect(back.text).toContain('Use it on this device instead');
			// The first device's own page goes on to say that it is online, and so does one that names no device.
			for (const address of [named, path]) {
				const held = await person.get(address);
				expect(held.text).toContain('You are online.');
				expect(held.text).not.toContain('in use on another device');
			}
			expect(await state()).toEqual(before);
			// It is not sent there to be refused again.
			const blocked = await own.raw(`${back.path}/online`);
			expect(new URL(blocked.headers.get('location') ?? '', server.url).origin).toBe(server.url);
			expect(askedAbout()).toEqual([]);

			// The first device opens the portal again: still the one that asks gets the pass.
			await person.post(`/splash/${reached.key}`, hotspot(first, { 'link-orig': server.url + named }));
			const moved = await own.post(`${back.path}?/move`);
			expect(moved.path).toBe(`${back.path}?moved`);
			const asked = await eventually(
				'the hotspot is asked to put the old one out',
				async () => askedAbout()[0]
			);
			expect(asked).toMatchObject({ kind: 'disconnect', isSigned: true });
			expect(asked.attributes).toMatchObject({ [ACCT_SESSION_ID]: 'has-it' });
			const sent = await own.raw(`${back.path}/online`);
			expect(sent.headers.get('location')).toMatch(
				new RegExp(`^http://10\\.5\\.50\\.1/login\\?username=${user}&`)
			);

			// The old one is faster, and too late.
			for (const late of [
				await reachedCalls.authorize(user, first),
				await reachedCalls.postAuth(user, first)
			]) {
				expect([late.status, messageOf(late)]).toEqual([
					401,
					'Too many devices: another one uses this pass.'
				]);
			}
			expect((await reachedCalls.authorize(user, second)).status).toBe(200);
			expect((await reachedCalls.postAuth(user, second)).status).toBe(204);
			expect(await reachedCalls.account('stop', 'has-it', report)).toBe(204);
			expect(await reachedCalls.account('start', 'took-it', { ...report, mac: second })).toBe(204);
			expect((await own.get(back.path)).text).toContain('You are online.');
			expect((await person.get(named)).text).toContain('in use on another device');
			// So that the page's script loads the page again.
			expect(await state()).not.toEqual(before);
			expect((await reachedCalls.postAuth(user, first)).status).toBe(401);
			expect(askedAbout()).toHaveLength(1);
		});

		it('a person who helps moves it, once for several forms, to the device that came last', async () => {
			const { server, sql } = fixture();
			const helper = await newOwner(fixture());
			await sql.run('update routers set owner_account_id = ? where id = ?', helper.accountId, ROUTER);
			const [before, after] = [newMac(), newMac()];
			const person = browse(server.url);
			const path = await buyHourOn(person, await person.post(`/splash/${reached.key}`, hotspot(before)));
			await eventually('it is paid', async () =>
				(await person.get(path)).text.includes('Your Wi‑Fi is paid until')
			);
			const session = await sql.count('select max(id) from sessions');
			const user = loginUser(await sql.count('select max(pass_id) from sessions'));
			const report = { user, mac: before, nas_address: '127.0.0.1' };
			expect((await reachedCalls.postAuth(user, before)).status).toBe(204);
			expect(await reachedCalls.account('start', 'helped', report)).toBe(204);

			const page = `/owner/customers/${session}?/move`;
			const move = () => helper.post(page, { note: 'The phone broke' });
			expect((await helper.get(`/owner/customers/${session}`)).html).toContain('action="?/move"');
			const early = await move();
			expect([early.status, alertOf(early)]).toEqual([
				409,
				expect.stringContaining('No other device has opened this purchase yet.')
			]);
			expect((await helper.post(page, { note: ' ' })).status).toBe(400);
			expect((await reachedCalls.postAuth(user, after)).status).toBe(401);
			const link = `${server.url}${path}?online`;
			await browse(server.url).post(`/splash/${reached.key}`, hotspot(after, { 'link-orig': link }));
			const pages = await Promise.all([move(), move(), move()]);
			for (const done of pages) expect(done.path).toBe(`/owner/customers/${session}?done=move`);
			expect((await reachedCalls.postAuth(user, after)).status).toBe(204);
			expect((await reachedCalls.postAuth(user, before)).status).toBe(401);
			const entries = await sql.all("select actor, reason from audit_log where action = 'purchase.moved'");
			expect(entries).toEqual([{ actor: `account ${helper.accountId}`, reason: 'The phone broke' }]);
			expect((await (await newOwner(fixture())).post(page, { note: 'Not mine' })).status).toBe(404);
		});

		/** Buys at a gateway on a new device, which signs in. */
		async function bought(at: RadiusGateway, its: RadiusCalls) {
			const mac = newMac();
			const person = browse(fixture().server.url);
			const page = await person.post(`/splash/${at.key}`, hotspot(mac));
			const path = await buyHourOn(person, page);
			const pass = await eventually('it is paid', async () => {
				const text = (await person.get(path)).text;
				return (
					text.includes('Your Wi‑Fi is paid until') &&
					fixture().sql.count('select max(pass_id) from sessions')
				);
			});
			const user = loginUser(pass);
			async function signIn(device: string) {
				expect((await its.postAuth(user, device)).status).toBe(204);
				await its.account('start', `of ${device}`, { user, mac: device });
			}
			/** Opens the purchase on another device, and moves the pass there. @returns how its page's address ends then */
			async function moveTo(device: string) {
				const other = browse(fixture().server.url);
				const link = { 'link-orig': fixture().server.url + path };
				const own = await other.post(`/splash/${at.key}`, hotspot(device, link));
				return (await other.post(`${own.path}?/move`)).path.replace(own.path, '');
			}
			/** Another hour, behind the first one. */
			async function addHour() {
				await buyAt(fixture().server.url, `${path}?more`, numberEnding('008'));
				const paid = `select count(*) from sessions where pass_id = ${pass} and expires_at is not null`;
				await eventually('it is paid, too', async () => (await fixture().sql.count(paid)) === 2);
			}
			await signIn(mac);
			return { mac, user, signIn, moveTo, addHour };
		}

		it('collects no devices, not even one in each hour, while the old one goes on reporting', async () => {
			const pass = await bought(gateway, calls);
			const [second, third] = [newMac(), newMac()];
			await pass.addHour();
			expect(await pass.moveTo(second)).toBe('?moved');
			await pass.signIn(second);
			expect(await pass.moveTo(third)).toBe('?later');
			await fixture().server.advance(61 * MINUTE);
			const report = { user: pass.user, mac: pass.mac };
			await calls.account('interim', `of ${pass.mac}`, report);
			await calls.account('interim', `of ${second}`, { ...report, mac: second });
			expect(await pass.moveTo(third)).toBe('?later');
			expect((await calls.authorize(pass.user, third)).status).toBe(401);
			// Nothing is heard of it any more: it has left.
			await fixture().server.advance(3 * MINUTE + 1_000);
			await calls.account('interim', `of ${second}`, { ...report, mac: second });
			expect(await pass.moveTo(third)).toBe('?moved');
		});

		it('nor where it refuses to, until it does', async () => {
			const pass = await bought(reached, reachedCalls);
			const [second, third] = [newMac(), newMac()];
			nas.manner = 406;
			expect(await pass.moveTo(second)).toBe('?moved');
			await pass.signIn(second);
			expect(await pass.moveTo(third)).toBe('?later');
			nas.manner = 'ack';
			await eventually('it is put out', async () => {
				const [row] = await connections(`of ${pass.mac}`);
				return row?.['disconnect_state'] === 'done';
			});
			expect(await pass.moveTo(third)).toBe('?moved');
		});
	});
});

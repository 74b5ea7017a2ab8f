/** A pass goes over to the device that its gateway refused: by the portal's page, with RADIUS behind the hotspot. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { startNas, type StandInNas } from '../../simulators/radius-nas.ts';
import { browse } from '../../support/pages/browsing.ts';
import { registerRadius, type RadiusGateway } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusAnswer, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { alertOf, newOwner } from '../../support/pages/owners.ts';
import { buyHourHere, buyHourOn, pathOf } from '../../support/pages/splash.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const ROUTER = 3;
const RADIUS_SECRET = 'a-secret-of-this-hotspot-0123';
const [OLD, NEW] = ['02:00:00:00:08:01', '02:00:00:00:08:02'];
const [ACCT_SESSION_ID, USER_NAME] = [44, 1];

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let nas: StandInNas;
	let gateway: RadiusGateway;
	let calls: RadiusCalls;

	beforeAll(async () => {
		nas = await startNas(RADIUS_SECRET);
		gateway = await registerRadius(fixture(), {
			kind: 'mikrotik',
			access: 'portal_login',
			router: ROUTER,
			nas: `127.0.0.1:${nas.port}`,
			radiusSecret: RADIUS_SECRET
		});
		calls = radiusCalls(fixture().server.url, gateway);
	});
	afterAll(() => nas?.stop());

	/** The fields that the login page of the hotspot posts for a device. */
	const hotspot = (mac: string, more: Record<string, string> = {}) => ({
		mac,
		ip: '10.5.50.9',
		'link-login-only': 'http://10.5.50.1/login',
		...more
	});
	const messageOf = ({ attributes }: RadiusAnswer) => String(attributes['reply:Reply-Message']?.value);

	it('the refused device takes the place, and the one that had it is out', async () => {
		const { server, sql } = fixture();
		const person = browse(server.url);
		const page = await person.post(`/splash/${gateway.key}`, hotspot(OLD));
		const named = await buyHourHere(person, page);
		const path = pathOf(named);
		await eventually('it is paid', async () =>
			(await person.get(path)).text.includes('Your Wi‑Fi is paid until')
		);
		const user = loginUser(await sql.count('select max(pass_id) from sessions'));
		expect((await calls.postAuth(user, OLD)).status).toBe(204);
		const report = { user, mac: OLD, nas_address: '127.0.0.1' };
		await person.raw(`${path}/online`);
		expect(await calls.account('start', 'has-it', report)).toBe(204);
		const state = async () => (await person.raw(`${named}/status`)).json();
		expect((await person.get(named)).text).toContain('You are online.');
		const before = await state();

		// The other device signs in with the same password, and its hotspot sends it back with what RADIUS said.
		const refused = await calls.authorize(user, NEW);
		expect([refused.status, messageOf(refused)]).toEqual([
			401,
			'Too many devices: another one uses this pass.'
		]);
		const own = browse(server.url);
		const back = await own.post(
			`/splash/${gateway.key}`,
			hotspot(NEW, { error: messageOf(refused), 'link-orig': `${server.url}${path}?online` })
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
		expect(nas.asked).toEqual([]);

		// The first device opens the portal again: still the one that asks gets the pass.
		await person.post(`/splash/${gateway.key}`, hotspot(OLD, { 'link-orig': server.url + named }));
		const moved = await own.post(`${back.path}?/move`);
		expect(moved.path).toBe(`${back.path}?moved`);
		const asked = await eventually('the hotspot is asked to put the old one out', async () => nas.asked[0]);
		expect(asked).toMatchObject({ kind: 'disconnect', isSigned: true });
		expect(asked.attributes).toMatchObject({ [USER_NAME]: user, [ACCT_SESSION_ID]: 'has-it' });
		const sent = await own.raw(`${back.path}/online`);
		expect(sent.headers.get('location')).toMatch(
			new RegExp(`^http://10\\.5\\.50\\.1/login\\?username=${user}&`)
		);

		// The old one is faster, and too late.
		for (const late of [await calls.authorize(user, OLD), await calls.postAuth(user, OLD)]) {
			expect([late.status, messageOf(late)]).toEqual([401, 'Too many devices: another one uses this pass.']);
		}
		expect((await calls.authorize(user, NEW)).status).toBe(200);
		expect((await calls.postAuth(user, NEW)).status).toBe(204);
		expect(await calls.account('stop', 'has-it', report)).toBe(204);
		expect(await calls.account('start', 'took-it', { ...report, mac: NEW })).toBe(204);
		expect((await own.get(back.path)).text).toContain('You are online.');
		expect((await person.get(named)).text).toContain('in use on another device');
		expect((await calls.postAuth(user, OLD)).status).toBe(401);
		expect(nas.asked).toHaveLength(1);
	});

	it('a person who helps moves it, once for several forms, to the device that came last', async () => {
		const { server, sql } = fixture();
		const helper = await newOwner(fixture());
		await sql.run('update routers set owner_account_id = ? where id = ?', helper.accountId, ROUTER);
		const [before, after] = ['02:00:00:00:08:03', '02:00:00:00:08:04'];
		const person = browse(server.url);
		const path = await buyHourOn(person, await person.post(`/splash/${gateway.key}`, hotspot(before)));
		await eventually('it is paid', async () =>
			(await person.get(path)).text.includes('Your Wi‑Fi is paid until')
		);
		const session = await sql.count('select max(id) from sessions');
		const user = loginUser(await sql.count('select max(pass_id) from sessions'));
		const report = { user, mac: before, nas_address: '127.0.0.1' };
		expect((await calls.postAuth(user, before)).status).toBe(204);
		expect(await calls.account('start', 'helped', report)).toBe(204);

		const page = `/owner/customers/${session}?/move`;
		const move = () => helper.post(page, { note: 'The phone broke' });
		expect((await helper.get(`/owner/customers/${session}`)).html).toContain('action="?/move"');
		const early = await move();
		expect([early.status, alertOf(early)]).toEqual([
			409,
			expect.stringContaining('No other device has opened this purchase yet.')
		]);
		expect((await helper.post(page, { note: ' ' })).status).toBe(400);
		expect((await calls.postAuth(user, after)).status).toBe(401);
		const link = `${server.url}${path}?online`;
		await browse(server.url).post(`/splash/${gateway.key}`, hotspot(after, { 'link-orig': link }));
		const pages = await Promise.all([move(), move(), move()]);
		for (const done of pages) expect(done.path).toBe(`/owner/customers/${session}?done=move`);
		expect((await calls.postAuth(user, after)).status).toBe(204);
		expect((await calls.postAuth(user, before)).status).toBe(401);
		const entries = await sql.all("select actor, reason from audit_log where action = 'purchase.moved'");
		expect(entries).toEqual([{ actor: `account ${helper.accountId}`, reason: 'The phone broke' }]);
		expect((await (await newOwner(fixture())).post(page, { note: 'Not mine' })).status).toBe(404);
	});
});

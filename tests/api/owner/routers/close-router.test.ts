/** An owner closes a router for the day, or disables it: nothing new is sold, and what is paid goes on. */
import { beforeEach, describe, expect, it } from 'vitest';
import { areaOf } from '../../../../src/lib/map/area.ts';
import { numberEnding, orderOf } from '../../../support/api/api.ts';
import { browse, fieldValue, signInAs, type Page } from '../../../support/pages/browsing.ts';
import { addRouter, alertOf, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { useFixture } from '../../../support/server/fixture.ts';
import { administratorOf, changeRouter } from '../../../support/pages/administrator.ts';

const hour = 60 * 60_000;
const day = 24 * hour;
/** In Kampala, three hours ahead of UTC. */
const NOON = 9 * hour;
const MORNING = 3 * hour;

const PLACE = { lat: 12.5, lon: 12.5 };

const fixture = useFixture({ database: 'sqlite' });
let owner: Owner;
let router: number;

beforeEach(async () => {
	await fixture().server.advance((((NOON - fixture().server.now()) % day) + day) % day);
	owner = await newOwner(fixture());
	router = await addRouter(fixture(), owner.accountId, { name: 'Kiosk', ...PLACE });
});

const press = (what: string, person = owner) => person.post(`/owner/routers/${router}?/sales`, { do: what });
const columns = async () => {
	const [row] = await fixture().sql.all(
		'select disabled_at, disabled_by_owner, paused_until from routers where id = ?',
		router
	);
	return row;
};
const actions = async () =>
	(await fixture().sql.all("select * from audit_log where action like 'router.%' order by id"))
		.filter(({ after }) => JSON.parse(String(after)).router_id === router)
		.map(({ actor, action }) => `${String(actor)} ${String(action)}`);
const nearby = async () =>
	(await fixture().api.listRouters('lat=12.5&lon=12.5&radius=1000')).data
		.filter(({ id }) => id === router)
		.map(({ status, status_reason: reason }) => [status, reason]);
const CLOSED = ['offline', 'closed'];
const OPEN = ['online', null];

describe('closing for the day', () => {
	it('lasts until six o’clock tomorrow, in the time zone of the installation, or until the owner opens again', async () => {
		const page = await owner.get(`/owner/routers/${router}?/sales`);
		expect(page.text).toContain('Close until tomorrow, 06:00');
		const done = await press('pause');
		expect([done.path, done.text]).toEqual([
			`/owner/routers/${router}?done=sales`,
			expect.stringContaining('closed until tomorrow, 06:00')
		]);
		expect((await owner.get('/owner/routers')).text).toContain('closed until tomorrow, 06:00');
		const until = (Math.floor(fixture().server.now() / day) + 1) * day + MORNING;
		expect(await columns()).toMatchObject({ paused_until: until });
		await press('pause');
		const actor = `account ${owner.accountId}`;
		expect(await actions()).toEqual([`${actor} router.paused`]);
		expect(await nearby()).toEqual([CLOSED]);
		const admin = await administratorOf(fixture().server);
		expect((await admin.get(`/admin/routers/${router}`)).text).toContain('closed until tomorrow, 06:00');

		await press('reopen');
		expect(await nearby()).toEqual([OPEN]);
		expect(await actions()).toEqual([`${actor} router.paused`, `${actor} router.reopened`]);

		await press('pause');
		await fixture().server.advance(17 * hour);
		expect(await nearby()).toEqual([CLOSED]);
		await fixture().server.advance(1.5 * hour);
		expect(await nearby()).toEqual([OPEN]);
		expect(await fixture().api.createSession({ router_id: router })).toMatchObject({
			status: 'pending_payment'
		});
	});

	it('refuses orders and payments; running time and a payment on its way go on', async () => {
		const { api, decided } = fixture();
		const running = await fixture().buy({ router_id: router, duration: '1h' });
		// Nothing calls back: the status is asked for.
		const onItsWay = await api.createSession({ router_id: router, phone: numberEnding('007') });
		const payment = await api.pay(onItsWay);
		const unpaid = await api.createSession({ router_id: router });
		await press('pause');

		const body = orderOf({ router_id: router });
		await api.refused('400 router_unavailable', 'POST', '/v1/sessions', { body });
		const pay = { session_id: unpaid.id, amount: unpaid.amount, phone: unpaid.phone };
		await api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body: pay });
		expect(await api.getSession(running.session.id)).toMatchObject({ status: 'active' });

		expect(await decided(payment)).toMatchObject({ status: 'success', applied: true });
		expect(await api.getSession(onItsWay.id)).toMatchObject({
			status: 'active',
			password: expect.stringMatching(/./)
		});
	});

	it('is what buyers read, calmly', async () => {
		await press('pause');
		const person = browse(fixture().server.url);
		const page = await person.get(`/r/${router}`);
		const text = 'This Wi‑Fi is closed until tomorrow, 06:00.';
		expect(page.text).toContain(`${text} You can buy time here when it opens again.`);
		expect(page.text).not.toContain('offline right now');
		expect(page.html).not.toContain('name="phone"');
		const list = await person.get('/?lat=12.5&lon=12.5');
		expect(list.text).toMatch(/Kiosk.*Closed until tomorrow, 06:00/);
		const area = areaOf(PLACE, { lat: PLACE.lat + 0.002, lon: PLACE.lon });
		const query = new URLSearchParams(Object.entries(area).map(([name, value]) => [name, String(value)]));
		const map = await (await person.raw(`/map-routers?${query}`)).json();
		expect(map.routers).toContainEqual([
			...[router, 'Kiosk', PLACE.lat, PLACE.lon],
			...['Closed until tomorrow, 06:00', 0, '', 'Cooper Road, Kisementi']
		]);
		expect((await person.get(`/kiosk/${router}`)).text).toContain(text);
	});
});

describe('opening hours', () => {
	const path = () => `/owner/routers/${router}/edit?/details`;
	/** Saves the page with these times, without changing anything else. */
	const save = async (times: Record<string, string>, from?: Page) => {
		const page = from ?? (await owner.get(path()));
		const names = ['name', 'address', 'ssid', 'lat', 'lon'].flatMap((name) => [name, `was-${name}`]);
		const fields = [...names, 'was-opening_hours'].map((name) => [name, fieldValue(page, name)]);
		return owner.post(path(), { ...Object.fromEntries(fields), ...times });
	};
	const everyDay = (from: string, until: string) => ({ 'from-all': from, 'until-all': until });

	it('close the router outside of them, and open it again', async () => {
		expect((await save(everyDay('08:00', '13:00'))).path).toBe(`/owner/routers/${router}?done=edit`);
		expect(await nearby()).toEqual([OPEN]);
		const { session } = await fixture().buy({ router_id: router, duration: '2h' });
		await fixture().server.advance(hour);
		expect(await nearby()).toEqual([CLOSED]);
		expect((await owner.get('/owner/routers')).text).toContain('closed until tomorrow, 08:00');
		const page = await browse(fixture().server.url).get(`/r/${router}`);
		expect(page.text).toContain('This Wi‑Fi is closed until tomorrow, 08:00.');
		const body = orderOf({ router_id: router });
		await fixture().api.refused('400 router_unavailable', 'POST', '/v1/sessions', { body });
		expect(await fixture().api.getSession(session.id)).toMatchObject({ status: 'active' });
		// Closed for the day: until the hours begin.
		expect((await press('pause')).text).toContain('closed until tomorrow, 08:00');
		await fixture().server.advance(19 * hour);
		expect(await nearby()).toEqual([OPEN]);
	});

	it('pass midnight: closing after midnight ends the running night', async () => {
		await save(everyDay('18:00', '02:00'));
		await fixture().server.advance(12.5 * hour);
		expect((await owner.get(`/owner/routers/${router}?/sales`)).text).toContain('Close until 18:00');
		expect((await press('pause')).text).toContain('closed until 18:00');
		expect(await nearby()).toEqual([CLOSED]);
		await fixture().server.advance(17.6 * hour);
		expect(await nearby()).toEqual([OPEN]);
	});

	it('are shown again, are removed with all times, and an old page does not undo them', async () => {
		const old = await owner.get(path());
		await save({ ...everyDay('08:00', '20:00'), 'from-sun': '10:00', 'until-sun': '12:00' });
		const page = await owner.get(path());
		expect([fieldValue(page, 'until-mon'), fieldValue(page, 'from-sun')]).toEqual(['20:00', '10:00']);
		await save({ name: 'Kiosk 2' }, old);
		expect(fieldValue(await owner.get(path()), 'from-sun')).toBe('10:00');
		await save({});
		expect((await fixture().sql.all('select opening_hours from routers where id = ?', router))[0]).toEqual({
			opening_hours: null
		});
		const [entry] = await fixture().sql.all('select after from audit_log order by id desc limit 1');
		expect(JSON.parse(String(entry?.['after']))).toEqual({ router_id: router, opening_hours: null });
	});

	it('that are the same every day are shown, and changed, in one place', async () => {
		await save(everyDay('08:00', '20:00'));
		const page = await owner.get(path());
		expect(['all', 'mon', 'sun'].map((day) => fieldValue(page, `from-${day}`))).toEqual(['08:00', '', '']);
		const shown = Object.fromEntries(
			['from', 'until'].flatMap((column) =>
				['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
					.map((day) => `${column}-${day}`)
					.map((name) => [name, fieldValue(page, name)])
			)
		);
		await save({ ...shown, ...everyDay('09:00', '22:00') }, page);
		expect(await fixture().sql.all('select opening_hours from routers where id = ?', router)).toEqual([
			{ opening_hours: expect.stringMatching(/^mon 09:00-22:00, .* sun 09:00-22:00$/) }
		]);
	});

	it('are refused if a day has one time only, and what was typed stays', async () => {
		const page = await save({ 'from-mon': '08:00' });
		expect([page.status, page.text]).toEqual([
			400,
			expect.stringContaining('Enter both times of a day, or none.')
		]);
		expect(fieldValue(page, 'from-mon')).toBe('08:00');
		expect(await nearby()).toEqual([OPEN]);
	});
});

describe('disabling', () => {
	it('takes the router out of lists until its owner enables it', async () => {
		expect((await press('disable')).text).toContain('You can enable it.');
		expect(await nearby()).toEqual([]);
		await press('disable');
		await press('enable');
		expect(await nearby()).toEqual([OPEN]);
		expect(await columns()).toMatchObject({ disabled_at: null, disabled_by_owner: 0 });
		const actor = `account ${owner.accountId}`;
		expect(await actions()).toEqual([`${actor} router.disabled`, `${actor} router.enabled`]);
	});

	it('by an administrator cannot be undone by the owner', async () => {
		await press('disable');
		const byAdministrator = await changeRouter(fixture().server, router, 'disable');
		expect(byAdministrator.text).toContain('The router is disabled.');
		const page = await owner.get(`/owner/routers/${router}?/sales`);
		expect(page.text).toContain('Only the administrator can enable it.');
		expect(page.html).not.toContain('value="enable"');
		const refused = await press('enable');
		expect([refused.status, alertOf(refused)]).toEqual([
			409,
			'The administrator has disabled this router. Only the administrator can enable it.'
		]);
		await press('disable');
		expect((await press('enable')).status).toBe(409);
		expect(await nearby()).toEqual([]);

		const admin = await signInAs(fixture().server, 'admin');
		await admin.post(`/admin/routers/${router}?/enable`, { note: 'settled' });
		expect(await nearby()).toEqual([OPEN]);
	});
});

/** An owner closes a router for the day, or disables it: nothing new is sold, and what is paid goes on. */
import { beforeEach, describe, expect, it } from 'vitest';
import { numberEnding, orderOf } from '../../support/api/api.ts';
import { browse } from '../../support/pages/browsing.ts';
import { addRouter, alertOf, newOwner, signInOnOwnerPages, type Owner } from '../../support/pages/owners.ts';
import { BOTH_DATABASES, useFixture } from '../../support/server/fixture.ts';
import { cli } from '../../support/server/cli.ts';

const hour = 60 * 60_000;
const day = 24 * hour;
/** In Kampala, three hours ahead of UTC. */
const NOON = 9 * hour;
const MORNING = 3 * hour;

const WHY = ['--by', 'Ada', '--note', 'complaints'];
const PLACE = { lat: 12.5, lon: 12.5 };

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let router: number;

	const serverNow = () => Date.now() + Number(fixture().server.env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);

	beforeEach(async () => {
		await fixture().server.advance((((NOON - serverNow()) % day) + day) % day);
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId, { name: 'Kiosk', ...PLACE });
	});

	const press = (what: string, person = owner) => person.post(`/owner/routers/${router}/sales`, { do: what });
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
			const page = await owner.get(`/owner/routers/${router}/sales`);
			expect(page.text).toContain('Close until tomorrow, 06:00');
			const done = await press('pause');
			expect([done.path, done.text]).toEqual([
				`/owner/routers/${router}?done=edit`,
				expect.stringContaining('closed until tomorrow, 06:00')
			]);
			expect((await owner.get('/owner/routers')).text).toContain('closed until tomorrow, 06:00');
			const until = (Math.floor(serverNow() / day) + 1) * day + MORNING;
			expect(await columns()).toMatchObject({ paused_until: until });
			await press('pause');
			const actor = `account ${owner.accountId}`;
			expect(await actions()).toEqual([`${actor} router.paused`]);
			expect(await nearby()).toEqual([CLOSED]);
			expect((await cli(['routers', 'list'], fixture().server)).stdout).toMatch(
				new RegExp(`^${router} .* paused until \\d{4}-\\d\\d-\\d\\d 06:00$`, 'm')
			);

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

			expect(await api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
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
			expect(page.text).toContain('This Wi‑Fi is closed. You can buy time here when it opens again.');
			expect(page.text).not.toContain('offline right now');
			expect(page.html).not.toContain('name="phone"');
			const list = await person.get('/?lat=12.5&lon=12.5');
			expect(list.text).toMatch(/Kiosk.*Closed/);
			const kiosk = await (await person.raw(`/kiosk/${router}/availability`)).json();
			expect(kiosk).toMatchObject({ availability: { state: 'closed' } });
		});
	});

	describe('disabling', () => {
		it('takes the router out of lists until its owner enables it', async () => {
			expect((await press('disable')).text).toContain('You can enable it again.');
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
			const { code } = await cli(['routers', 'disable', String(router), ...WHY], fixture().server);
			expect(code).toBe(0);
			const page = await owner.get(`/owner/routers/${router}/sales`);
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

			const admin = await newOwner(fixture(), 'admin');
			const [person] = await signInOnOwnerPages(fixture(), admin.email);
			await press('enable', { ...admin, ...person });
			expect(await nearby()).toEqual([OPEN]);
		});
	});

	it('an unknown button changes nothing', async () => {
		const before = await columns();
		expect((await press('sell')).status).toBe(400);
		expect(await columns()).toEqual(before);
	});
});

/** An owner gives a customer extra time: once per form, within a limit, as no income, and only at the owner's routers. */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_EXTRA_MINUTES_PER_DAY } from '#lib/domain/help.ts';
import { loginUser } from '#lib/domain/wifi.ts';
import { buyAtUniFi, connectUniFi, UNIFI_ROUTER } from '../../../support/gateways/consoles.ts';
import { registerRadius } from '../../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../../support/gateways/radius-calls.ts';
import { addRouter, customerAt, newOwner, newStaff, type Owner } from '../../../support/pages/owners.ts';
import { BOTH_DATABASES, eventually, runsAllOn, useFixture } from '../../../support/server/fixture.ts';

const MINUTE_MS = 60_000;
const NOTE = 'The Wi-Fi was down for a while';

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let router: number;

	beforeAll(async () => {
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId);
	});

	const buy = async () => (await fixture().buy({ router_id: router })).session;
	const pathOf = (id: number) => `/owner/customers/${id}?/extend`;
	const orderOf = (duration: string, form = randomBytes(18).toString('base64url')) => ({
		note: NOTE,
		duration,
		form
	});
	const endOf = async (id: number) => Date.parse((await fixture().api.getSession(id)).expires_at ?? '');
	const entries = (payment: number | null) =>
		fixture().sql.all(
			"select actor, reason from audit_log where action = 'session.extra_time' and payment_id = ?",
			payment
		);

	it('the same form many times at once adds it once, to the session and its pass, and sells nothing', async () => {
		const session = await buy();
		const before = await endOf(session.id);
		const sold = await owner.get('/owner/money');
		const { html } = await owner.get(`/owner/customers/${session.id}`);
		expect(html).toContain('action="?/extend"');
		const form = /name="form" value="([\w-]{24})"/.exec(html)?.[1] ?? '';
		const pages = await Promise.all(
			[1, 2, 3].map(() => owner.post(pathOf(session.id), orderOf('30m', form)))
		);
		for (const page of pages) {
			expect([page.status, page.path]).toEqual([200, `/owner/customers/${session.id}?done=extend`]);
			expect(page.text).toMatch(/Extra time was given: 30 minutes, until \S/);
		}
		expect(await endOf(session.id)).toBe(before + 30 * MINUTE_MS);
		expect(await fixture().sql.count('select ends_at from passes where id = ?', session.id)).toBe(
			before + 30 * MINUTE_MS
		);
		expect(await entries(session.payment_id)).toEqual([
			{ actor: `account ${owner.accountId}`, reason: NOTE }
		]);
		expect((await owner.get('/owner/money')).text).toBe(sold.text);
	});

	it('paid time that is added later follows the extra time', async () => {
		const session = await buy();
		await owner.post(pathOf(session.id), orderOf('15m'));
		const end = await endOf(session.id);
		const added = await fixture().buy({ router_id: router, extends_session_id: session.id });
		expect(Date.parse(added.session.starts_at ?? '')).toBe(end);
		// The end of the pass moves, so the added session gets it.
		await owner.post(pathOf(session.id), orderOf('15m'));
		expect(await endOf(session.id)).toBe(end);
		expect(await endOf(added.session.id)).toBe(Date.parse(added.session.expires_at ?? '') + 15 * MINUTE_MS);
	});

	it('one person gives no more than the limit of a day, whatever arrives at once', async () => {
		const giver = await newOwner(fixture());
		const own = await addRouter(fixture(), giver.accountId);
		const { session } = await fixture().buy({ router_id: own });
		const before = await endOf(session.id);
		const most = MAX_EXTRA_MINUTES_PER_DAY / 120;
		const pages = await Promise.all(
			Array.from({ length: most + 1 }, () => giver.post(pathOf(session.id), orderOf('2h')))
		);
		expect(pages.filter(({ status }) => status === 409)).toHaveLength(1);
		expect(pages.find(({ status }) => status === 409)?.text).toContain('more than you can give in 24 hours');
		expect(await endOf(session.id)).toBe(before + MAX_EXTRA_MINUTES_PER_DAY * MINUTE_MS);
		const colleague = await newStaff(fixture(), giver, 'cashier');
		expect((await colleague.post(pathOf(session.id), orderOf('2h'))).status).toBe(200);
	});

	if (!runsAllOn(database)) return;

	it.each([
		['no reason', { ...orderOf('15m'), note: ' ' }, 400],
		['another duration', orderOf('3h'), 409],
		['no form', orderOf('15m', ''), 409]
	])('%s is refused and changes nothing', async (_what, order, status) => {
		const session = await buy();
		const before = await endOf(session.id);
		expect((await owner.post(pathOf(session.id), order)).status).toBe(status);
		expect(await endOf(session.id)).toBe(before);
	});

	it('nothing is added without running time', async () => {
		const session = await fixture().api.createSession({ router_id: router });
		const page = await owner.post(pathOf(session.id), orderOf('15m'));
		expect([page.status, page.text.includes('No time is running')]).toEqual([409, true]);
	});

	describe('after the end', () => {
		let place: number;
		let calls: RadiusCalls;

		beforeAll(async () => {
			place = await addRouter(fixture(), owner.accountId);
			const kind = { kind: 'mikrotik', access: 'portal_login' } as const;
			calls = radiusCalls(fixture().server.url, await registerRadius(fixture(), { ...kind, router: place }));
		});

		/** Buys on the buyer's pages; the time ends. */
		async function ended() {
			const { server, sql, admin } = fixture();
			const { page, session: id } = await customerAt(fixture(), place);
			const { duration_seconds: seconds } = await admin.getSession(id);
			await server.advance(seconds * 1000);
			await eventually('the time ended', () =>
				sql.count("select count(*) from sessions where status = 'expired' and id = ?", id)
			);
			return { id, page };
		}

		const signIn = async (id: number) => {
			const { status, attributes } = await calls.authorize(loginUser(id), '02:00:00:00:0b:01');
			const password = attributes['control:Cleartext-Password']?.value;
			return { status, password, seconds: Number(attributes['reply:Session-Timeout']?.value ?? 0) };
		};
		const shown = async (path: string) => (await fetch(fixture().server.url + path)).text();

		it('the device gets in again with the same code, until the extra time ends; the API stays as it is', async () => {
			const { server, sql, admin } = fixture();
			const { id, page } = await ended();
			const final = await sql.all('select status, expires_at, ended_at from sessions where id = ?', id);
			// As a file: the page gets another day in its chart after midnight.
			const day = new Date(fixture().server.now()).toISOString().slice(0, 10);
			const listSales = async () => (await owner.raw(`/owner/money/export?period=monthly&day=${day}`)).text();
			const sold = await listSales();
			expect((await signIn(id)).status).toBe(401);
			expect((await owner.get(pathOf(id))).text).toContain('The time has ended. Extra time starts now.');
			const order = orderOf('30m');
			const pages = await Promise.all([1, 2, 3].map(() => owner.post(pathOf(id), order)));
			for (const { status, text } of pages) {
				expect(status).toBe(200);
				expect(text).toMatch(/Extra time was given after the end: 30 minutes, until \S/);
				expect(text).toMatch(/Extra time: your Wi‑Fi works until (tomorrow, )?\d/);
			}
			const again = await signIn(id);
			expect(again).toMatchObject({
				status: 200,
				password: expect.stringMatching(/^[a-z0-9]{4}(-[a-z0-9]{4}){2}$/)
			});
			expect([again.seconds > 29 * 60, again.seconds <= 30 * 60]).toEqual([true, true]);
			const seen = await shown(page);
			expect(seen).toContain(again.password);
			expect(seen).toMatch(/<h1[^>]*>Extra time: your Wi‑Fi works until (tomorrow, )?\d/);
			expect(await admin.getSession(id)).toMatchObject({ status: 'expired', password: null });
			// Given again, it goes on under the same password.
			await owner.post(pathOf(id), orderOf('15m'));
			expect((await signIn(id)).password).toBe(again.password);

			await server.advance(46 * MINUTE_MS);
			await eventually('the password is erased', () =>
				sql.count('select count(*) from passes where password_sealed is null and id = ?', id)
			);
			expect((await signIn(id)).status).toBe(401);
			expect(await shown(page)).toMatch(/<h1[^>]*>Your time has ended/);
			expect(await sql.all('select status, expires_at, ended_at from sessions where id = ?', id)).toEqual(
				final
			);
			const events = await fixture().events(id);
			expect(events.filter((type) => type === 'session.expired')).toHaveLength(1);
			expect(await listSales()).toBe(sold);
			const ends = (await owner.get(`/owner/customers/${id}`)).text.match(
				/given after the end: \w+ minutes, until/g
			);
			expect(ends).toHaveLength(2);
		});

		it('a console lets the device in again, without the page, and ends it with the extra time', async () => {
			const { server, sql } = fixture();
			const unifi = await connectUniFi(fixture());
			await sql.run('update routers set owner_account_id = ? where id = ?', owner.accountId, UNIFI_ROUTER);
			const { sessionId: id, mac } = await buyAtUniFi(fixture());
			unifi.join(mac);
			const becomes = (isIn: boolean) =>
				eventually(`the device is ${isIn ? 'in' : 'out'}`, async () => unifi.isIn(mac) === isIn);
			// If it was paid before the console was asked, its time runs before that.
			const isConfirmed = () =>
				eventually('that is confirmed', () =>
					sql.count(
						'select count(*) from admissions where released_at is null and pass_id = ? and allowed_until > ?',
						...[id, server.now()]
					)
				);
			await isConfirmed();
			await server.advance(61 * MINUTE_MS);
			await becomes(false);
			expect((await owner.post(pathOf(id), orderOf('15m'))).status).toBe(200);
			await becomes(true);
			await isConfirmed();
			await server.advance(16 * MINUTE_MS);
			await becomes(false);
			await unifi.stop();
		});

		it('it can be ended, by a form that is sent twice, and a refund ends it for good', async () => {
			const { id, page } = await ended();
			await owner.post(pathOf(id), orderOf('30m'));
			const forms = [1, 2].map(() => owner.post(`/owner/customers/${id}?/end`, { note: NOTE }));
			for (const { status } of await Promise.all(forms)) expect(status).toBe(200);
			expect((await owner.get(`/owner/customers/${id}`)).text).toContain('The extra time was ended early.');
			expect((await signIn(id)).status).toBe(401);
			expect(await shown(page)).toMatch(/<h1[^>]*>Your time has ended/);
			// Given again before the first would have ended.
			await owner.post(pathOf(id), orderOf('15m'));
			const { text } = await owner.get(`/owner/customers/${id}`);
			expect(text).toMatch(/The extra time was ended early\..*given after the end: 15 minutes, until /);
			expect(text.match(/The extra time was ended/g)).toHaveLength(1);

			expect((await signIn(id)).status).toBe(200);
			await owner.post(`/owner/customers/${id}?/refund`, { note: NOTE });
			expect((await signIn(id)).status).toBe(401);
			expect((await owner.post(pathOf(id), orderOf('15m'))).status).toBe(409);
			expect((await signIn(id)).status).toBe(401);
		});

		it.each<[string, (id: number) => Promise<unknown>]>([
			['a day later', () => fixture().server.advance(24 * 60 * MINUTE_MS + 1)],
			[
				'at a disabled router',
				() => fixture().sql.run('update routers set disabled_at = 1 where id = ?', place)
			],
			['without a code', (id) => fixture().sql.run('delete from purchases where session_id = ?', id)]
		])('%s it is refused and changes nothing', async (_when, happens) => {
			const { id } = await ended();
			await happens(id);
			const page = await owner.post(pathOf(id), orderOf('15m'));
			await fixture().sql.run('update routers set disabled_at = null where id = ?', place);
			expect([page.status, page.text.includes('Nothing was added. Extra time is possible')]).toEqual([
				409,
				true
			]);
			expect(await fixture().sql.count('select count(*) from extra_time where session_id = ?', id)).toBe(0);
			expect((await signIn(id)).status).toBe(401);
		});
	});
});

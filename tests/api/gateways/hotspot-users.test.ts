/** The users that Airtill creates at a MikroTik hotspot, which may lose them or have its own of the same name. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/lib/server/platform/secrets.ts';
import type { RouterOs } from '../../simulators/gateway/routeros.ts';
import { numberEnding, type Session } from '../../support/api/api.ts';
import { browse, fieldValue, type Browsing } from '../../support/pages/browsing.ts';
import { connectRouterOs, newMac, ROUTER_OS_ROUTER } from '../../support/gateways/consoles.ts';
import { cli } from '../../support/server/cli.ts';
import { admissionsOf } from '../../support/gateways/admissions.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const MINUTE = 60_000;
/** A user is requested again once in ten seconds. */
const AGAIN = 11_000;
const TOLD = /^(PUT|PATCH) \/rest\/ip\/hotspot\/user(\/\*.*)?$/;
const UNKNOWN_USER = 'invalid username or password';

interface Bought {
	person: Browsing;
	/** Path of the page of the purchase. */
	path: string;
	mac: string;
	user: string;
	session: Session;
}

describe.each(DATABASES)('on %s', (kind) => {
	const fixture = useFixture({ database: kind });
	let hotspot: RouterOs;
	/** In the address that it sends browsers to. */
	let key: string;

	async function connect(): Promise<void> {
		hotspot = await connectRouterOs(fixture());
		const { stdout } = await cli(['gateways', 'config', 'hotspot'], fixture().server);
		key = /\/(?:splash|captive-portal)\/([\w-]{24})/.exec(stdout)?.[1] ?? '';
	}

	beforeAll(connect);
	afterEach(() => hotspot.heal());
	afterAll(() => hotspot.stop());

	const admissions = (passId: number) => admissionsOf(fixture().sql, passId);
	const order = () =>
		fixture().api.createSession({ router_id: ROUTER_OS_ROUTER, phone: numberEnding('008') });
	async function buy(): Promise<Session> {
		const { api } = fixture();
		const session = await order();
		await api.getPayment((await api.pay(session)).id, 20);
		await fixture().becomes(session.id, 'active');
		return api.getSession(session.id);
	}
	const signIn = (session: Session, mac: string) =>
		hotspot.signIn(`s${session.id}`, session.password ?? '', mac);
	const known = (session: Session) =>
		eventually('the hotspot knows its user', async () => hotspot.user(`s${session.id}`) !== null);
	const timesTold = () => hotspot.asked.filter((line) => TOLD.test(line)).length;

	/** Opens the portal from the hotspot's page, on a new visit of a device. */
	async function enter(person: Browsing, mac: string, change: Record<string, string> = {}) {
		const page = await person.post(`/splash/${key}`, {
			mac,
			ip: '127.0.0.1',
			'link-login-only': 'http://10.5.50.1/login',
			'link-orig': 'http://example.com/',
			error: '',
			...change
		});
		return { page, visit: /\/splash\/[\w-]{24}\/([\w-]{24})"/.exec(page.html)?.[1] ?? '' };
	}

	/** A device of the hotspot that has bought an hour on its page, and is online. */
	async function inside(): Promise<Bought> {
		const person = browse(fixture().server.url);
		const mac = newMac();
		const { page } = await enter(person, mac);
		const bought = await person.post(/<form method="post" action="([^"]+)"/.exec(page.html)?.[1] ?? '', {
			time: fieldValue(page, 'time'),
			paymentMethod: 'mobile_money',
			phone: numberEnding('008'),
			purchase: fieldValue(page, 'purchase')
		});
		const token = /^\/s\/([\w-]{24})/.exec(bought.path)?.[1] ?? '';
		const id = await eventually('the purchase has its time', async () => {
			const [row] = await fixture().sql.all(
				`select s.id from purchases p join sessions s on s.id = p.session_id
					where p.token_hash = ? and s.status = 'active'`,
				sha256(token)
			);
			return row ? Number(row['id']) : null;
		});
		const password = new URL(
			(await person.raw(`/s/${token}/online`)).headers.get('location') ?? ''
		).searchParams.get('password');
		const session = { ...(await fixture().admin.getSession(id)), password };
		expect(signIn(session, mac)).toBe('online');
		return { person, path: `/s/${token}`, mac, user: `s${id}`, session };
	}

	describe('a user that the hotspot has lost', () => {
		it('is created again when its page is opened there', async () => {
			const { person, path, mac, session } = await inside();
			await fixture().server.advance(AGAIN);
			hotspot.reset();
			expect(signIn(session, mac)).toBe(UNKNOWN_USER);
			const { visit } = await enter(person, mac);
			await person.raw(`${path}?visit=${visit}`);
			await known(session);
			expect(signIn(session, mac)).toBe('online');
			expect(await admissions(session.id)).toHaveLength(1);
		});

		it('is created again when its sign-in was refused', async () => {
			const { person, path, mac, session } = await inside();
			await fixture().server.advance(AGAIN);
			hotspot.reset();
			const back = `${fixture().server.url}${path}?online`;
			const { page } = await enter(person, mac, { error: signIn(session, mac), 'link-orig': back });
			expect(page.path).toContain(`${path}/`);
			await known(session);
			expect(signIn(session, mac)).toBe('online');
		});

		it('is created at most once in ten seconds, and never while it is online', async () => {
			const { person, path, mac } = await inside();
			const open = async (change: Record<string, string> = {}) => {
				const back = { 'link-orig': `${fixture().server.url}${path}?online`, ...change };
				expect((await enter(person, mac, back)).page.path.startsWith(path)).toBe(true);
			};
			const before = timesTold();
			await open();
			await fixture().server.advance(AGAIN);
			await open({ 'logged-in': 'yes' });
			await open();
			await eventually('it was told', async () => timesTold() === before + 1);
			await open();
			await open();
			expect(timesTold()).toBe(before + 1);
		});
	});

	it('keeps the new device online after a move, when the first call to the gateway fails', async () => {
		const { server, admin } = fixture();
		hotspot.fail('error', { match: /^PUT \/rest\/ip\/hotspot\/user$/, times: 1 });
		const { path, mac: old, session, user } = await inside();
		const phone = newMac();
		const other = browse(server.url);
		const { visit } = await enter(other, phone);
		const own = await other.get(`${path}?visit=${visit}`);
		expect((await other.post(`${own.path}?/move`)).path).toContain('moved');
		await eventually('the old one is out and the new one in', async () => {
			return !hotspot.devices(user).includes(old) && signIn(session, phone) === 'online';
		});
		const states = async () => (await admissions(session.id)).map(({ state }) => state);
		await eventually('the new one is known', async () => `${await states()}` === 'leaving,in');
		expect(signIn(session, phone)).toBe('online');
		await server.advance(MINUTE);
		await eventually('all is done', async () => `${await states()}` === 'out,in');
		expect(hotspot.devices(user)).toEqual([phone]);
		await admin.endSession(session.id);
		await eventually('it is out', async () => hotspot.user(user) === null);
	});

	it('keeps both devices of a pass for two online until the end', async () => {
		const { server, sql } = fixture();
		await sql.run('update routers set max_devices = 2 where id = ?', ROUTER_OS_ROUTER);
		const session = await buy();
		await sql.run('update routers set max_devices = 1 where id = ?', ROUTER_OS_ROUTER);
		const [one, two] = [newMac(), newMac()];
		expect([signIn(session, one), signIn(session, two)]).toEqual(['online', 'online']);
		hotspot.pass(59 * MINUTE);
		expect(hotspot.devices(`s${session.id}`)).toEqual([one, two]);
		expect(signIn(session, one)).toBe('online');
		await server.advance(60 * MINUTE);
		await eventually('both are out', async () => !hotspot.isOnline(`s${session.id}`));
	});

	it.each([
		['an owner', 'of the reception'],
		['another installation', 'Airtill 0badcafe']
	])(
		'keeps the user of %s of the same name, stores the reason, and refunds the buyer',
		async (_, comment) => {
			const { api, server } = fixture();
			const session = await order();
			const user = `s${session.id}`;
			hotspot.byHand(user, { password: 'staff', comment });
			expect(hotspot.signIn(user, 'staff', newMac())).toBe('online');
			const before = { ...hotspot.user(user) };
			const payment = await api.pay(session);
			await eventually('its row says why', async () =>
				String((await admissions(session.id))[0]?.['problem']).includes(`"${user}"`)
			);
			expect((await api.getSession(session.id)).status).toBe('activating');
			expect(hotspot.user(user)).toEqual(before);
			// Nobody has been let in: the money goes back, and nothing of theirs is taken away.
			await server.advance(10 * MINUTE + 1_000);
			await fixture().becomes(session.id, 'cancelled');
			await eventually('the money is back', async () => {
				await server.advance(5_000);
				return (await api.getPayment(payment.id)).status === 'refunded';
			});
			// What was asked last may still be done late: it is looked at once more after a minute.
			await eventually('it is over', async () => {
				await server.advance(5_000);
				return (await admissions(session.id))[0]?.['state'] === 'out';
			});
			expect(hotspot.user(user)).toEqual(before);
			expect(hotspot.isOnline(user)).toBe(true);
		}
	);
});

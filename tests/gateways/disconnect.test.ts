/**
 * The end of a pass closes its connection: a gateway is asked by Disconnect-Request, which a stand-in that knows the
 * RFC holds against its secret, and which FreeRADIUS' own listener takes.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../src/lib/domain/wifi.ts';
import { startNas, type Asked, type StandInNas } from '../simulators/radius-nas.ts';
import { numberEnding } from '../support/api/api.ts';
import { browse, fieldValue } from '../support/pages/browsing.ts';
import { COA_ADDRESS, startFreeRadius } from '../support/lab/freeradius.ts';
import { registerRadius, type RadiusGateway } from '../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../support/gateways/radius-calls.ts';
import { eventually, useFixture } from '../support/server/fixture.ts';

const ROUTER = 3;
const SECRET_OF_NAS = 'a-secret-of-this-nas';
const [USER_NAME, FRAMED_IP, SESSION_TIMEOUT, ACCT_SESSION_ID, EVENT_TIMESTAMP] = [1, 8, 27, 44, 55];
const MAX_DELAY_MS = 5_000;

const fixture = useFixture({ database: 'sqlite' });
let nas: StandInNas;
let gateway: RadiusGateway;
let calls: RadiusCalls;

beforeAll(async () => {
	nas = await startNas(SECRET_OF_NAS);
	gateway = await registerRadius(fixture(), {
		kind: 'mikrotik',
		access: 'portal_login',
		router: ROUTER,
		nas: `127.0.0.1:${nas.port}`,
		radiusSecret: SECRET_OF_NAS
	});
	calls = radiusCalls(fixture().server.url, gateway);
});
afterAll(() => nas?.stop());

let count = 0;

/** A pass with one device online. */
async function online(duration = '1h') {
	const { session } = await fixture().buy({ router_id: ROUTER, duration });
	const id = `connection-${(count += 1)}`;
	const user = loginUser(session.id);
	const mac = `02:00:00:00:02:${count.toString(16).padStart(2, '0')}`;
	expect((await calls.postAuth(user, mac)).status).toBe(204);
	const report = { user, mac, ip: '10.5.50.7', nas_address: '127.0.0.1' };
	expect(await calls.account('start', id, report)).toBe(204);
	return { session, id, user, mac, report };
}

const offsetMs = () => Number(fixture().server.env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);
const askedOf = (id: string) => nas.asked.filter(({ attributes }) => attributes[ACCT_SESSION_ID] === id);
const firstAsked = (id: string): Promise<Asked> =>
	eventually(`the gateway is asked about ${id}`, async () => askedOf(id)[0]);
const state = async (id: string) =>
	(await fixture().sql.all('select * from connections where acct_session_id = ?', id))[0];
const isDone = (id: string) =>
	eventually(`${id} is done`, async () => (await state(id))?.['disconnect_state'] === 'done');

describe('a connection is ended', () => {
	it('when its pass is ended', async () => {
		const { session, id, user } = await online();
		await fixture().api.endSession(session.id);
		const asked = await firstAsked(id);
		expect(asked).toMatchObject({ kind: 'disconnect', isSigned: true });
		expect(asked.attributes).toMatchObject({
			[USER_NAME]: user,
			[FRAMED_IP]: '10.5.50.7',
			[ACCT_SESSION_ID]: id
		});
		const stamp = Number(asked.attributes[EVENT_TIMESTAMP]) * 1000;
		expect(Math.abs(stamp - asked.at - offsetMs())).toBeLessThan(MAX_DELAY_MS);
		await isDone(id);
		expect(askedOf(id)).toHaveLength(1);
	});

	it('within five seconds when its time is over', async () => {
		const { session, id } = await online('30m');
		const endsAt = Date.parse(session.expires_at ?? '');
		await fixture().server.advance(endsAt - fixture().server.now() - 1_500);
		const asked = await firstAsked(id);
		const lateMs = asked.at + offsetMs() - endsAt;
		expect(lateMs).toBeGreaterThanOrEqual(0);
		expect(lateMs).toBeLessThan(MAX_DELAY_MS);
		await isDone(id);
	});

	it('at once when it begins after the end', async () => {
		const { session, id, report } = await online();
		await fixture().api.endSession(session.id);
		await isDone(id);
		expect(await calls.account('start', `${id}-late`, report)).toBe(204);
		await firstAsked(`${id}-late`);
		await isDone(`${id}-late`);
	});

	it('when a second device came in beside it, and it was not heard of', async () => {
		const { id, user } = await online();
		await fixture().server.advance(3 * 60_000 + 1_000);
		expect((await calls.postAuth(user, '02:00:00:00:02:f1')).status).toBe(204);
		await firstAsked(id);
		await isDone(id);
	});

	it('when a second device is there without a place', async () => {
		const { id, report } = await online();
		await calls.account('start', `${id}-second`, { ...report, mac: '02:00:00:00:02:f2' });
		await firstAsked(`${id}-second`);
		expect(askedOf(id)).toEqual([]);
	});

	it('when its device is moved: the other one has the place, before this one signs in again', async () => {
		const { server, sql } = fixture();
		const person = browse(server.url);
		const hotspot = (mac: string) => ({ mac, ip: '10.5.50.8', 'link-login-only': 'http://10.5.50.1/login' });
		const [first, second] = ['02:00:00:00:02:a1', '02:00:00:00:02:a2'];
		const page = await person.post(`/splash/${gateway.key}`, hotspot(first));
		const action = /<form method="post" action="([^"]+)"/.exec(page.html)?.[1] ?? '';
		const bought = await person.post(action, {
			time: '1h 500',
			paymentMethod: 'mobile_money',
			phone: numberEnding('008'),
			purchase: fieldValue(page, 'purchase')
		});
		const pass = await eventually('it is paid', async () => {
			const text = (await person.get(bought.path)).text;
			return text.includes('Your Wi‑Fi is paid until') && sql.count('select max(pass_id) from sessions');
		});
		const user = loginUser(pass);
		expect((await calls.postAuth(user, first)).status).toBe(204);
		await calls.account('start', 'moves', { user, mac: first, nas_address: '127.0.0.1' });
		// The same purchase, opened on the other device.
		const entered = await person.post(`/splash/${gateway.key}`, hotspot(second));
		const visit = /\/splash\/[\w-]{24}\/([\w-]{24})/.exec(`${entered.path} ${entered.html}`)?.[1] ?? '';
		const opened = await person.get(`${bought.path}?visit=${visit}`);
		expect((await person.post(`${opened.path}?/move`)).path).toBe(`${opened.path}?moved`);
		await firstAsked('moves');
		expect((await calls.postAuth(user, first)).status).toBe(401);
		expect((await calls.postAuth(user, second)).status).toBe(204);
	});

	it('until the gateway answers, even over a restart', async () => {
		const { session, id } = await online();
		nas.manner = 'silent';
		await fixture().api.endSession(session.id);
		await firstAsked(id);
		await fixture().server.kill();
		await fixture().server.restart();
		// The dead process held the job for so long.
		await fixture().server.advance(16_000);
		nas.manner = 'forged';
		const before = askedOf(id).length;
		await eventually('it is asked again', async () => askedOf(id).length > before);
		expect((await state(id))?.['disconnect_state']).toBe('asked');
		const trouble = async () =>
			(await fixture().sql.all('select trouble from gateways where name = ?', gateway.name))[0]?.['trouble'];
		await eventually('the trouble is noted', async () => /got no response/.test(String(await trouble())));
		nas.manner = 'ack';
		await isDone(id);
		await eventually('all is well', async () => (await trouble()) === null);
	});

	it('and is over for a gateway that does not know it', async () => {
		const { session, id } = await online();
		nas.manner = 503;
		await fixture().api.endSession(session.id);
		await isDone(id);
		nas.manner = 'ack';
	});

	it('but not asked for after its Stop', async () => {
		const { session, id, report } = await online();
		nas.manner = 406;
		await fixture().api.endSession(session.id);
		await eventually('the refusal is noted', async () =>
			/Error-Cause 406/.test(String((await state(id))?.['last_error']))
		);
		await calls.account('stop', id, report);
		nas.manner = 'ack';
		const endAnother = async () => {
			const other = await online();
			await fixture().api.endSession(other.session.id);
			await isDone(other.id);
		};
		await endAnother();
		const before = askedOf(id).length;
		await fixture().server.advance(61_000);
		await endAnother();
		expect(askedOf(id)).toHaveLength(before);
	});
});

it('a connection lasts longer when time is added', async () => {
	const { session, id, report } = await online();
	const endsAt = Date.parse(session.expires_at ?? '');
	const className = `pass-${session.id}-${Math.round(endsAt / 1000)}`;
	await calls.account('interim', id, { ...report, class: className });
	await fixture().buy({
		router_id: ROUTER,
		duration: '2h',
		phone: session.phone,
		extends_session_id: session.id
	});
	const asked = await firstAsked(id);
	expect(asked).toMatchObject({ kind: 'coa', isSigned: true });
	expect(Number(asked.attributes[SESSION_TIMEOUT])).toBeGreaterThan(3 * 3600 - 60);
	expect(Number(asked.attributes[SESSION_TIMEOUT])).toBeLessThanOrEqual(3 * 3600 + 60);
	await eventually(
		'the new end is noted',
		async () => Number((await state(id))?.['enforced_until']) > endsAt
	);
	const again = await calls.authorize(loginUser(session.id), report.mac);
	expect(Number(again.attributes['reply:Session-Timeout']?.value)).toBeGreaterThan(3 * 3600 - 120);
});

it('FreeRADIUS’ own listener takes it, and says of one that is gone that it is', async () => {
	const radius = await startFreeRadius([], { coaSecret: SECRET_OF_NAS });
	try {
		const other = await registerRadius(fixture(), {
			kind: 'hostapd',
			access: 'wpa_enterprise',
			router: 4,
			nas: `${COA_ADDRESS}:${radius.coaPort}`,
			radiusSecret: SECRET_OF_NAS
		});
		const own = radiusCalls(fixture().server.url, other);
		for (const id of ['here', 'gone']) {
			const { session } = await fixture().buy({ router_id: 4 });
			const report = { user: loginUser(session.id), mac: '02:00:00:00:02:ee', nas_identifier: 'ap' };
			await own.account('start', id, report);
			await fixture().api.endSession(session.id);
			await isDone(id);
			expect(await state(id)).toMatchObject({ disconnect_attempts: 1, last_error: null });
		}
	} finally {
		await radius.stop();
	}
});

it('without an address a connection ends by itself, which is noted', async () => {
	const other = await registerRadius(fixture(), { kind: 'coova', access: 'portal_login', router: 6 });
	const own = radiusCalls(fixture().server.url, other);
	const { session } = await fixture().buy({ router_id: 6 });
	await own.account('start', 'unreachable', { user: loginUser(session.id), mac: '02:00:00:00:02:ef' });
	await fixture().api.endSession(session.id);
	await eventually(
		'it is noted',
		async () => (await state('unreachable'))?.['disconnect_state'] === 'failed'
	);
	expect((await state('unreachable'))?.['last_error']).toMatch(/Session-Timeout ends the connection/);
});

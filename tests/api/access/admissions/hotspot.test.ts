/** A hotspot that Airtill calls, alone or beside a console. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RouterOs } from '../../../simulators/gateway/routeros.ts';
import { connectRouterOs, newMac, UNIFI_ROUTER, unifiEntry } from '../../../support/gateways/consoles.ts';
import { minutes } from '../../../support/gateways/watch.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { hourOn } from '../../../support/pages/splash.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';
import { useAdmissions } from './use-admissions.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe.each(DATABASES)('on %s', (database) => {
	const { fixture, unifi, hotspot, row, becomes, admissions, payment, ...buyers } = useAdmissions(database);
	const { jobWaits, buyJoined, end, buyAtHotspot } = buyers;
	/** The one that lets a user in from any device. */
	const userRow = async (id: number) => (await admissions(id)).find(({ mac }) => mac === null);

	describe('a user at a hotspot that Airtill calls', () => {
		it('signs in with the bought password, on one device, until the session is ended', async () => {
			const session = await buyAtHotspot();
			const user = `s${session.id}`;
			const password = session.password ?? '';
			expect(hotspot().signIn(user, 'wrong', '02:00:00:00:00:01')).toBe('invalid username or password');
			expect(hotspot().signIn(user, password, '02:00:00:00:00:01')).toBe('online');
			expect(hotspot().signIn(user, password, '02:00:00:00:00:02')).toContain('no more sessions');
			await fixture().api.endSession(session.id);
			await eventually(
				'the user is gone',
				async () => hotspot().user(user) === null && !hotspot().isOnline(user)
			);
			expect(hotspot().signIn(user, password, '02:00:00:00:00:01')).toBe('invalid username or password');
			expect(hotspot().asked.filter((line) => line === 'PUT /rest/ip/hotspot/user')).toHaveLength(1);
		});

		it('gets added time on top of the used time', async () => {
			const session = await buyAtHotspot();
			const user = `s${session.id}`;
			expect(hotspot().signIn(user, session.password ?? '', '02:00:00:00:00:01')).toBe('online');
			hotspot().pass(30 * MINUTE);
			await fixture().server.advance(30 * MINUTE);
			const added = await buyAtHotspot({ extends_session_id: session.id });
			expect(added.password).toBe(session.password);
			const limit = () => Number(hotspot().user(user)?.['limit-uptime']?.replace('s', ''));
			await eventually('the hotspot knows', async () => limit() >= 2 * 3_600);
			hotspot().pass(85 * MINUTE);
			expect(hotspot().isOnline(user)).toBe(true);
			await fixture().api.endSession(session.id);
			await eventually('the user is gone', async () => hotspot().user(user) === null);
		});
	});

	describe('a router with a console and a hotspot', () => {
		let other: RouterOs;
		beforeAll(async () => {
			other = await connectRouterOs(fixture(), 'beside', UNIFI_ROUTER);
		});
		afterEach(() => other.heal());
		afterAll(() => other.stop());

		it('starts the time at the gateway of the buyer’s device, and refunds it otherwise', async () => {
			unifi().fail('down');
			const { mac, sessionId } = await buyJoined();
			await eventually('the other gateway has the user', async () => other.user(`s${sessionId}`) !== null);
			await eventually('that is noted', async () => (await userRow(sessionId))?.['state'] === 'in');
			expect((await row(sessionId))['status']).toBe('activating');
			unifi().heal();
			await becomes(sessionId, 'active');
			expect(unifi().isIn(mac)).toBe(true);

			unifi().fail('down');
			const lost = await buyJoined();
			await eventually('that user is there', async () => other.user(`s${lost.sessionId}`) !== null);
			await fixture().server.advance(11 * MINUTE);
			await becomes(lost.sessionId, 'cancelled');
			await eventually('the user is gone', async () => other.user(`s${lost.sessionId}`) === null);
			expect(await payment(lost.sessionId)).toMatchObject({ refund_reason: 'provisioning_failed' });
		});

		it('sells nothing at an unresponsive gateway, although its router has another one', async () => {
			const person = browse(fixture().server.url);
			const form = async () => hourOn(await person.get(unifiEntry(newMac())));
			const [ordered, late] = [await form(), await form()];
			const bought = await person.post(ordered.action, ordered.fields);
			expect(bought.path).toMatch(/^\/s\//);

			unifi().fail('down');
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

			unifi().heal();
			await minutes(fixture(), 1);
			expect((await person.post(late.action, late.fields)).path).toMatch(/^\/s\//);
		});
	});

	it('removes the user of a pass that is over, behind any number of users that it does not know', async () => {
		const session = await buyAtHotspot();
		const user = `s${session.id}`;
		const comment = hotspot().user(user)?.['comment'] ?? '';
		await end(session.id);
		await eventually('the user is gone', async () => hotspot().user(user) === null);
		const unknown = Array.from({ length: 120 }, (_, index) => `s${900_000 + index}`);
		for (const name of [...unknown, user]) hotspot().byHand(name, { comment });
		await minutes(fixture(), 1);
		await eventually('the user is gone again', async () => hotspot().user(user) === null);
		for (const name of unknown) expect(hotspot().user(name)).not.toBeNull();
		for (const name of unknown) hotspot().byHand(name, { comment: 'of the owner' });
	});

	it('removes a user from a router that did not respond for days', async () => {
		const { server } = fixture();
		const session = await buyAtHotspot();
		hotspot().fail('down');
		await end(session.id);
		const tries = () => hotspot().asked.filter((line) => line === 'GET /rest/ip/hotspot/user').length;
		const first = tries();
		await eventually('it was tried', async () => tries() > first);
		for (const ms of [30 * HOUR, 100 * HOUR]) {
			await jobWaits(session.id);
			const before = tries();
			await server.advance(ms);
			await eventually('it is tried still', async () => tries() > before);
		}
		expect(hotspot().user(`s${session.id}`)).not.toBeNull();
		await jobWaits(session.id);
		hotspot().heal();
		await server.advance(HOUR);
		await eventually('the user is gone', async () => hotspot().user(`s${session.id}`) === null);
	});
});

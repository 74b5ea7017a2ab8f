import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { RouterOs } from '../../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../../simulators/gateway/unifi-console.ts';
import { numberEnding, type Order, type Session } from '../../../support/api/api.ts';
import {
	buyAtUniFi,
	connectRouterOs,
	connectUniFi,
	newMac,
	ROUTER_OS_ROUTER,
	type Bought
} from '../../../support/gateways/consoles.ts';
import { admissionsOf } from '../../../support/gateways/admissions.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

/** The call that lets a device in, as a console notes it. */
export const ACTIONS = /^POST .*\/actions$/;

/** Starts a server with two gateways that Airtill calls: a console and, at another router, a hotspot. */
export function useAdmissions(database: string) {
	const fixture = useFixture({ database });
	let unifi: UniFiConsole;
	let hotspot: RouterOs;

	beforeAll(async () => {
		unifi = await connectUniFi(fixture());
		hotspot = await connectRouterOs(fixture());
	});
	afterEach(() => {
		unifi.heal();
		hotspot.heal();
		unifi.clockOffsetMs = 0;
	});
	afterAll(() => Promise.all([unifi.stop(), hotspot.stop()]));

	async function row(id: number): Promise<Record<string, unknown>> {
		const [found] = await fixture().sql.all('select * from sessions where id = ?', id);
		return found ?? {};
	}
	const becomes = (id: number, status: Session['status']) =>
		eventually(`session ${id} is ${status}`, async () => (await row(id))['status'] === status);
	const admissions = (id: number) => admissionsOf(fixture().sql, id);
	/** A device on the Wi-Fi of the console buys an hour. */
	async function buyJoined(): Promise<Bought> {
		const mac = newMac();
		unifi.join(mac);
		return buyAtUniFi(fixture(), mac);
	}
	return {
		fixture,
		unifi: () => unifi,
		hotspot: () => hotspot,
		row,
		becomes,
		admissions,
		noted: (id: number, state: string) =>
			eventually(`its row is ${state}`, async () => (await admissions(id))[0]?.['state'] === state),
		isIn: ({ mac }: Pick<Bought, 'mac'>) => eventually(`${mac} is in`, async () => unifi.isIn(mac)),
		isOut: ({ mac }: Pick<Bought, 'mac'>) => eventually(`${mac} is out`, async () => !unifi.isIn(mac)),
		isHeld: () => eventually('a call is held', async () => unifi.held === 1),
		tried(match: RegExp, times = 1) {
			const before = unifi.asked.length;
			return eventually(
				`the console was asked ${times} times`,
				async () => unifi.asked.slice(before).filter((line) => match.test(line)).length >= times
			);
		},
		/** A job that still ran would be taken over, or plan its next run too late, when the clock moves. */
		jobWaits: (id: number) =>
			eventually('its job waits', () =>
				fixture().sql.count(
					`select count(*) from jobs where kind = 'access.gateway' and lease_until is null and run_at > ?
						and subject_id = (select gateway_id from admissions where pass_id = ?)`,
					...[fixture().server.now(), id]
				)
			),
		async payment(sessionId: number) {
			const [found] = await fixture().sql.all('select * from payments where session_id = ?', sessionId);
			return found ?? {};
		},
		buyJoined,
		/** The same, and the device is in. */
		async inside(): Promise<Bought> {
			const bought = await buyJoined();
			await becomes(bought.sessionId, 'active');
			return bought;
		},
		async end(sessionId: number) {
			expect((await fixture().admin.send('DELETE', `/v1/sessions/${sessionId}`)).status).toBe(200);
		},
		/** Pays at the hotspot, which gets a user. */
		async buyAtHotspot(more: Partial<Order> = {}): Promise<Session> {
			const { api } = fixture();
			const session = await api.createSession({
				router_id: ROUTER_OS_ROUTER,
				phone: numberEnding('008'),
				...more
			});
			await api.getPayment((await api.pay(session)).id, 20);
			await becomes(session.id, 'active');
			return api.getSession(session.id);
		}
	};
}

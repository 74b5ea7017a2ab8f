import { afterAll, beforeAll, expect } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { startNas, type StandInNas } from '../../simulators/radius-nas.ts';
import type { Session } from '../../support/api/api.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { useFixture } from '../../support/server/fixture.ts';

export const ROUTER = 3;
export const CHILLI_ROUTER = 4;
const OTHER_ROUTER = 5;
/** Of the offers at CoovaChilli. */
const SPEED = { speed_down_kbps: 2_048, speed_up_kbps: 512 };
const SECRET_OF_NAS = 'a-secret-of-this-nas';
export const MB = 1_000_000;

let count = 0;
export const newMac = () => `02:00:00:00:09:${(count += 1).toString(16).padStart(2, '0')}`;

/** Starts a server that sells data at gateways that report by RADIUS: a MikroTik, a CoovaChilli, one elsewhere. */
export function useData(database: string) {
	const fixture = useFixture({ database });
	let nas: StandInNas;
	let chilliNas: StandInNas;
	let calls: RadiusCalls;
	let chilli: RadiusCalls;
	let elsewhere: RadiusCalls;

	beforeAll(async () => {
		nas = await startNas(SECRET_OF_NAS);
		chilliNas = await startNas(SECRET_OF_NAS, '127.0.0.2');
		const more = { access: 'portal_login', radiusSecret: SECRET_OF_NAS } as const;
		const { url } = fixture().server;
		const register = async (kind: 'mikrotik' | 'coova', router: number, host: string, { port } = nas) => {
			const address = { router, nas: `${host}:${port}` };
			return radiusCalls(url, await registerRadius(fixture(), { kind, ...more, ...address }));
		};
		calls = await register('mikrotik', ROUTER, '127.0.0.1');
		chilli = await register('coova', CHILLI_ROUTER, '127.0.0.2', chilliNas);
		elsewhere = await register('mikrotik', OTHER_ROUTER, '127.0.0.3');
	});
	afterAll(() => Promise.all([nas?.stop(), chilliNas?.stop()]));

	/** Sells an hour with so much data for two devices. @returns the id of the offer */
	async function sell(megabytes: number, router = ROUTER): Promise<number> {
		const limits = { max_devices: 2, data_limit_mb: megabytes, ...(router === CHILLI_ROUTER && SPEED) };
		const hour = { name: 'Hour', duration: '1h', price: 400, ...limits };
		const path = `/v1/owner/routers/${router}/offers`;
		const { status, body } = await fixture().owner.send('PUT', path, { body: { offers: [hour] } });
		expect([status, body]).toEqual([200, body]);
		return (body as { data: { id: number }[] }).data[0]?.id ?? 0;
	}
	async function buy(megabytes: number, router = ROUTER) {
		const offer_id = await sell(megabytes, router);
		const { session, payment } = await fixture().buy({ router_id: router, duration: '1h', offer_id });
		return { session, payment, user: loginUser(session.id), offer_id };
	}
	return {
		fixture,
		nas: () => nas,
		chilliNas: () => chilliNas,
		calls: () => calls,
		chilli: () => chilli,
		elsewhere: () => elsewhere,
		buy,
		/** Adds an hour with its data to a session. */
		addHour: ({ id, router_id, phone }: Session, offer_id: number) =>
			fixture().buy({ router_id, duration: '1h', phone, offer_id, extends_session_id: id }),
		read: (session: Session) => fixture().api.getSession(session.id),
		/** Reports what a connection has received since it began. */
		report: (user: string, mac: string, bytes: number, more: Record<string, string> = {}) =>
			calls.account('interim', `${user}-${mac}`, {
				...{ user, mac, lasted: '60', out: String(bytes % 2 ** 32) },
				...{ out_gigawords: String(Math.floor(bytes / 2 ** 32)), ...more }
			}),
		disconnects: (id: string) =>
			nas.asked.filter(({ kind, attributes }) => kind === 'disconnect' && attributes[44] === id)
	};
}

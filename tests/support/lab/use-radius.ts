import { afterAll, beforeAll } from 'vitest';
import { loginUser } from '#lib/domain/wifi.ts';
import { printedConfig, registerRadius, type RadiusGateway } from '../gateways/gateways.ts';
import { useFixture } from '../server/fixture.ts';
import { radclient, startFreeRadius, type FreeRadius, type Nas } from './freeradius.ts';

/** Gateways that ask, each on a demo router of its own. */
const PLACES = {
	hotspot: { kind: 'mikrotik', access: 'portal_login', router: 3, nas: '127.0.0.2' },
	enterprise: { kind: 'hostapd', access: 'wpa_enterprise', router: 4, nas: '127.0.0.3' },
	personal: { kind: 'hostapd', access: 'wpa_personal_per_client', router: 5, nas: '127.0.0.4' },
	chilli: { kind: 'coova', access: 'portal_login', router: 6, nas: '127.0.0.5' }
} as const;
export type Place = keyof typeof PLACES;

/** Ways in which a hotspot asks: the password itself, or a proof of it. */
export const PROOFS = ['User-Password', 'CHAP-Password', 'MS-CHAP-Password'] as const;

let devices = 0;
/** A device of its own for each test. */
export const newMac = () => `02-00-00-00-01-${(devices += 1).toString(16).padStart(2, '0').toUpperCase()}`;

/** Starts a server, and FreeRADIUS with what Airtill prints for each place. */
export function useRadius() {
	const fixture = useFixture({ database: 'sqlite' });
	const asking = new Map<Place, Nas & { gateway: RadiusGateway }>();
	let radius: FreeRadius;
	beforeAll(async () => {
		const gateways = [];
		const parts = [];
		for (const [name, place] of Object.entries(PLACES)) {
			const gateway = await registerRadius(fixture(), place);
			gateways.push({ name: name as Place, gateway, address: place.nas });
			parts.push(...(await printedConfig(fixture().server, gateway.name)));
		}
		radius = await startFreeRadius(parts);
		for (const { name, gateway, address } of gateways)
			asking.set(name, { radius, address, secret: gateway.radiusSecret, gateway });
	});
	afterAll(() => radius?.stop());

	function at(place: Place) {
		const found = asking.get(place);
		if (!found) throw new Error(`${place} is not there yet`);
		return found;
	}
	return {
		fixture,
		radius: () => radius,
		at,
		async buy(place: Place, order: { offer_id?: number } = {}) {
			const { router } = PLACES[place];
			const { session } = await fixture().buy({ router_id: router, duration: '1h', ...order });
			return { session, user: loginUser(session.id), password: session.password ?? '' };
		},
		/** Sets the only offer of a place, an hour. @returns its id */
		async sell(place: Place, limits: object): Promise<number> {
			const body = { offers: [{ name: 'Hour', duration: '1h', price: 400, ...limits }] };
			const path = `/v1/owner/routers/${PLACES[place].router}/offers`;
			const { body: list } = await fixture().owner.send('PUT', path, { body });
			return (list as { data: { id: number }[] }).data[0]?.id ?? 0;
		},
		signIn: (
			place: Place | Nas,
			login: { user: string; password: string; mac: string },
			proof: (typeof PROOFS)[number] = 'User-Password'
		) =>
			radclient(typeof place === 'string' ? at(place) : place, 'auth', {
				'User-Name': login.user,
				[proof]: login.password,
				'Calling-Station-Id': login.mac,
				'NAS-Identifier': 'stand-in'
			}),
		/** As an access point asks by the device, before anybody has typed a password. */
		askKeys: (mac: string) =>
			radclient(at('personal'), 'auth', { 'User-Name': mac, 'User-Password': mac, 'Calling-Station-Id': mac })
	};
}

import type { Database, Queries, Reads } from '../db/database.ts';
import { binder } from '../platform/bind.ts';
import type { Clock } from '../platform/clock.ts';
import { GATEWAY_KEY_PATTERN, type Secrets, sha256 } from '../platform/secrets.ts';
import { decideClaims, findClaims } from './access-points.ts';
import { namesDevices, openGateway, settingsOf, type RegisteredGateway } from './gateway-record.ts';
import { recordStatus } from './health/record-status.ts';
import { addGateway, gatewaysOfSite, rotateGateway, setGateway, type GatewaysContext } from './register.ts';
import { startAddress } from './registry.ts';
import { isSite } from './settings.ts';
import * as store from './store.ts';

export { namesDevices, type RegisteredGateway } from './gateway-record.ts';
export {
	dataWords,
	isUnlimited,
	maxSpeedKbps,
	routerOsRate,
	unheldData,
	unheldSpeed,
	UNSEEN_BYTES
} from './held-limits.ts';
export type { Claim } from './access-points.ts';
export { levelProblem } from './opennds-config.ts';

export type Gateways = ReturnType<typeof createGateways>;

export function createGateways(database: Database, clock: Clock, secrets: Secrets) {
	const { db } = database;
	const bind = binder({ database, clock, secrets });
	const openOne = (row: store.GatewayRow | null) => row && openGateway(row, secrets);
	const ofRouters = async (queries: Queries, routerIds: readonly number[]) =>
		(await store.gatewaysOfRouters(queries, routerIds)).map((row) => openGateway(row, secrets));
	return {
		add: bind(addGateway),
		open: (row: store.GatewayRow) => openGateway(row, secrets),
		async *list(): AsyncGenerator<RegisteredGateway> {
			for await (const row of store.everyGateway(db)) yield openGateway(row, secrets);
		},
		byName: async (name: string) => openOne(await store.findGateway(db, 'name', name)),
		byId: async (id: number) => openOne(await store.findGateway(db, 'id', id)),
		async byKey(key: string) {
			const row = GATEWAY_KEY_PATTERN.test(key) ? await store.findGateway(db, 'key_hash', sha256(key)) : null;
			return row && { ...openGateway(row, secrets), key };
		},
		bySite: bind(gatewayBySite),
		claimsOn: (gateway: RegisteredGateway, accessPoints?: readonly string[]) =>
			findClaims(db, gateway, accessPoints),
		decideClaims: bind(decideClaims),
		/** Whether there are claims against every access point of a router. Its guests would see no page of it. */
		async sellsNowhere(queries: Queries, routerId: number): Promise<boolean> {
			const gateways = await ofRouters(queries, [routerId]);
			const claimed = await Promise.all(
				gateways.map(async (gateway) => {
					const count = gateway.settings.accessPoints?.length ?? 0;
					return count > 0 && (await findClaims(queries, gateway)).length === count;
				})
			);
			return claimed.length > 0 && claimed.every(Boolean);
		},
		ofRouter: (queries: Queries, routerId: number) => ofRouters(queries, [routerId]),
		ofRouters: async (routerIds: readonly number[]) =>
			routerIds.length === 0 ? [] : ofRouters(db, routerIds),
		sharingConsole,
		routersSharing,
		/** Returns how a device in the Wi-Fi of a router signs in, and a URL that opens the portal page there, or null. */
		async signInAt(routerId: number): Promise<{ method: SignInMethod; startAddress: string | null }> {
			const gateways = await ofRouters(db, [routerId]);
			const address = gateways.map(startAddress).find((one) => one !== null);
			return { method: signInMethodOf(gateways), startAddress: address ?? null };
		},
		recordStatus: bind(recordStatus),
		set: bind(setGateway),
		rotate: bind(rotateGateway),
		/** Keeps that the BinAuth script of an openNDS sets limits. Its next request shows it again. */
		learnLimits: (gateway: RegisteredGateway) =>
			store.updateSettings(db, gateway, JSON.stringify({ ...gateway.settings, binauthLimits: true })),
		remove: store.removeGateway
	};
}

/**
 * Returns how a returning buyer, or another device, signs in at a router.
 * - `typed`: the buyer types username and password on the hotspot's own page.
 * - `code`: our page opens, and the resume code finds the purchase. Username and password work as well.
 * - `device`: our page opens. The gateway admits devices by address, without username and password.
 */
type SignInMethod = 'typed' | 'code' | 'device';

function signInMethodOf(gateways: readonly RegisteredGateway[]): SignInMethod {
	// hostapd has no page: devices ask for the Wi-Fi password.
	const portals = gateways.filter(({ kind }) => kind !== 'hostapd');
	if (portals.length === 0) return 'typed';
	// openNDS signs devices in without username and password.
	const takesPassword = (one: RegisteredGateway) => one.mode !== 'browser' && !namesDevices(one);
	return portals.some(takesPassword) ? 'code' : 'device';
}

/**
 * Finds gateways that share a console or device, because a grant at one is valid at all of them. Examples:
 * gateways of one UniFi site, or a MikroTik that serves two routers.
 * @returns their ids, including the gateway's own
 */
async function sharingConsole(queries: Reads, gateway: RegisteredGateway): Promise<number[]> {
	const { id, kind, settings } = gateway;
	const same = (await sharingApi(queries, gateway)).filter(
		(row) => row.kind === kind && settingsOf(row).site === settings.site
	);
	return [id, ...same.map((row) => row.id)];
}

const routersSharing = async (queries: Queries, gateway: RegisteredGateway): Promise<number[]> =>
	(await sharingApi(queries, gateway)).map((row) => row.router_id);

async function sharingApi(queries: Reads, { id, settings: { api } }: RegisteredGateway) {
	if (api === undefined) return [];
	const rows = await store.gatewaysWith(queries, 'api', api);
	return rows.filter((row) => row.id !== id && settingsOf(row).api === api);
}

/** @returns `disputed` if two accounts have registered the access point */
async function gatewayBySite(
	{ database, secrets }: GatewaysContext,
	site: string,
	accessPoint: string | null
): Promise<RegisteredGateway | 'disputed' | null> {
	const found = isSite(site) ? await gatewaysOfSite(database.db, site) : [];
	const claiming = found
		.filter(({ settings }) => accessPoint !== null && settings.accessPoints?.includes(accessPoint))
		.map(({ row }) => openGateway(row, secrets));
	for (const gateway of claiming) {
		const [claim] = await findClaims(database.db, gateway, [accessPoint ?? '']);
		if (!claim) return gateway;
		if (claim.state === 'disputed') return 'disputed';
	}
	if (claiming.length > 0) return null;
	const [only, ...others] = found;
	// A new access point belongs to the only gateway of its site, unless an owner chose the name of the site.
	const bySite = others.length === 0 && !only?.settings.publicApi ? only : undefined;
	return bySite ? openGateway(bySite.row, secrets) : null;
}

import type { Database, Queries } from '../db/database.ts';
import { binder } from '../platform/bind.ts';
import type { Clock } from '../platform/clock.ts';
import { GATEWAY_KEY_PATTERN } from '../platform/ids.ts';
import { sha256, type Secrets } from '../platform/secrets.ts';
import { settingsShape, type GatewaySettings } from './gateway.ts';
import { openGateway, type RegisteredGateway } from './gateway-record.ts';
import { recordStatus } from './health/record-status.ts';
import {
	addGateway,
	gatewaysOfSite,
	MAX_LISTED,
	rotateGateway,
	setGateway,
	type GatewaysContext
} from './register.ts';
import { adapterOf } from './registry.ts';
import * as store from './store.ts';

export type { RegisteredGateway } from './gateway-record.ts';
export { asksRadius, dataWords, heldLimits, UNSEEN_BYTES } from './limits.ts';

const MAX_OF_ROUTER = 20;

export type Gateways = ReturnType<typeof createGateways>;

export function createGateways(database: Database, clock: Clock, secrets: Secrets) {
	const { db } = database;
	const bind = binder({ database, clock, secrets });
	const openOne = (row: store.GatewayRow | null) => row && openGateway(row, secrets);
	const openAll = (rows: readonly store.GatewayRow[]) => rows.map((row) => openGateway(row, secrets));
	return {
		add: bind(addGateway),
		list: async () => openAll(await store.listGateways(db, MAX_LISTED)),
		byName: async (name: string) => openOne(await store.findGateway(db, 'name', name)),
		byId: async (id: number) => openOne(await store.findGateway(db, 'id', id)),
		byKey: async (key: string) =>
			GATEWAY_KEY_PATTERN.test(key) ? openOne(await store.findGateway(db, 'key_hash', sha256(key))) : null,
		bySite: bind(gatewayBySite),
		ofRouter: async (queries: Queries, routerId: number) =>
			openAll(await store.gatewaysOfRouters(queries, [routerId], MAX_OF_ROUTER)),
		ofRouters: async (routerIds: readonly number[]) =>
			routerIds.length === 0 ? [] : openAll(await store.gatewaysOfRouters(db, routerIds, MAX_LISTED)),
		sharingConsole,
		routersSharing,
		signInMethodAt: async (routerId: number) =>
			signInMethodOf(openAll(await store.gatewaysOfRouters(db, [routerId], MAX_OF_ROUTER))),
		recordStatus: bind(recordStatus),
		set: bind(setGateway),
		rotate: bind(rotateGateway),
		/** Keeps what the BinAuth script of an openNDS has shown of itself. Its next request shows it again. */
		learn: (
			gateway: RegisteredGateway,
			learned: Pick<GatewaySettings, 'binauthConfirms' | 'binauthLimits'>
		) => store.updateSettings(db, gateway, JSON.stringify({ ...gateway.settings, ...learned })),
		remove: store.removeGateway
	};
}

/**
 * Returns how a returning buyer, or another device, signs in at a router.
 * - `typed`: the buyer types username and password on the hotspot's own page.
 * - `code`: our page opens, and the resume code finds the purchase. Username and password work as well.
 * - `device`: our page opens. The gateway admits devices by address, without username and password.
 */
function signInMethodOf(gateways: readonly RegisteredGateway[]): 'typed' | 'code' | 'device' {
	// hostapd has no page: devices ask for the Wi-Fi password.
	const portals = gateways.filter(({ kind }) => kind !== 'hostapd');
	if (portals.length === 0) return 'typed';
	return portals.some((gateway) => adapterOf(gateway.kind).takesPassword(gateway)) ? 'code' : 'device';
}

/**
 * Finds gateways that share a console or device, because a grant at one is valid at all of them. Examples:
 * gateways of one UniFi site, or a MikroTik that serves two routers.
 * @returns their ids, including the gateway's own
 */
async function sharingConsole(
	queries: Queries,
	{ id, kind, settings: { api, site } }: RegisteredGateway
): Promise<number[]> {
	if (api === undefined) return [id];
	const others = await store.gatewaysOfKind(queries, kind, MAX_LISTED);
	const same = others.filter((other) => {
		const settings = settingsShape.parse(JSON.parse(other.settings));
		return other.id !== id && settings.api === api && settings.site === site;
	});
	return [id, ...same.map((other) => other.id)];
}

/** Returns the routers of other gateways at the same API address, or with the same UniFi site. */
async function routersSharing(
	queries: Queries,
	{ id, kind, settings: { api, site } }: RegisteredGateway
): Promise<number[]> {
	const rows = await store.gatewaysOfKind(queries, kind, MAX_LISTED);
	return rows.flatMap((row) => {
		const other = settingsShape.parse(JSON.parse(row.settings));
		const isShared = (api !== undefined && other.api === api) || (site !== undefined && other.site === site);
		return row.id !== id && isShared ? [row.router_id] : [];
	});
}

async function gatewayBySite(
	context: GatewaysContext,
	site: string,
	accessPoint: string | null
): Promise<RegisteredGateway | null> {
	const found = await gatewaysOfSite(context, site);
	const byPoint = found.find(
		({ settings }) => accessPoint !== null && settings.accessPoints?.includes(accessPoint)
	);
	// A new access point belongs to the only gateway of its site.
	return byPoint ?? (found.length === 1 ? (found[0] ?? null) : null);
}

import type { Queries, Reads } from '../db/database.ts';
import { GATEWAY_KEY_PATTERN } from '../platform/ids.ts';
import { sha256 } from '../platform/secrets.ts';
import { findClaims, findGatewaysOfSite } from './access-points.ts';
import type { Gateways } from './gateway-record.ts';
import { isSite, namesDevices, openGateway, readSettings, type RegisteredGateway } from './gateway-record.ts';
import { buildStartAddress } from './registry.ts';
import * as store from './store.ts';

export { namesDevices, type Gateways, type RegisteredGateway } from './gateway-record.ts';
export {
	splitDataWords,
	isUnlimited,
	computeMaxSpeedKbps,
	formatRouterOsRate,
	explainUnheldData,
	explainUnheldSpeed,
	UNSEEN_BYTES
} from './held-limits.ts';
export type { Claim } from './access-points.ts';
export { levelProblem } from './opennds-config.ts';

export async function* listGateways({ database, secrets }: Gateways): AsyncGenerator<RegisteredGateway> {
	for await (const row of store.iterateGateways(database.db)) yield openGateway(row, secrets);
}

const openOne = (row: store.GatewayRow | null, { secrets }: Gateways) => row && openGateway(row, secrets);

export const findGatewayById = async (context: Gateways, id: number): Promise<RegisteredGateway | null> =>
	openOne(await store.findGatewayRow(context.database.db, 'id', id), context);

export const findGatewayByName = async (context: Gateways, name: string): Promise<RegisteredGateway | null> =>
	openOne(await store.findGatewayRow(context.database.db, 'name', name), context);

export async function findGatewayByKey(context: Gateways, key: string): Promise<RegisteredGateway | null> {
	if (!GATEWAY_KEY_PATTERN.test(key)) return null;
	const gateway = openOne(await store.findGatewayRow(context.database.db, 'key_hash', sha256(key)), context);
	return gateway && { ...gateway, key };
}

export const findGatewaysOfRouter = async (
	{ secrets }: Pick<Gateways, 'secrets'>,
	queries: Queries,
	routerId: number
): Promise<RegisteredGateway[]> =>
	(await store.selectGatewaysOfRouters(queries, [routerId])).map((row) => openGateway(row, secrets));

export async function findGatewaysOfRouters(
	{ database, secrets }: Gateways,
	routerIds: readonly number[]
): Promise<RegisteredGateway[]> {
	if (routerIds.length === 0) return [];
	return (await store.selectGatewaysOfRouters(database.db, routerIds)).map((row) =>
		openGateway(row, secrets)
	);
}

/** Whether there are claims against every access point of a router. Its guests would see no page of it. */
export async function sellsNowhere(context: Gateways, queries: Queries, routerId: number): Promise<boolean> {
	const gateways = await findGatewaysOfRouter(context, queries, routerId);
	const claimed = await Promise.all(
		gateways.map(async (gateway) => {
			const count = gateway.settings.accessPoints?.length ?? 0;
			return count > 0 && (await findClaims(queries, gateway)).length === count;
		})
	);
	return claimed.length > 0 && claimed.every(Boolean);
}

/** Finds how a device in the Wi-Fi of a router signs in, and a URL that opens the portal page there, or null. */
export async function findSignIn(
	context: Gateways,
	routerId: number
): Promise<{ method: SignInMethod; startAddress: string | null }> {
	const gateways = await findGatewaysOfRouter(context, context.database.db, routerId);
	const address = gateways.map(buildStartAddress).find((one) => one !== null);
	return { method: chooseSignInMethod(gateways), startAddress: address ?? null };
}

/** Keeps that the BinAuth script of an openNDS sets limits. Its next request shows it again. */
export const learnLimits = ({ database }: Gateways, gateway: RegisteredGateway) =>
	store.updateSettings(database.db, gateway, JSON.stringify({ ...gateway.settings, binauthLimits: true }));

/**
 * Returns how a returning buyer, or another device, signs in at a router.
 * - `typed`: the buyer types username and password on the hotspot's own page.
 * - `code`: our page opens, and the resume code finds the purchase. Username and password work as well.
 * - `device`: our page opens. The gateway admits devices by address, without username and password.
 */
export type SignInMethod = 'typed' | 'code' | 'device';

function chooseSignInMethod(gateways: readonly RegisteredGateway[]): SignInMethod {
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
export async function findSharingConsole(queries: Reads, gateway: RegisteredGateway): Promise<number[]> {
	const { id, kind, settings } = gateway;
	const same = (await findSharingApi(queries, gateway)).filter(
		(row) => row.kind === kind && readSettings(row).site === settings.site
	);
	return [id, ...same.map((row) => row.id)];
}

export const findRoutersSharing = async (queries: Queries, gateway: RegisteredGateway): Promise<number[]> =>
	(await findSharingApi(queries, gateway)).map((row) => row.router_id);

async function findSharingApi(queries: Reads, { id, settings: { api } }: RegisteredGateway) {
	if (api === undefined) return [];
	const rows = await store.findGatewaysWith(queries, 'api', api);
	return rows.filter((row) => row.id !== id && readSettings(row).api === api);
}

/** @returns `disputed` if two accounts have registered the access point */
export async function findGatewayBySite(
	{ database, secrets }: Gateways,
	site: string,
	accessPoint: string | null
): Promise<RegisteredGateway | 'disputed' | null> {
	const found = isSite(site) ? await findGatewaysOfSite(database.db, site) : [];
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

import type { Database, Queries, Tx } from '../db/database.ts';
import type { Clock } from '../platform/clock.ts';
import { GATEWAY_KEY_PATTERN } from '../platform/ids.ts';
import { sha256, type Secrets } from '../platform/secrets.ts';
import { signInMethodOf, type SignInMethod } from './captive-sessions/sign-in-method.ts';
import { openGateway, settingsShape, type RegisteredGateway } from './gateway-record.ts';
import { recordStatus, type StatusUpdate } from './health/record-status.ts';
import { addGateway, gatewaysOfSite, MAX_LISTED, rotateGateway, type GatewaysContext } from './register.ts';
import type { GatewayInput } from './settings/gateway-input.ts';
import type { Rotation } from './settings/rotation.ts';
import * as store from './store.ts';

export type { RegisteredGateway } from './gateway-record.ts';
export type { StatusUpdate } from './health/record-status.ts';

/** The registered gateways of all routers. */
export interface Gateways {
	/** See addGateway. @throws GatewayInputError */
	add(
		input: GatewayInput,
		audit?: (trx: Tx, gateway: RegisteredGateway) => Promise<void>
	): Promise<RegisteredGateway>;
	list(): Promise<RegisteredGateway[]>;
	byName(name: string): Promise<RegisteredGateway | null>;
	byId(id: number): Promise<RegisteredGateway | null>;
	ofRouter(queries: Queries, routerId: number): Promise<RegisteredGateway[]>;
	ofRouters(routerIds: readonly number[]): Promise<RegisteredGateway[]>;
	/**
	 * Finds gateways that share a console or device, so that a grant at one is valid at all of them: several gateways of
	 * a UniFi site, or a MikroTik that serves two routers.
	 * @returns their ids, including the gateway's own
	 */
	sharingConsole(queries: Queries, gateway: RegisteredGateway): Promise<number[]>;
	/** How a returning buyer signs in at the hotspot of a router. */
	signInMethodAt(routerId: number): Promise<SignInMethod>;
	/** See recordStatus. */
	recordStatus(id: number, update: StatusUpdate): Promise<void>;
	/** Finds a gateway by the key in its portal address. */
	byKey(key: string): Promise<RegisteredGateway | null>;
	/** Finds a UniFi gateway: by site, and by access point if several share the site's name. */
	bySite(site: string, accessPoint: string | null): Promise<RegisteredGateway | null>;
	/** See rotateGateway. @throws GatewayInputError */
	rotate(gateway: RegisteredGateway, rotation: Rotation): Promise<RegisteredGateway>;
	/** Deletes a gateway with its captive sessions and grants. */
	remove(queries: Queries, gateway: RegisteredGateway): Promise<void>;
}

export function createGateways(database: Database, clock: Clock, secrets: Secrets): Gateways {
	const { db } = database;
	const context = { database, clock, secrets };
	const openOne = (row: store.GatewayRow | null) => row && openGateway(row, secrets);
	const openAll = (rows: readonly store.GatewayRow[]) => rows.map((row) => openGateway(row, secrets));
	return {
		add: (input, audit) => addGateway(context, input, audit),
		list: async () => openAll(await store.listGateways(db, MAX_LISTED)),
		byName: async (name) => openOne(await store.findGateway(db, 'name', name)),
		byId: async (id) => openOne(await store.findGateway(db, 'id', id)),
		ofRouter: async (queries, routerId) => openAll(await store.gatewaysOfRouter(queries, routerId)),
		ofRouters: async (routerIds) =>
			routerIds.length === 0 ? [] : openAll(await store.gatewaysOfRouters(db, routerIds, MAX_LISTED)),
		sharingConsole,
		signInMethodAt: async (routerId) => signInMethodOf(openAll(await store.gatewaysOfRouter(db, routerId))),
		recordStatus: (id, update) => recordStatus(context, id, update),
		byKey: async (key) =>
			GATEWAY_KEY_PATTERN.test(key) ? openOne(await store.findGateway(db, 'key_hash', sha256(key))) : null,
		bySite: (site, accessPoint) => gatewayBySite(context, site, accessPoint),
		rotate: (gateway, rotation) => rotateGateway(context, gateway, rotation),
		remove: (queries, gateway) => store.removeGateway(queries, gateway.id)
	};
}

async function sharingConsole(
	queries: Queries,
	{ id, kind, settings: { api, site } }: RegisteredGateway
): Promise<number[]> {
	if (api === undefined) return [id];
	const others = await store.settingsOfKind(queries, kind, MAX_LISTED);
	const same = others.filter((other) => {
		const settings = settingsShape.parse(JSON.parse(other.settings));
		return other.id !== id && settings.api === api && settings.site === site;
	});
	return [id, ...same.map((other) => other.id)];
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
	// A new access point at a site with one gateway belongs to that gateway.
	return byPoint ?? (found.length === 1 ? (found[0] ?? null) : null);
}

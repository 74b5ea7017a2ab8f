import { z } from 'zod';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queries, Tx } from '../db/database.ts';
import { gatewayKey, GATEWAY_KEY_PATTERN, gatewaySecret } from '../platform/ids.ts';
import { sha256, type Secrets } from '../platform/secrets.ts';
import type { GatewayCredentials, GatewayFacts, GatewayKind } from './gateway.ts';
import { adapterOf } from './registry.ts';
import {
	checkGateway,
	checkRotation,
	GatewayInputError,
	madeFor,
	sharesSecret,
	type GatewayInput,
	type Rotation
} from './settings/rules.ts';
import { isSameAddress } from './settings/rules-reach.ts';
import { signInMethodOf, type SignInMethod } from './captive-sessions/sign-in-method.ts';
import * as store from './store.ts';

/** The register of gateways: which router each stands on, and what is shared with it. */
export interface Gateways {
	/**
	 * @param note what else is noted of a new gateway, in the transaction that adds it
	 * @throws GatewayInputError with every field that is wrong
	 */
	add(
		input: GatewayInput,
		note?: (trx: Tx, gateway: RegisteredGateway) => Promise<void>
	): Promise<RegisteredGateway>;
	list(): Promise<RegisteredGateway[]>;
	byName(name: string): Promise<RegisteredGateway | null>;
	byId(id: number): Promise<RegisteredGateway | null>;
	ofRouter(queries: Queries, routerId: number): Promise<RegisteredGateway[]>;
	/** Those of several routers; of many gateways only the first. */
	ofRouters(routerIds: readonly number[]): Promise<RegisteredGateway[]>;
	/**
	 * Gateways that are one and the same console or router, told of the same guests: several of a UniFi site, told apart
	 * by their access points, or a MikroTik that stands on two routers of ours.
	 * @returns their ids, its own among them
	 */
	sharingConsole(queries: Queries, gateway: RegisteredGateway): Promise<number[]>;
	/** How somebody signs in to the hotspot of a router. */
	signInMethodAt(routerId: number): Promise<SignInMethod>;
	/** Notes what was just learnt of a gateway; `trouble: null` says that all is well. */
	recordStatus(id: number, update: StatusUpdate): Promise<void>;
	/** By the key in its portal address. */
	byKey(key: string): Promise<RegisteredGateway | null>;
	/** UniFi, which cannot be given a key: by site, and by access point where several share the site's name. */
	bySite(site: string, accessPoint: string | null): Promise<RegisteredGateway | null>;
	/** New keys or secrets; the old ones end at once. @throws GatewayInputError */
	rotate(gateway: RegisteredGateway, what: Rotation): Promise<RegisteredGateway>;
	/** Its visits and grants are forgotten with it. */
	remove(queries: Queries, gateway: RegisteredGateway): Promise<void>;
}

export interface RegisteredGateway extends GatewayFacts {
	id: number;
	routerId: number;
	kind: GatewayKind;
	/** What the kind is called by its makers. */
	title: string;
	name: string;
	/** 144 random bits that name it in its portal address. */
	key: string;
	/** When it was last heard of on a channel that it proves itself on; null before the first time. */
	seenAt: number | null;
	/** Since when it ought to have been heard of; null while it is. */
	unresponsiveSince: number | null;
	/** Its clock less ours, as last measured. */
	clockOffsetMs: number | null;
	/** Why it could last not be told something; null when it could. */
	trouble: string | null;
	/** Devices that it last said it has online; null where it does not say. */
	onlineCount: number | null;
	createdAt: number;
}

/** `seen`: it has just been heard of on a channel that it proves itself on. */
export interface StatusUpdate {
	seen?: true;
	clockOffsetMs?: number;
	trouble?: string | null;
	/** Devices that it has online; null where it does not say. */
	online?: number | null;
}

/** More than one installation has; a list beyond it would be read by nobody. */
const MAX_LISTED = 1_000;
const MAX_TROUBLE = 500;
/** A gateway that talks all the time is noted once in this time. */
const SEEN_AGAIN_MS = 10_000;

const hostList = z.array(z.string());
const settingsShape = z.object({
	level: z.union([z.literal(1), z.literal(4)]).optional(),
	site: z.string().optional(),
	accessPoints: z.array(z.string()).optional(),
	control: z.enum(['radius', 'rest']).optional(),
	api: z.string().optional(),
	apiCertificate: z.string().optional(),
	ndsctl: z.string().optional(),
	nas: z.string().optional(),
	nasPort: z.int().optional(),
	external: z.literal(true).optional()
});
const credentialsShape = z.object({
	radiusSecret: z.string().optional(),
	token: z.string().optional(),
	apiKey: z.string().optional(),
	apiUser: z.string().optional()
});

const keyContext = (keyHash: string) => `gateway-key:${keyHash}`;
const secretContext = (name: string) => `gateway-secret:${name}`;
const credentialsContext = (name: string) => `gateway-credentials:${name}`;

/** Not of its address, which may change: what it has told its gateways would be a stranger's then. */
const installationOf = (secrets: Secrets) => secrets.derive('installation', 4).toString('hex');

/** A stored gateway, opened. */
export function openGateway(row: store.GatewayRow, secrets: Secrets): RegisteredGateway {
	return {
		id: row.id,
		routerId: row.router_id,
		kind: row.kind,
		title: adapterOf(row.kind).title,
		name: row.name,
		key: secrets.decrypt(row.key_sealed, keyContext(row.key_hash)),
		loginHosts: hostList.parse(JSON.parse(row.login_hosts)),
		secret: row.secret_sealed === null ? null : secrets.decrypt(row.secret_sealed, secretContext(row.name)),
		credentials:
			row.credentials_sealed === null
				? {}
				: credentialsShape.parse(
						JSON.parse(secrets.decrypt(row.credentials_sealed, credentialsContext(row.name)))
					),
		settings: settingsShape.parse(JSON.parse(row.settings)),
		installation: installationOf(secrets),
		seenAt: row.seen_at,
		unresponsiveSince: row.unresponsive_since,
		clockOffsetMs: row.clock_offset_ms,
		trouble: row.trouble,
		onlineCount: row.online_count,
		createdAt: row.created_at
	};
}

export function createGateways(database: Database, clock: Clock, secrets: Secrets): Gateways {
	const { db } = database;
	const opened = (row: store.GatewayRow | null) => row && openGateway(row, secrets);

	const newKey = () => {
		const key = gatewayKey();
		const key_hash = sha256(key);
		return { key_hash, key_sealed: secrets.encrypt(key, keyContext(key_hash)) };
	};
	const sealed = (name: string, secret: string) => secrets.encrypt(secret, secretContext(name));
	const sealedCredentials = (name: string, credentials: GatewayCredentials) =>
		Object.keys(credentials).length === 0
			? null
			: secrets.encrypt(JSON.stringify(credentials), credentialsContext(name));

	/** Gateways of one site are told apart by their access points, so none may be without. */
	async function checkSite(site: string, accessPoints: readonly string[] = []): Promise<void> {
		const others = (await ofSite(site)).filter(({ settings }) => {
			const own = settings.accessPoints ?? [];
			return (
				own.length === 0 || accessPoints.length === 0 || own.some((point) => accessPoints.includes(point))
			);
		});
		const [other] = others;
		if (!other) return;
		const reason = `"${other.name}" has the same site; give each the MAC addresses of its own access points`;
		throw new GatewayInputError([{ field: 'access-point', reason }]);
	}

	/** A RADIUS server knows its clients by their addresses, and does not start with two of one address. */
	async function checkNas(nas: string): Promise<void> {
		const registered = (await store.listGateways(db, MAX_LISTED)).map((row) => openGateway(row, secrets));
		const other = registered.find(({ settings }) => settings.nas && isSameAddress(settings.nas, nas));
		if (!other) return;
		const reason = `"${other.name}" asks RADIUS from ${nas} as well: give each gateway an address of its own`;
		throw new GatewayInputError([{ field: 'nas', reason }]);
	}

	const ofSite = async (site: string) =>
		(await store.gatewaysOfKind(db, 'unifi', MAX_LISTED))
			.map((row) => openGateway(row, secrets))
			.filter(({ settings }) => settings.site === site);

	return {
		async add(input, note) {
			const { name, routerId, kind, loginHosts, secret: given, settings, credentials } = checkGateway(input);
			if (settings.site !== undefined) await checkSite(settings.site, settings.accessPoints);
			if (settings.nas !== undefined) await checkNas(settings.nas);
			const secret = given ?? (sharesSecret(kind) ? gatewaySecret() : null);
			const made = madeFor(kind, settings);
			const now = clock.now();
			try {
				const values = {
					router_id: routerId,
					kind,
					name,
					...newKey(),
					login_hosts: JSON.stringify(loginHosts),
					secret_sealed: secret === null ? null : sealed(name, secret),
					settings: JSON.stringify(settings),
					credentials_sealed: sealedCredentials(name, {
						...(made.radiusSecret && { radiusSecret: gatewaySecret() }),
						...(made.token && { token: gatewaySecret() }),
						...credentials
					}),
					created_at: now,
					updated_at: now
				};
				return await database.transact(async (trx) => {
					const gateway = openGateway(await store.insertGateway(trx, values), secrets);
					await note?.(trx, gateway);
					return gateway;
				});
			} catch (error) {
				if (!database.isUniqueViolation(error)) throw error;
				throw new GatewayInputError([{ field: 'name', reason: `"${name}" is taken` }]);
			}
		},
		list: async () => (await store.listGateways(db, MAX_LISTED)).map((row) => openGateway(row, secrets)),
		byName: async (name) => opened(await store.findGateway(db, 'name', name)),
		byId: async (id) => opened(await store.findGateway(db, 'id', id)),
		ofRouter: async (queries, routerId) =>
			(await store.gatewaysOfRouter(queries, routerId)).map((row) => openGateway(row, secrets)),
		async sharingConsole(queries, { id, kind, settings: { api, site } }) {
			// Without an API of its own nothing says that it is another one's.
			if (api === undefined) return [id];
			const others = await store.placesOfKind(queries, kind, MAX_LISTED);
			const same = others.filter((other) => {
				const settings = settingsShape.parse(JSON.parse(other.settings));
				return other.id !== id && settings.api === api && settings.site === site;
			});
			return [id, ...same.map((other) => other.id)];
		},
		signInMethodAt: async (routerId) =>
			signInMethodOf((await store.gatewaysOfRouter(db, routerId)).map((row) => openGateway(row, secrets))),
		ofRouters: async (routerIds) =>
			routerIds.length === 0
				? []
				: (await store.gatewaysOfRouters(db, routerIds, MAX_LISTED)).map((row) => openGateway(row, secrets)),
		async recordStatus(id, { seen, clockOffsetMs, trouble, online }) {
			const row = await store.findGateway(db, 'id', id);
			if (!row) return;
			const now = clock.now();
			const isFresh = row.seen_at !== null && Math.abs(now - row.seen_at) < SEEN_AGAIN_MS;
			const news = {
				...(seen &&
					!(isFresh && row.unresponsive_since === null) && { seen_at: now, unresponsive_since: null }),
				...(clockOffsetMs === undefined ? {} : { clock_offset_ms: Math.round(clockOffsetMs) }),
				...(trouble === undefined ? {} : { trouble: trouble?.slice(0, MAX_TROUBLE) ?? null }),
				...(online === undefined ? {} : { online_count: online })
			};
			await store.noteGateway(db, row, news);
			if (seen && row.unresponsive_since !== null) await store.hearRouter(db, row.router_id);
		},
		byKey: async (key) =>
			GATEWAY_KEY_PATTERN.test(key) ? opened(await store.findGateway(db, 'key_hash', sha256(key))) : null,
		async bySite(site, accessPoint) {
			const found = await ofSite(site);
			const byPoint = found.find(
				({ settings }) => accessPoint !== null && settings.accessPoints?.includes(accessPoint)
			);
			// A new access point of the only gateway there is belongs to it.
			return byPoint ?? (found.length === 1 ? (found[0] ?? null) : null);
		},
		async rotate(gateway, what) {
			checkRotation(gateway, what);
			const fresh = (given: string | null) => (given === 'new' ? gatewaySecret() : given);
			const [secret, radiusSecret, token] = [what.secret, what.radiusSecret, what.token].map(fresh);
			const credentials = {
				...(radiusSecret && { radiusSecret }),
				...(token && { token }),
				...(what.apiKey !== null && { apiKey: what.apiKey }),
				...(what.apiUser !== null && { apiUser: what.apiUser })
			};
			const row = await store.updateGateway(db, gateway.id, {
				...(what.key ? newKey() : {}),
				...(secret ? { secret_sealed: sealed(gateway.name, secret) } : {}),
				...(Object.keys(credentials).length > 0 && {
					credentials_sealed: sealedCredentials(gateway.name, { ...gateway.credentials, ...credentials })
				}),
				updated_at: clock.now()
			});
			return openGateway(row, secrets);
		},
		remove: (queries, gateway) => store.removeGateway(queries, gateway.id)
	};
}

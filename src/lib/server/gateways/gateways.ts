import { lockName } from '../db/locks.ts';
import {
	type GatewayKind,
	type GatewayAdapter,
	type GatewayFacts,
	type ControlMode,
	type GatewayCredentials,
	type GatewaySettings,
	settingsShape,
	credentialsShape,
	type DeviceController
} from './gateway.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { GATEWAY_KEY_PATTERN, gatewayKey, type Secrets, sha256 } from '../platform/secrets.ts';
import { coova } from './coova.ts';
import { hostapd } from './hostapd.ts';
import { mikrotik } from './mikrotik.ts';
import { mikrotikFetch } from './mikrotik-fetch.ts';
import { opennds } from './opennds.ts';
import { endOutage } from './outages.ts';
import { unifi } from './unifi.ts';
import { z } from 'zod';
import type { Base } from '../base.ts';
import { refuseFields } from '../platform/errors.ts';
import { HOUR_MS, MINUTE_MS } from '#lib/domain/time.ts';
import type { Insertable, Selectable, Updateable } from 'kysely';
import { first, isChanged } from '#lib/server/db/queries.ts';
import type { GatewaysTable } from '../db/schema.ts';

export async function* listGateways({ database, secrets }: Gateways): AsyncGenerator<RegisteredGateway> {
	for await (const row of iterateGateways(database.db)) yield openGateway(row, secrets);
}

const openOne = (row: GatewayRow | null, { secrets }: Gateways) => row && openGateway(row, secrets);

export const findGatewayById = async (context: Gateways, id: number): Promise<RegisteredGateway | null> =>
	openOne(await findGatewayRow(context.database.db, 'id', id), context);

export const findGatewayByName = async (context: Gateways, name: string): Promise<RegisteredGateway | null> =>
	openOne(await findGatewayRow(context.database.db, 'name', name), context);

export async function findGatewayByKey(context: Gateways, key: string): Promise<RegisteredGateway | null> {
	if (!GATEWAY_KEY_PATTERN.test(key)) return null;
	const gateway = openOne(await findGatewayRow(context.database.db, 'key_hash', sha256(key)), context);
	return gateway && { ...gateway, key };
}

export const findGatewaysOfRouter = async (
	{ secrets }: Pick<Gateways, 'secrets'>,
	queries: Queries,
	routerId: number
): Promise<RegisteredGateway[]> =>
	(await selectGatewaysOfRouters(queries, [routerId])).map((row) => openGateway(row, secrets));

export async function findGatewaysOfRouters(
	{ database, secrets }: Gateways,
	routerIds: readonly number[]
): Promise<RegisteredGateway[]> {
	if (routerIds.length === 0) return [];
	return (await selectGatewaysOfRouters(database.db, routerIds)).map((row) => openGateway(row, secrets));
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
	updateSettings(database.db, gateway, JSON.stringify({ ...gateway.settings, binauthLimits: true }));

/** Keeps where the login page of a MikroTik that fetches is, as it reports it. */
export async function learnLoginHosts(
	{ database }: Gateways,
	{ id, loginHosts, updatedAt }: RegisteredGateway,
	hosts: readonly string[]
): Promise<void> {
	const login_hosts = JSON.stringify(hosts.slice(0, MAX_LOGIN_HOSTS));
	if (hosts.length === 0 || login_hosts === JSON.stringify(loginHosts)) return;
	const query = database.db.updateTable('gateways').set({ login_hosts }).where('id', '=', id);
	await query.where('updated_at', '=', updatedAt).execute();
}

export const MAX_LOGIN_HOSTS = 5;

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
 * Finds gateways that share a console or device, because a device that one lets in is in at all of them. Examples:
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
	const rows = await findGatewaysWith(queries, 'api', api);
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

const ADAPTERS: Readonly<Record<GatewayKind, GatewayAdapter>> = {
	...{ opennds, mikrotik, coova, unifi, hostapd },
	'mikrotik-fetch': mikrotikFetch
};

export const findAdapter = (kind: GatewayKind): GatewayAdapter => ADAPTERS[kind];

/** Returns a URL that makes a gateway redirect to its portal page once more, or null. */
export function buildStartAddress({ kind, loginHosts: [host] }: RegisteredGateway): string | null {
	const { defaultPort, startPath } = findAdapter(kind);
	if (host === undefined || startPath === null) return null;
	return new URL(startPath, `http://${host.includes(':') ? host : `${host}:${defaultPort}`}`).href;
}

export type Gateways = Pick<Base, 'database' | 'clock' | 'secrets'>;

/** A gateway with decrypted secrets. */
export interface RegisteredGateway extends GatewayFacts {
	id: number;
	routerId: number;
	kind: GatewayKind;
	title: string;
	mode: ControlMode;
	name: string;
	/** 144 random bits, part of its portal address. */
	key: string;
	/** Last response on an authenticated channel; null before the first. */
	seenAt: number | null;
	unresponsiveSince: number | null;
	clockOffsetMs: number | null;
	/** A sentence about the last command if it failed; null if it succeeded. */
	trouble: string | null;
	/** Options of "gateways rotate" that replace what AIRTILL_SECRET does not open; empty if all is readable. */
	unreadable: readonly string[];
	onlineCount: number | null;
	/** How and when it last named a device that is no MAC address; null if never. */
	unreadDevice: { notation: string; at: number } | null;
	/** Last change of its settings or secrets. */
	updatedAt: number;
	removingAt: number | null;
}

/** If a removal does not end within this time, its process has died: the gateway lets in its buyers again. */
export const REMOVAL_MS = 5 * MINUTE_MS;

/** Nothing is wanted at a gateway that is being removed, and nothing sold. */
export const isBeingRemoved = ({ removingAt: at }: Pick<RegisteredGateway, 'removingAt'>, now: number) =>
	at !== null && Math.abs(now - at) < REMOVAL_MS;

const hostList = z.array(z.string());

const keyContext = (keyHash: string) => `gateway-key:${keyHash}`;
const secretContext = (name: string) => `gateway-secret:${name}`;
const credentialsContext = (name: string) => `gateway-credentials:${name}`;

/** Derived from the secret, because the address of an installation may change. */
function readInstallation(secrets: Secrets, { installation, key_sealed, key_hash }: GatewayRow): string {
	if (installation !== null) return installation;
	const position = Math.max(0, secrets.keyIndex(key_sealed, keyContext(key_hash)));
	return secrets.deriveAll('installation', 4)[position]?.toString('hex') ?? '';
}

export function createGatewayKey(secrets: Secrets): Pick<GatewayRow, 'key_hash' | 'key_sealed'> {
	const key = gatewayKey();
	const key_hash = sha256(key);
	return { key_hash, key_sealed: secrets.encrypt(key, keyContext(key_hash)) };
}

export const sealSecret = (secrets: Secrets, name: string, secret: string): string =>
	secrets.encrypt(secret, secretContext(name));

export const sealCredentials = (
	secrets: Secrets,
	name: string,
	credentials: GatewayCredentials
): string | null =>
	Object.keys(credentials).length === 0
		? null
		: secrets.encrypt(JSON.stringify(credentials), credentialsContext(name));

export const readSettings = ({ settings }: GatewayRow): GatewaySettings =>
	settingsShape.parse(JSON.parse(settings));

/**
 * Opens a gateway. One whose key or secrets do not open with AIRTILL_SECRET lacks them, and counts as a gateway that
 * does not respond.
 */
export function openGateway(row: GatewayRow, secrets: Secrets): RegisteredGateway {
	const unreadable: string[] = [];
	function open<T>(sealed: string | null, context: string, missing: T, renewals: readonly string[]) {
		try {
			return sealed === null ? missing : secrets.decrypt(sealed, context);
		} catch {
			unreadable.push(...renewals);
			return missing;
		}
	}
	const { kind, name } = row;
	const settings = readSettings(row);
	const key = open(row.key_sealed, keyContext(row.key_hash), '', ['--key']);
	const secret = open(row.secret_sealed, secretContext(name), null, ['--secret']);
	const renewals = listRenewals(kind, settings);
	const credentials = open(row.credentials_sealed, credentialsContext(name), '{}', renewals);
	const isReadable = unreadable.length === 0;
	const { title, controlMode } = findAdapter(kind);
	return {
		...{ id: row.id, routerId: row.router_id, kind, title, mode: controlMode({ settings }) },
		...{ name, key, secret, settings, unreadable },
		loginHosts: hostList.parse(JSON.parse(row.login_hosts)),
		credentials: credentialsShape.parse(JSON.parse(credentials)),
		installation: readInstallation(secrets, row),
		seenAt: row.seen_at,
		unresponsiveSince: row.unresponsive_since ?? (isReadable ? null : (row.seen_at ?? row.created_at)),
		clockOffsetMs: row.clock_offset_ms,
		trouble: isReadable ? row.trouble : formatUnreadable({ name, unreadable }),
		onlineCount: row.online_count,
		unreadDevice:
			row.unread_device === null ? null : { notation: row.unread_device, at: row.unread_device_at ?? 0 },
		updatedAt: row.updated_at,
		removingAt: row.removing_at
	};
}

function listRenewals(kind: GatewayKind, settings: GatewaySettings): string[] {
	const { radiusSecret, token } = decideGeneratedCredentials(kind, settings);
	return [
		...(radiusSecret ? ['--radius-secret'] : []),
		...(token ? ['--token'] : []),
		...(settings.api === undefined ? [] : ['--api-key-file FILE']),
		...(settings.api !== undefined && kind === 'mikrotik' ? ['--api-user NAME'] : [])
	];
}

/** Returns whether the gateway connects only devices that Airtill names, so a purchase needs a device. */
export const namesDevices = ({ kind, mode }: Pick<RegisteredGateway, 'kind' | 'mode'>): boolean =>
	mode === 'poll' || (mode === 'push' && findAdapter(kind).controller?.subject === 'device');

/** Returns whether devices sign in with the browser. Otherwise the gateway connects them without it. */
export const signsInBrowser = (gateway: Pick<RegisteredGateway, 'kind' | 'mode'>): boolean =>
	findAdapter(gateway.kind).signInUrl !== undefined && !namesDevices(gateway);

export const formatUnreadable = ({ name, unreadable }: Pick<RegisteredGateway, 'name' | 'unreadable'>) =>
	'The key or secrets of this gateway do not open with AIRTILL_SECRET. Restore AIRTILL_SECRET, or replace them: ' +
	`gateways rotate ${name} ${unreadable.join(' ')}`;

export function refuseUnreadable(gateway: RegisteredGateway): never {
	throw refuseFields({ field: 'name', reason: formatUnreadable(gateway) });
}

export function decideGeneratedCredentials(kind: GatewayKind, settings: GatewaySettings) {
	const radiusSecret = usesRadius(kind, settings);
	return { radiusSecret, token: radiusSecret || kind === 'opennds' || kind === 'mikrotik-fetch' };
}

export const usesRadius = (kind: GatewayKind, settings: GatewaySettings): boolean =>
	findAdapter(kind).controlMode({ settings }) === 'radius';

const SITE = /^[A-Za-z0-9_-]{1,32}$/;

export const isSite = (text: string): boolean => SITE.test(text);

/** An update for a gateway. Omitted fields keep their values. */
export interface StatusUpdate {
	/** It has just responded on an authenticated channel. */
	seen?: true;
	/** It has answered a RADIUS request of ours: a sign of life, but its own requests may still be refused. */
	answered?: true;
	clockOffsetMs?: number;
	trouble?: string | null;
	online?: number | null;
	/** The name of a device that is no MAC address, as the gateway wrote it; '' if it wrote none. */
	unreadDevice?: string;
}

const MAX_TROUBLE_LENGTH = 500;
/** Limits writes for gateways that call often. */
const SEEN_INTERVAL_MS = 10_000;
const UNREAD_INTERVAL_MS = HOUR_MS;
const MAX_NOTATION_LENGTH = 64;

/**
 * Saves an update. The router sells after the first response, and again after the end of an outage.
 * @param gateway as read before it responded: a response to old settings or secrets does not count, nor
 * does one of a gateway whose secrets cannot be read
 */
export async function recordStatus(
	{ database, clock }: Gateways,
	gateway: Pick<RegisteredGateway, 'id' | 'updatedAt' | 'unreadable' | 'seenAt' | 'unresponsiveSince'>,
	{ seen: called, answered, ...facts }: StatusUpdate
): Promise<void> {
	const { clockOffsetMs, trouble, online, unreadDevice } = facts;
	const now = clock.now();
	const isFresh = (at: number | null, unresponsiveSince: number | null) =>
		at !== null && unresponsiveSince === null && Math.abs(now - at) < SEEN_INTERVAL_MS;
	const isNews = Object.keys(facts).length > 0 || !isFresh(gateway.seenAt, gateway.unresponsiveSince);
	if (gateway.unreadable.length > 0 || !isNews) return;
	const { db } = database;
	const row = await findGatewayRow(db, 'id', gateway.id);
	if (row?.updated_at !== gateway.updatedAt) return;
	// An answer to our request counts only after the gateway has called by itself: its calls may still be refused.
	const seen =
		(called ?? (answered && row.seen_at !== null)) && !isFresh(row.seen_at, row.unresponsive_since);
	const update = {
		...(seen && { seen_at: now, unresponsive_since: null }),
		...(clockOffsetMs === undefined ? {} : { clock_offset_ms: Math.round(clockOffsetMs) }),
		...(trouble === undefined ? {} : { trouble: trouble?.slice(0, MAX_TROUBLE_LENGTH) ?? null }),
		...(online === undefined ? {} : { online_count: online }),
		...(unreadDevice !== undefined && formatNotation(row, unreadDevice, now))
	};
	if (!seen) {
		await updateStatus(db, row, update);
		return;
	}
	await database.transact(async (trx) => {
		if (!(await updateStatus(trx, row, update))) return;
		if (row.seen_at === null) await updateResponded(trx, row.router_id);
		// A check may have taken the router off sale since the row was read.
		if (await markRouterOnline(trx, row.router_id)) await endOutage(trx, row.router_id, now);
	});
}

/** Keeps how the gateway writes addresses, without the address of a person's device. Writes the same one once an hour. */
function formatNotation(row: GatewayRow, text: string, now: number) {
	const notation = text
		.replace(/\b[0-9a-f]+\b|\d/gi, (digits) => 'x'.repeat(digits.length))
		.slice(0, MAX_NOTATION_LENGTH);
	const isKnown = row.unread_device === notation && now - (row.unread_device_at ?? 0) < UNREAD_INTERVAL_MS;
	return isKnown ? {} : { unread_device: notation, unread_device_at: now };
}

/**
 * Access points of UniFi, whose redirects carry no secret: the MAC address decides whose prices a guest sees. Anyone can
 * register one. While gateways of two accounts have it, it sells for neither; an administrator decides whose it is.
 */

/** Why a gateway does not sell at one of its access points. `disputed`: nobody has decided. `lost`: another account has it. */
export interface Claim {
	accessPoint: string;
	state: 'disputed' | 'lost';
	/** Routers of the other accounts that have it. */
	rivals: number[];
}

/** Returns the claims against a gateway, by default on any of its access points. */
export async function findClaims(
	queries: Queries,
	{ id, kind, routerId, settings }: Pick<RegisteredGateway, 'id' | 'kind' | 'routerId' | 'settings'>,
	accessPoints: readonly string[] = settings.accessPoints ?? []
): Promise<Claim[]> {
	if (kind !== 'unifi' || settings.site === undefined || accessPoints.length === 0) return [];
	const others = (await findGatewaysOfSite(queries, settings.site)).filter(({ row }) => row.id !== id);
	const decided = await findDecidedOwners(queries, accessPoints);
	const owners = await findOwners(queries, [routerId, ...others.map(({ row }) => row.router_id)]);
	const own = owners.get(routerId);
	return accessPoints.flatMap((accessPoint): Claim[] => {
		const rivals = others
			.filter(({ row, settings: { accessPoints: theirs = [] } }) => {
				return theirs.includes(accessPoint) && owners.get(row.router_id) !== own;
			})
			.map(({ row }) => row.router_id);
		const owner = decided.get(accessPoint);
		if (owner !== undefined) return owner === own ? [] : [{ accessPoint, state: 'lost', rivals }];
		return rivals.length > 0 ? [{ accessPoint, state: 'disputed', rivals }] : [];
	});
}

/** Gives all claimed access points of a router's gateways to the account of the router. */
export async function decideClaims(
	{ database, clock }: Pick<Gateways, 'database' | 'clock'>,
	gateways: readonly RegisteredGateway[],
	audit: (trx: Tx, accessPoints: string[]) => Promise<void>
): Promise<void> {
	await database.transact(async (trx) => {
		await lockName(trx, 'sites and addresses of gateways');
		for (const gateway of gateways) {
			const claimed = (await findClaims(trx, gateway)).map(({ accessPoint }) => accessPoint);
			const owner = (await findOwners(trx, [gateway.routerId])).get(gateway.routerId);
			if (claimed.length === 0 || owner === undefined) continue;
			await decideOwner(trx, claimed, { owner_account_id: owner, decided_at: clock.now() });
			await audit(trx, claimed);
		}
	});
}

export async function findGatewaysOfSite(queries: Queries, site: string) {
	const rows = await findGatewaysWith(queries, 'site', site);
	return rows
		.map((row) => ({ row, settings: readSettings(row) }))
		.filter(({ settings }) => settings.site === site);
}

export type GatewayRow = Selectable<GatewaysTable>;

export const insertGateway = (queries: Queries, gateway: Insertable<GatewaysTable>): Promise<GatewayRow> =>
	queries.insertInto('gateways').values(gateway).returningAll().executeTakeFirstOrThrow();

export const findGatewayRow = (
	queries: Queries,
	column: 'id' | 'key_hash' | 'name',
	value: string | number
): Promise<GatewayRow | null> => first(queries.selectFrom('gateways').selectAll().where(column, '=', value));

const BATCH = 500;

export async function* iterateGateways(queries: Queries): AsyncGenerator<GatewayRow> {
	for (let afterId = 0, isMore = true; isMore;) {
		const found = queries.selectFrom('gateways').selectAll().where('id', '>', afterId);
		const rows = await found.orderBy('id').limit(BATCH).execute();
		yield* rows;
		afterId = rows.at(-1)?.id ?? afterId;
		isMore = rows.length === BATCH;
	}
}

/** Returns all gateways with this setting, and perhaps others: callers compare it. */
const findGatewaysWith = (queries: Reads, setting: 'api' | 'site', value: string): Promise<GatewayRow[]> =>
	queries
		.selectFrom('gateways')
		.selectAll()
		// PostgreSQL's JSON functions, which a migration used, write a space.
		.where('settings', 'like', `%"${setting}":%"${value}"%`)
		.orderBy('id')
		.execute();

/** For the routers of one page. */
const MAX_OF_ROUTERS = 1_000;

const selectGatewaysOfRouters = (queries: Queries, routerIds: readonly number[]): Promise<GatewayRow[]> =>
	queries
		.selectFrom('gateways')
		.selectAll()
		.where('router_id', 'in', routerIds)
		.orderBy('router_id')
		.orderBy('id')
		.limit(MAX_OF_ROUTERS)
		.execute();

/** Writes nothing if no value has changed, or if the gateway got other settings or secrets meanwhile. */
async function updateStatus(
	queries: Queries,
	row: GatewayRow,
	update: Partial<GatewayRow>
): Promise<boolean> {
	const known = new Map<string, unknown>(Object.entries(row));
	if (Object.entries(update).every(([name, value]) => known.get(name) === value)) return false;
	return isChanged(
		queries
			.updateTable('gateways')
			.set(update)
			.where('id', '=', row.id)
			.where('updated_at', '=', row.updated_at)
	);
}

/** Writes nothing if the gateway got other settings or secrets since it was read. */
const updateSettings = (
	queries: Queries,
	{ id, updatedAt }: { id: number; updatedAt: number },
	settings: string
) =>
	queries
		.updateTable('gateways')
		.set({ settings })
		.where('id', '=', id)
		.where('updated_at', '=', updatedAt)
		.execute();

const markRouterOnline = (queries: Queries, routerId: number): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('routers')
			.set({ unresponsive_since: null })
			.where('id', '=', routerId)
			.where('unresponsive_since', 'is not', null)
	);

/** Stores when a gateway of the router responded. A removed or rotated gateway does not count. */
export const updateResponded = (queries: Queries, routerId: number) =>
	queries
		.updateTable('routers')
		.set(({ selectFrom }) => ({
			responded_at: selectFrom('gateways')
				.select(({ fn }) => fn.min('seen_at').as('at'))
				.where('router_id', '=', routerId)
		}))
		.where('id', '=', routerId)
		.execute();

export const updateGateway = (
	queries: Queries,
	id: number,
	change: Updateable<GatewaysTable>
): Promise<GatewayRow> =>
	queries.updateTable('gateways').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Returns the account of each router. */
export async function findOwners(
	queries: Queries,
	routerIds: readonly number[]
): Promise<ReadonlyMap<number, number>> {
	const found = queries.selectFrom('routers').select(['id', 'owner_account_id']);
	const rows = await found.where('id', 'in', [...new Set(routerIds)]).execute();
	return new Map(rows.map(({ id, owner_account_id: owner }) => [id, owner]));
}

/** Returns the accounts to which an administrator gave access points. */
async function findDecidedOwners(
	queries: Queries,
	accessPoints: readonly string[]
): Promise<ReadonlyMap<string, number>> {
	const found = queries.selectFrom('access_point_owners').selectAll();
	const rows = await found.where('access_point', 'in', accessPoints).execute();
	return new Map(rows.map(({ access_point, owner_account_id: owner }) => [access_point, owner]));
}

async function decideOwner(
	queries: Queries,
	accessPoints: readonly string[],
	decision: { owner_account_id: number; decided_at: number }
): Promise<void> {
	await queries
		.insertInto('access_point_owners')
		.values(accessPoints.map((access_point) => ({ access_point, ...decision })))
		.onConflict((known) => known.column('access_point').doUpdateSet(decision))
		.execute();
}

/** Deletes its captive sessions and admissions by cascade. */
export async function deleteGateway(
	queries: Queries,
	{ id, routerId }: { id: number; routerId: number }
): Promise<void> {
	await queries.deleteFrom('gateways').where('id', '=', id).execute();
	await updateResponded(queries, routerId);
}

/** Returns null when the server does not call this gateway. */
export const findController = ({ kind, mode }: RegisteredGateway): DeviceController | null =>
	mode === 'push' ? findAdapter(kind).controller : null;

import { lockName } from '#lib/server/db/locks.ts';
import type { Base } from '#lib/server/base.ts';
import {
	type Entry,
	type EntryRequest,
	type GatewayTransport,
	type PassLogin,
	type RefusalReason,
	entryShape
} from './gateway.ts';
import {
	type Gateways,
	type RegisteredGateway,
	findAdapter,
	findClaims,
	findGatewayById,
	isBeingRemoved,
	namesDevices,
	signsInBrowser
} from './gateways.ts';
import { DAY_MS, HOUR_MS } from '#lib/domain/time.ts';
import { z } from 'zod';
import {
	CAPTIVE_SESSION_ID_PATTERN,
	type Secrets,
	captiveSessionId,
	sha256
} from '#lib/server/platform/secrets.ts';
import type { Queries } from '#lib/server/db/database.ts';
import * as gatewayStore from './gateways.ts';
import type { Insertable, Selectable, Updateable } from 'kysely';
import { first } from '#lib/server/db/queries.ts';
import type { CaptiveSessionsTable } from '#lib/server/db/schema.ts';
import { Refused, Unavailable } from '#lib/server/platform/errors.ts';
import { limitTransport } from './vendor-api.ts';

/** Calls to access/, which identifies a purchase by the SHA-256 of its token. */
interface CaptiveSessionAccess {
	/** @param isOnline the gateway reports that the device is already online */
	purchaseOpened(tokenHash: string, isOnline: boolean): Promise<void>;
	/** The gateway redirected the device, and lets it in by its MAC address alone. */
	deviceReturned(device: { gatewayId: number; mac: string }): Promise<void>;
	/** For gateways that control devices. Returns null if nothing is known. */
	stateOf(
		tokenHash: string,
		device: { gatewayId: number; mac: string | null; returnedAt: number | null }
	): Promise<DeviceState | null>;
	move(tokenHash: string): Promise<Moved>;
	/** Whether buyers may rely on this gateway alone. */
	isVerified(gateway: RegisteredGateway): Promise<boolean>;
}

/**
 * The state of a device at its gateway. `connecting`: the gateway is being called, or has sent the device to the portal
 * since it let it in. `absent`: the gateway lets it in once it is on the Wi-Fi. `delayed`: a call failed. `online`: the
 * gateway confirmed it. `no-free-slot`: other devices hold all slots of the pass.
 */
export type DeviceState = 'connecting' | 'absent' | 'delayed' | 'online' | 'no-free-slot';

/** `unchanged`: the newest device of a pass has it already, after another one. `no_device`: no other device came. */
export type Moved = 'moved' | 'unchanged' | 'no_device' | 'too_soon';

/**
 * Captive sessions: one row per redirect from a gateway. The content is unverified: only the gateway decides
 * whether a sign-in is valid.
 *
 * A random id in the URL names the row, because mini-browsers drop cookies. A purchase is bound to the
 * captive sessions that made or opened it. The address of its page names the device that reads it.
 */
export interface CaptiveSessions extends Base {
	gateways: Gateways;
	access: CaptiveSessionAccess;
	seenDevices: SeenDevices;
}

/**
 * Another gateway of the router may respond, but it cannot connect devices here.
 * @param entry the redirect of the buyer's device
 */
export async function sellsAt(
	context: CaptiveSessions,
	gateway: RegisteredGateway,
	entry: Entry | null
): Promise<boolean> {
	if (gateway.unresponsiveSince !== null || isBeingRemoved(gateway, context.clock.now())) return false;
	if (!(await context.access.isVerified(gateway))) return false;
	const { accessPoint } = entry?.login ?? {};
	const accessPoints = accessPoint === undefined ? undefined : [accessPoint];
	return (await findClaims(context.database.db, gateway, accessPoints)).length === 0;
}

/** How long a captive session lasts. The privacy page names both. */

/** Time to choose, pay and return. */
export const UNPAID_HOURS = 2;
const UNPAID_MS = UNPAID_HOURS * HOUR_MS;

/** After a purchase: covers the longest pass and the time to pay for it. */
export const PAID_DAYS = 32;
const PAID_MS = PAID_DAYS * DAY_MS;

export interface CaptiveSession {
	id: string;
	/** Names its device in addresses of pages; opens nothing. */
	device: string;
	gatewayId: number;
	entry: Entry;
}

/**
 * A captive session that is not stored: its id carries it, sealed. `bindPurchase` stores it. So a gateway's page is shown
 * to every guest, and orders, however many devices somebody invents.
 */
const SEALED_ID = /^v1\.[\w-]{40,12000}$/;
const SEALED_ID_CONTEXT = 'captive session in its address';
const sealedShape = z.object({ gatewayId: z.int(), createdAt: z.int(), entry: entryShape });

/** Whether the text can be the id of a captive session, which may have expired. */
export const isCaptiveSessionId = (id: string): boolean =>
	CAPTIVE_SESSION_ID_PATTERN.test(id) || SEALED_ID.test(id);

function seal({ clock, secrets }: CaptiveSessions, gatewayId: number, entry: Entry): CaptiveSession {
	const content = { gatewayId, createdAt: clock.now(), entry: { ...entry, originalUrl: null } };
	const id = secrets.encrypt(JSON.stringify(content), SEALED_ID_CONTEXT);
	return { id, device: computeDeviceName(sha256(id)), gatewayId, entry };
}

/** Returns null if the id carries nothing, or something that has expired. */
function unseal({ clock, secrets }: CaptiveSessions, id: string) {
	if (!SEALED_ID.test(id) || secrets.keyIndex(id, SEALED_ID_CONTEXT) < 0) return null;
	const content = sealedShape.parse(JSON.parse(secrets.decrypt(id, SEALED_ID_CONTEXT)));
	return content.createdAt + UNPAID_MS > clock.now() ? content : null;
}

/** Finds the row of a captive session, which one that its id carries gets now. */
async function findOrStore(
	context: CaptiveSessions,
	queries: Queries,
	id: string
): Promise<CaptiveSessionRow | null> {
	const { clock, secrets } = context;
	const idHash = sha256(id);
	const find = () => findRow(queries, null, idHash, clock.now());
	const row = await find();
	const unstored = row ? null : unseal(context, id);
	if (!unstored) return row;
	await insertRow(queries, buildRow(secrets, idHash, unstored));
	return find();
}

/** Part of the stored encryption: never rename. */
const sealContext = (idHash: string) => `gateway-visit:${idHash}`;

const openEntry = (secrets: Secrets, row: CaptiveSessionRow): Entry =>
	entryShape.parse(JSON.parse(secrets.decrypt(row.entry_sealed, sealContext(row.id_hash))));

/** Names its device in addresses of pages. It opens nothing, unlike the id. */
const computeDeviceName = (idHash: string): string => idHash.slice(0, 24);

const buildRow = (
	secrets: Secrets,
	id_hash: string,
	{ gatewayId, createdAt, entry }: { gatewayId: number; createdAt: number; entry: Entry }
) => ({
	id_hash,
	gateway_id: gatewayId,
	client_mac: entry.clientMac,
	client_ip: entry.clientIp,
	// Privacy: the requested page is not stored.
	entry_sealed: secrets.encrypt(JSON.stringify({ ...entry, originalUrl: null }), sealContext(id_hash)),
	created_at: createdAt,
	expires_at: createdAt + UNPAID_MS
});

/** Stores an entry under a new random id. Keeps only the hash of the id. */
async function insert(
	{ clock, secrets }: CaptiveSessions,
	queries: Queries,
	gatewayId: number,
	entry: Entry,
	binding: Partial<CaptiveSessionRow> = {}
): Promise<CaptiveSession> {
	const id = captiveSessionId();
	const id_hash = sha256(id);
	const row = buildRow(secrets, id_hash, { gatewayId, createdAt: clock.now(), entry });
	await insertRow(queries, { ...row, ...binding });
	return { id, device: computeDeviceName(id_hash), gatewayId, entry };
}

/**
 * Reads a redirect.
 * @param mayStore whether a captive session of the device may be stored; otherwise its id carries it
 */
export async function enterPortal(
	context: CaptiveSessions,
	gateway: RegisteredGateway,
	request: EntryRequest,
	mayStore: (mac: string | null) => Promise<boolean>
): Promise<CaptiveSession | { refused: RefusalReason }> {
	let entry: Entry;
	try {
		entry = findAdapter(gateway.kind).parseEntry(request, gateway);
	} catch (error) {
		if (error instanceof Refused) return { refused: error.reason as RefusalReason };
		throw error;
	}
	const { clientMac: mac } = entry;
	const captiveSession = (await mayStore(mac))
		? await insert(context, context.database.db, gateway.id, entry)
		: seal(context, gateway.id, entry);
	if (mac !== null && namesDevices(gateway) && !findAdapter(gateway.kind).provesDevice) {
		await context.access.deviceReturned({ gatewayId: gateway.id, mac });
	}
	return captiveSession;
}

/**
 * Returns when the gateway last redirected a device that it does not know any more; null if never, or if the buyer has
 * opened a purchase there.
 * @param row of a purchase
 */
async function findReturn(
	{ database, clock, secrets }: CaptiveSessions,
	gateway: RegisteredGateway,
	row: CaptiveSessionRow
): Promise<number | null> {
	if (row.client_mac === null) return null;
	const newest = await findNewestUnbound(database.db, gateway.id, row.client_mac, clock.now());
	const entry = newest && openEntry(secrets, newest);
	if (!entry || entry.state === 'online') return null;
	// The same redirect once more, from the browser's history.
	if (findAdapter(gateway.kind).provesDevice?.(entry, openEntry(secrets, row), gateway)) return null;
	return newest.created_at;
}

/** Copies a captive session, without the result of its sign-in: its device buys again. */
export async function enterPortalAgain(
	context: CaptiveSessions,
	{ gateway, entry }: { gateway: RegisteredGateway; entry: Entry },
	mayStore: (mac: string | null) => Promise<boolean>
): Promise<CaptiveSession> {
	const again: Entry = { ...entry, state: 'new', problem: null };
	if (!(await mayStore(entry.clientMac))) return seal(context, gateway.id, again);
	return insert(context, context.database.db, gateway.id, again);
}

/** @param gateway null for any */
export async function openCaptiveSession(
	context: CaptiveSessions,
	gateway: RegisteredGateway | null,
	id: string
): Promise<CaptiveSession | null> {
	const { database, clock, secrets } = context;
	if (!isCaptiveSessionId(id)) return null;
	const row = await findRow(database.db, gateway?.id ?? null, sha256(id), clock.now());
	const unstored = row ? null : unseal(context, id);
	if (unstored && (gateway === null || gateway.id === unstored.gatewayId)) {
		const { gatewayId, entry } = unstored;
		return { id, device: computeDeviceName(sha256(id)), gatewayId, entry };
	}
	if (!row) return null;
	const { id_hash, gateway_id: gatewayId } = row;
	return { id, device: computeDeviceName(id_hash), gatewayId, entry: openEntry(secrets, row) };
}

/** Returns an empty record if the captive session has expired. */
export async function findLogin(
	{ database, secrets }: CaptiveSessions,
	rowId: number
): Promise<Entry['login']> {
	const row = await findRowById(database.db, rowId);
	return row ? openEntry(secrets, row).login : {};
}

interface Bound {
	device: string | null;
	/** The captive session is at another router. */
	isElsewhere: boolean;
}

const UNKNOWN: Bound = { device: null, isElsewhere: false };

/**
 * @param routerId of the purchase, if it was found by its code
 * @returns what names the device on the page of the purchase; null if nothing was bound
 */
export async function bindPurchase(
	context: CaptiveSessions,
	id: string,
	purchaseToken: string,
	routerId?: number
): Promise<Bound> {
	if (!isCaptiveSessionId(id)) return UNKNOWN;
	const { database, clock, secrets, access } = context;
	const now = clock.now();
	const tokenHash = sha256(purchaseToken);
	const binding = { purchase_token_hash: tokenHash, bound_at: now, expires_at: now + PAID_MS };
	const bound = await database.transact(async (trx) => {
		await lockName(trx, `captive session ${id}`);
		const row = await findOrStore(context, trx, id);
		if (!row) return UNKNOWN;
		if (routerId !== undefined) {
			const gateway = await gatewayStore.findGatewayRow(trx, 'id', row.gateway_id);
			if (gateway?.router_id !== routerId) return { device: null, isElsewhere: true };
		}
		const entry = openEntry(secrets, row);
		const hasOther = row.purchase_token_hash !== null && row.purchase_token_hash !== tokenHash;
		// The other purchase keeps its captive session; this one gets a copy.
		if (hasOther) {
			const copy = await insert(context, trx, row.gateway_id, entry, binding);
			return { device: computeDeviceName(sha256(copy.id)), entry };
		}
		await updateRow(trx, row.id, binding);
		return { device: computeDeviceName(row.id_hash), entry };
	});
	if (!('entry' in bound)) return bound;
	// After the commit: a payment that settles meanwhile has seen the device, or this sees its pass.
	await access.purchaseOpened(tokenHash, bound.entry.state === 'online');
	return { device: bound.device, isElsewhere: false };
}

export async function moveToPurchase(
	{ database, access }: CaptiveSessions,
	fromToken: string,
	toToken: string
): Promise<void> {
	await database.transact((trx) => moveRowsToPurchase(trx, sha256(fromToken), sha256(toToken)));
	await access.purchaseOpened(sha256(toToken), false);
}

/**
 * Returns the SHA-256 of the token of a device's last purchase at a gateway; null if there is none, or if neither the
 * redirect nor the gateway proves the device, because anyone can write a MAC address.
 */
export async function findEarlierPurchase(
	{ database, clock, secrets, seenDevices }: CaptiveSessions,
	gateway: RegisteredGateway,
	entry: Entry
): Promise<string | null> {
	if (entry.clientMac === null) return null;
	const newest = await findNewestPurchase(database.db, gateway.id, entry.clientMac, clock.now());
	if (!newest) return null;
	const { provesDevice } = findAdapter(gateway.kind);
	const isProved = provesDevice
		? provesDevice(entry, openEntry(secrets, newest), gateway)
		: await seenDevices.sees(gateway, entry);
	return isProved ? newest.purchase_token_hash : null;
}

/**
 * Finds the purchase of the device that is online at an IP address. Works only without NAT between the
 * hotspot and this installation, because NAT hides the devices' addresses.
 * @param clientIp in its one spelling; null if it is not known
 * @returns SHA-256 of the token; null if the device is unknown, or was redirected again after its sign-in
 */
export async function findPurchaseOnline(
	context: CaptiveSessions,
	gateway: RegisteredGateway,
	clientIp: string | null
): Promise<string | null> {
	const { clock, secrets, access, database } = context;
	if (clientIp === null) return null;
	const now = clock.now();
	const newest = await findNewestFromIp(database.db, gateway.id, clientIp, now);
	if (!newest) return null;
	const paid =
		newest.purchase_token_hash === null && newest.client_mac !== null
			? await findNewestPurchase(database.db, gateway.id, newest.client_mac, now)
			: newest;
	// DHCP may have given the address to another device.
	if (!paid || paid.client_ip !== clientIp || paid.purchase_token_hash === null) return null;
	const isSignedIn =
		(paid.tried_at !== null && newest.created_at <= paid.tried_at) ||
		openEntry(secrets, newest).state === 'online';
	if (isSignedIn) return paid.purchase_token_hash;
	if (signsInBrowser(gateway)) return null;
	// Another system connects the device and does not report it.
	if (gateway.mode === 'external') return paid.purchase_token_hash;
	const state = await access.stateOf(paid.purchase_token_hash, {
		gatewayId: gateway.id,
		mac: paid.client_mac,
		returnedAt: await findReturn(context, gateway, paid)
	});
	return state === 'online' ? paid.purchase_token_hash : null;
}

/** A page of a purchase, as a browser reads it. */
interface PurchaseReader {
	token: string;
	/** Gateways of other routers never see the purchase's password. */
	routerId: number;
	/** Names the device that reads the page. null: the only one, if there is one; an unknown name: none. */
	device: string | null;
}

export interface PurchaseDevice {
	/** Its newest captive session of the purchase. */
	captiveSessionId: number;
	/** The page can act for it: its address names the device, or no other device has opened the purchase. */
	isReader: boolean;
	gateway: RegisteredGateway;
	entry: Entry;
	/** `navigate`: the browser signs in. `waits`: the gateway connects the device without it. */
	how: 'navigate' | 'waits';
	/** The browser was sent to the gateway in this captive session, or recently in another one of the device. */
	tried: 'here' | 'elsewhere' | null;
	/** It opened the purchase, or was sent to the gateway, in the last ten minutes. */
	isRecent: boolean;
	/** Opened more than UNPAID_HOURS ago, so the gateway may have forgotten the device. */
	isOld: boolean;
	/** null at gateways that do not control devices. */
	deviceState: DeviceState | null;
}

/** Separates automatic sign-ins of a device, so that gateway and portal do not redirect in a circle. */
const SIGN_IN_PAUSE_MS = 10 * 60 * 1000;
const MAX_CAPTIVE_SESSIONS = 50;

/**
 * Returns the device that the page speaks for; null if no device opened the purchase behind a gateway of its router.
 * If the address names none, it is the newest device with a slot, or else the newest one.
 */
export async function findPurchaseDevice(
	context: CaptiveSessions,
	purchase: PurchaseReader
): Promise<PurchaseDevice | null> {
	const { database, clock } = context;
	const { token, routerId } = purchase;
	const ofPurchase = { tokenHash: sha256(token), routerId };
	const rows = await listRowsOfPurchase(database.db, ofPurchase, clock.now(), MAX_CAPTIVE_SESSIONS);
	// The rows begin with the newest, so the first one of a device is its newest.
	const devices = rows.filter((row, at) => rows.findIndex((one) => isSameDevice(one, row)) === at);
	const named = rows.find(({ id_hash }) => computeDeviceName(id_hash) === purchase.device);
	const isOnly = purchase.device === null && devices.length === 1;
	const reader = named ? devices.find((row) => isSameDevice(row, named)) : isOnly && devices[0];
	if (reader) return describeDevice(context, purchase, rows, reader, true);
	let newest: PurchaseDevice | null = null;
	for (const row of devices) {
		const device = await describeDevice(context, purchase, rows, row, false);
		if (device && device.deviceState !== 'no-free-slot') return device;
		newest ??= device;
	}
	return newest;
}

const isSameDevice = (one: CaptiveSessionRow, other: CaptiveSessionRow): boolean =>
	one.client_mac === null ? one.id === other.id : one.client_mac === other.client_mac;

async function describeDevice(
	context: CaptiveSessions,
	{ token }: PurchaseReader,
	rows: readonly CaptiveSessionRow[],
	row: CaptiveSessionRow,
	isReader: boolean
): Promise<PurchaseDevice | null> {
	const gateway = await findGatewayById(context.gateways, row.gateway_id);
	if (!gateway) return null;
	const now = context.clock.now();
	const since = now - SIGN_IN_PAUSE_MS;
	const openedAt = Math.max(row.tried_at ?? 0, row.bound_at ?? 0);
	const ofDevice = rows.filter(({ client_mac: mac }) => mac === row.client_mac);
	const isTried = ofDevice.some(({ tried_at: triedAt }) => triedAt !== null && triedAt > since);
	return {
		captiveSessionId: row.id,
		isReader,
		gateway,
		entry: openEntry(context.secrets, row),
		how: signsInBrowser(gateway) ? 'navigate' : 'waits',
		tried: row.tried_at !== null ? 'here' : isTried ? 'elsewhere' : null,
		isRecent: openedAt > since,
		isOld: openedAt <= now - UNPAID_MS,
		deviceState: await context.access.stateOf(sha256(token), {
			gatewayId: gateway.id,
			mac: row.client_mac,
			returnedAt: await findReturn(context, gateway, row)
		})
	};
}

/** Returns the URL with which the browser signs in at the gateway, and marks it as tried; null if there is none. */
export async function startSignIn(
	{ database, clock }: CaptiveSessions,
	{ captiveSessionId, gateway, entry, how }: PurchaseDevice,
	login: PassLogin
): Promise<string | null> {
	if (how === 'waits') return null;
	// Also if there is no address: the page would try again and again.
	await updateRow(database.db, captiveSessionId, { tried_at: clock.now() });
	try {
		return findAdapter(gateway.kind).signInUrl?.(entry, login, gateway) ?? null;
	} catch (error) {
		if (error instanceof Refused) return null;
		throw error;
	}
}

/**
 * Moves the slots to the device that reads the page; a page that names none moves them to the device that opened the
 * purchase last. Returns false if none moved.
 */
export async function giveSlotsToReader(
	context: CaptiveSessions,
	purchase: PurchaseReader
): Promise<boolean> {
	const { database, clock, access } = context;
	const device = await findPurchaseDevice(context, purchase);
	// `move` gives the slots to the device with the newest `bound_at`.
	if (device?.isReader) await updateRow(database.db, device.captiveSessionId, { bound_at: clock.now() });
	return (await access.move(sha256(purchase.token))) === 'moved';
}

/** A device waits for its splash page. Without an answer in time, the page is as for any device. */
const TIMEOUT_MS = 1_000;
/** After a late or failed answer, so that the next pages do not wait, too. */
const PAUSE_MS = 30_000;
/** Calls at a time to one gateway, which should have time for those that let buyers in. */
const MAX_CALLS = 2;

type SeenDevices = ReturnType<typeof createSeenDevices>;

/**
 * Asks gateways whether the device of a redirect is on their network now. A redirect alone proves nothing, because anyone
 * can write a MAC address. But who gets this answer knows the MAC and IP address of a device that is there, and sees its
 * traffic anyway.
 */
export function createSeenDevices({ log }: Pick<Base, 'log'>, transport: GatewayTransport) {
	const calls = new Map<number, number>();
	const pausedUntil = new Map<number, number>();

	async function ask(gateway: RegisteredGateway, entry: Entry, limit: AbortSignal): Promise<boolean> {
		const { controller } = findAdapter(gateway.kind);
		if (!controller?.sees || entry.clientMac === null) return false;
		const device = { mac: entry.clientMac, ip: entry.clientIp };
		return controller.sees(device, gateway, limitTransport(transport, limit));
	}

	return {
		/** Returns false if the gateway cannot be asked, does not answer in time, or does not know the device. */
		async sees(gateway: RegisteredGateway, entry: Entry): Promise<boolean> {
			const { id, mode, unreadable, unresponsiveSince } = gateway;
			const running = calls.get(id) ?? 0;
			const isPaused = (pausedUntil.get(id) ?? 0) > performance.now();
			if (mode !== 'push' || unreadable.length > 0 || unresponsiveSince !== null) return false;
			if (isPaused || running >= MAX_CALLS) return false;
			const limit = AbortSignal.timeout(TIMEOUT_MS);
			const pause = () => void pausedUntil.set(id, performance.now() + PAUSE_MS);
			let isAnswered = false;
			const late = new Promise<false>((resolve) => {
				limit.addEventListener('abort', () => {
					if (!isAnswered) pause();
					resolve(false);
				});
			});
			calls.set(id, running + 1);
			const answer = ask(gateway, entry, limit)
				.catch((error: unknown) => {
					if (!(error instanceof Unavailable) && !limit.aborted) {
						log.error({ err: error, gateway: gateway.name }, 'gateway adapter failed');
					}
					pause();
					return false;
				})
				.finally(() => {
					isAnswered = true;
					calls.set(id, (calls.get(id) ?? 1) - 1);
				});
			return Promise.race([answer, late]);
		}
	};
}

type CaptiveSessionRow = Selectable<CaptiveSessionsTable>;

const insertRow = (queries: Queries, values: Insertable<CaptiveSessionsTable>) =>
	queries.insertInto('captive_sessions').values(values).execute();

const selectCurrent = (queries: Queries, now: number) =>
	queries.selectFrom('captive_sessions').selectAll().where('expires_at', '>', now);

/** @param gatewayId null for any gateway */
function findRow(queries: Queries, gatewayId: number | null, idHash: string, now: number) {
	const found = selectCurrent(queries, now).where('id_hash', '=', idHash);
	return first(gatewayId === null ? found : found.where('gateway_id', '=', gatewayId));
}

const findRowById = (queries: Queries, id: number) =>
	first(queries.selectFrom('captive_sessions').selectAll().where('id', '=', id));

const listRowsOfPurchase = (
	queries: Queries,
	{ tokenHash, routerId }: { tokenHash: string; routerId: number },
	now: number,
	limit: number
) =>
	selectCurrent(queries, now)
		.where('purchase_token_hash', '=', tokenHash)
		.where('gateway_id', 'in', (gateways) =>
			gateways.selectFrom('gateways').select('id').where('router_id', '=', routerId)
		)
		.orderBy('bound_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();

const selectDevice = (queries: Queries, gatewayId: number, clientMac: string, now: number) =>
	selectCurrent(queries, now).where('gateway_id', '=', gatewayId).where('client_mac', '=', clientMac);

const findNewestPurchase = (...device: Parameters<typeof selectDevice>) =>
	first(
		selectDevice(...device)
			.where('purchase_token_hash', 'is not', null)
			.orderBy('bound_at', 'desc')
			.orderBy('id', 'desc')
	);

/** A redirect of a device on which no purchase was made or opened since. */
const findNewestUnbound = (...device: Parameters<typeof selectDevice>) =>
	first(
		selectDevice(...device)
			.where('purchase_token_hash', 'is', null)
			.orderBy('id', 'desc')
	);

const findNewestFromIp = (queries: Queries, gatewayId: number, clientIp: string, now: number) =>
	first(
		selectCurrent(queries, now)
			.where('gateway_id', '=', gatewayId)
			.where('client_ip', '=', clientIp)
			.orderBy('id', 'desc')
	);

const updateRow = (queries: Queries, id: number, change: Updateable<CaptiveSessionsTable>) =>
	queries.updateTable('captive_sessions').set(change).where('id', '=', id).execute();

const moveRowsToPurchase = (queries: Queries, fromTokenHash: string, toTokenHash: string) =>
	queries
		.updateTable('captive_sessions')
		.set({ purchase_token_hash: toTokenHash })
		.where('purchase_token_hash', '=', fromTokenHash)
		.execute();

import { z } from 'zod';
import { captiveSessionId, CAPTIVE_SESSION_ID_PATTERN } from '#lib/server/platform/ids.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { EntryRefused, entryShape, type Entry, type EntryRequest, type RefusalReason } from '../gateway.ts';
import { namesDevices, type RegisteredGateway } from '../gateway-record.ts';
import { adapterOf } from '../registry.ts';
import type { Queries } from '#lib/server/db/database.ts';
import type { CaptiveSessionsContext } from './captive-sessions.ts';
import { UNPAID_MS } from './lifetime.ts';
import * as store from './store.ts';

export interface CaptiveSession {
	id: string;
	/** Names its device in addresses of pages; opens nothing. */
	device: string;
	entry: Entry;
}

/**
 * A captive session that is not stored: its id carries it, sealed. `bindPurchase` stores it. So a gateway's page is shown
 * to every guest, and orders, however many devices somebody invents.
 */
const SEALED_ID = /^v1\.[\w-]{40,12000}$/;
const SEALED_ID_CONTEXT = 'captive session in its address';
const sealedShape = z.object({ gatewayId: z.int(), createdAt: z.int(), entry: entryShape });

export const isCaptiveSessionId = (id: string): boolean =>
	CAPTIVE_SESSION_ID_PATTERN.test(id) || SEALED_ID.test(id);

function seal({ clock, secrets }: CaptiveSessionsContext, gatewayId: number, entry: Entry): CaptiveSession {
	const content = { gatewayId, createdAt: clock.now(), entry: { ...entry, originalUrl: null } };
	const id = secrets.encrypt(JSON.stringify(content), SEALED_ID_CONTEXT);
	return { id, device: deviceName(sha256(id)), entry };
}

/** Returns null if the id carries nothing, or something that has expired. */
function unseal({ clock, secrets }: CaptiveSessionsContext, id: string) {
	if (!SEALED_ID.test(id) || secrets.keyIndex(id, SEALED_ID_CONTEXT) < 0) return null;
	const content = sealedShape.parse(JSON.parse(secrets.decrypt(id, SEALED_ID_CONTEXT)));
	return content.createdAt + UNPAID_MS > clock.now() ? content : null;
}

/** Finds the row of a captive session, which one that its id carries gets now. */
export async function findOrStore(
	context: CaptiveSessionsContext,
	queries: Queries,
	id: string
): Promise<store.CaptiveSessionRow | null> {
	const { clock, secrets } = context;
	const idHash = sha256(id);
	const find = () => store.find(queries, null, idHash, clock.now());
	const row = await find();
	const unstored = row ? null : unseal(context, id);
	if (!unstored) return row;
	await store.insert(queries, rowOf(secrets, idHash, unstored));
	return find();
}

/** Part of the stored encryption: never rename. */
const sealContext = (idHash: string) => `gateway-visit:${idHash}`;

export const entryOf = (secrets: Secrets, row: store.CaptiveSessionRow): Entry =>
	entryShape.parse(JSON.parse(secrets.decrypt(row.entry_sealed, sealContext(row.id_hash))));

/** Names its device in addresses of pages. It opens nothing, unlike the id. */
export const deviceName = (idHash: string): string => idHash.slice(0, 24);

const rowOf = (
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
export async function insert(
	{ clock, secrets }: CaptiveSessionsContext,
	queries: Queries,
	gatewayId: number,
	entry: Entry,
	binding: Partial<store.CaptiveSessionRow> = {}
): Promise<CaptiveSession> {
	const id = captiveSessionId();
	const id_hash = sha256(id);
	const row = rowOf(secrets, id_hash, { gatewayId, createdAt: clock.now(), entry });
	await store.insert(queries, { ...row, ...binding });
	return { id, device: deviceName(id_hash), entry };
}

/**
 * Reads a redirect.
 * @param mayStore whether a captive session of the device may be stored; otherwise its id carries it
 */
export async function enter(
	context: CaptiveSessionsContext,
	gateway: RegisteredGateway,
	request: EntryRequest,
	mayStore: (mac: string | null) => Promise<boolean>
): Promise<CaptiveSession | { refused: RefusalReason }> {
	let entry: Entry;
	try {
		entry = adapterOf(gateway.kind).parseEntry(request, gateway);
	} catch (error) {
		if (error instanceof EntryRefused) return { refused: error.reason };
		throw error;
	}
	const { clientMac: mac } = entry;
	const captiveSession = (await mayStore(mac))
		? await insert(context, context.database.db, gateway.id, entry)
		: seal(context, gateway.id, entry);
	if (mac !== null && namesDevices(gateway) && !adapterOf(gateway.kind).provesDevice) {
		await context.access.deviceReturned({ gatewayId: gateway.id, mac });
	}
	return captiveSession;
}

/**
 * Returns when the gateway last redirected a device that it does not know any more; null if never, or if the buyer has
 * opened a purchase there.
 * @param row of a purchase
 */
export async function returnedAt(
	{ database, clock, secrets }: CaptiveSessionsContext,
	gateway: RegisteredGateway,
	row: store.CaptiveSessionRow
): Promise<number | null> {
	if (row.client_mac === null) return null;
	const newest = await store.newestUnboundOf(database.db, gateway.id, row.client_mac, clock.now());
	const entry = newest && entryOf(secrets, newest);
	if (!entry || entry.state === 'online') return null;
	// The same redirect once more, from the browser's history.
	if (adapterOf(gateway.kind).provesDevice?.(entry, entryOf(secrets, row), gateway)) return null;
	return newest.created_at;
}

/** Copies a captive session, without the result of its sign-in: its device buys again. */
export async function enterAgain(
	context: CaptiveSessionsContext,
	{ gateway, entry }: { gateway: RegisteredGateway; entry: Entry },
	mayStore: (mac: string | null) => Promise<boolean>
): Promise<CaptiveSession> {
	const again: Entry = { ...entry, state: 'new', problem: null };
	if (!(await mayStore(entry.clientMac))) return seal(context, gateway.id, again);
	return insert(context, context.database.db, gateway.id, again);
}

/** @param gateway null for any */
export async function findCaptiveSession(
	context: CaptiveSessionsContext,
	gateway: RegisteredGateway | null,
	id: string
): Promise<CaptiveSession | null> {
	const { database, clock, secrets } = context;
	if (!isCaptiveSessionId(id)) return null;
	const row = await store.find(database.db, gateway?.id ?? null, sha256(id), clock.now());
	const unstored = row ? null : unseal(context, id);
	if (unstored && (gateway === null || gateway.id === unstored.gatewayId)) {
		return { id, device: deviceName(sha256(id)), entry: unstored.entry };
	}
	return row && { id, device: deviceName(row.id_hash), entry: entryOf(secrets, row) };
}

/** Returns an empty record if the captive session has expired. */
export async function loginOf(
	{ database, secrets }: CaptiveSessionsContext,
	rowId: number
): Promise<Entry['login']> {
	const row = await store.findRow(database.db, rowId);
	return row ? entryOf(secrets, row).login : {};
}

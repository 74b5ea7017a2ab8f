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
	entry: Entry;
}

/** Part of the stored encryption: never rename. */
const sealContext = (idHash: string) => `gateway-visit:${idHash}`;

export const entryOf = (secrets: Secrets, row: store.CaptiveSessionRow): Entry =>
	entryShape.parse(JSON.parse(secrets.decrypt(row.entry_sealed, sealContext(row.id_hash))));

/** Names its device in addresses of pages. It opens nothing, unlike the id. */
export const deviceName = (idHash: string): string => idHash.slice(0, 24);

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
	const now = clock.now();
	await store.insert(queries, {
		id_hash,
		gateway_id: gatewayId,
		client_mac: entry.clientMac,
		client_ip: entry.clientIp,
		// Privacy: the requested page is not stored.
		entry_sealed: secrets.encrypt(JSON.stringify({ ...entry, originalUrl: null }), sealContext(id_hash)),
		created_at: now,
		expires_at: now + UNPAID_MS,
		...binding
	});
	return { id, entry };
}

export async function enter(
	context: CaptiveSessionsContext,
	gateway: RegisteredGateway,
	request: EntryRequest
): Promise<CaptiveSession | { refused: RefusalReason }> {
	let entry: Entry;
	try {
		entry = adapterOf(gateway.kind).parseEntry(request, gateway);
	} catch (error) {
		if (error instanceof EntryRefused) return { refused: error.reason };
		throw error;
	}
	const captiveSession = await insert(context, context.database.db, gateway.id, entry);
	const { clientMac: mac } = entry;
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
export const enterAgain = (
	context: CaptiveSessionsContext,
	{ gateway, entry }: { gateway: RegisteredGateway; entry: Entry }
): Promise<CaptiveSession> =>
	insert(context, context.database.db, gateway.id, { ...entry, state: 'new', problem: null });

/** @param gateway null for any */
export async function findCaptiveSession(
	{ database, clock, secrets }: CaptiveSessionsContext,
	gateway: RegisteredGateway | null,
	id: string
): Promise<CaptiveSession | null> {
	if (!CAPTIVE_SESSION_ID_PATTERN.test(id)) return null;
	const row = await store.find(database.db, gateway?.id ?? null, sha256(id), clock.now());
	return row && { id, entry: entryOf(secrets, row) };
}

/** Returns an empty record if the captive session has expired. */
export async function loginOf(
	{ database, secrets }: CaptiveSessionsContext,
	rowId: number
): Promise<Entry['login']> {
	const row = await store.findRow(database.db, rowId);
	return row ? entryOf(secrets, row).login : {};
}

import { sealedTable } from '#lib/server/db/sealed/sealed-table.ts';
import { captiveSessionId, CAPTIVE_SESSION_ID_PATTERN } from '#lib/server/platform/ids.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { EntryRefused, entryShape, type Entry, type EntryRequest, type RefusalReason } from '../gateway.ts';
import type { RegisteredGateway } from '../gateways.ts';
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

export const SEALED_ENTRIES = sealedTable<store.CaptiveSessionRow>('captive_sessions', ['id'], {
	entry_sealed: ({ id_hash }) => sealContext(id_hash)
});

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
	return insert(context, context.database.db, gateway.id, entry);
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

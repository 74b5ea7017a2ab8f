import type { DeviceState } from '#lib/server/access/device-slots/device-state.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { EntryRefused, type Entry, type PassLogin } from '../gateway.ts';
import { openGateway, signsInBrowser, type RegisteredGateway } from '../gateway-record.ts';
import { adapterOf } from '../registry.ts';
import * as gatewayStore from '../store.ts';
import type { CaptiveSessionsContext } from './captive-sessions.ts';
import { UNPAID_MS } from './lifetime.ts';
import { entryOf } from './record.ts';
import * as store from './store.ts';

export interface PurchaseAt {
	token: string;
	/** Gateways of other routers never see the purchase's password. */
	routerId: number;
}

interface Viewed extends PurchaseAt {
	/** The browser came back from a sign-in at its gateway. */
	isBack: boolean;
}

export interface PurchaseDevice {
	gateway: RegisteredGateway;
	entry: Entry;
	/** `navigate`: the browser signs in. `waits`: the gateway connects the device without it. */
	how: 'navigate' | 'waits';
	/** The browser was sent to the gateway in this captive session, or recently in another one of the device. */
	tried: 'here' | 'elsewhere' | null;
	/** It opened the purchase, or was sent to the gateway, in the last ten minutes. */
	isRecent: boolean;
	/** Opened before the time to pay, so the gateway may have forgotten the device. */
	isOld: boolean;
	/** null at gateways that do not control devices. */
	deviceState: DeviceState | null;
}

/** Separates automatic sign-ins of a device, so that gateway and portal do not redirect in a circle. */
const RETRY_MS = 10 * 60 * 1000;
const MAX_SESSIONS = 10;

/**
 * Returns the newest device; null if no device opened the purchase behind a gateway of its router. A browser that has
 * signed in keeps its device while the newest one has no slot or has not tried.
 */
export async function purchaseDevice(
	context: CaptiveSessionsContext,
	{ isBack, ...purchase }: Viewed
): Promise<PurchaseDevice | null> {
	const rows = await sessionsOf(context, purchase);
	const newest = await deviceOf(context, purchase, rows, rows[0]);
	// This browser has tried, so a device that has not is another one.
	const isOther = newest?.deviceState === 'no-free-slot' || newest?.tried === null;
	if (!isBack || !isOther) return newest;
	const signedIn = rows.find((row) => row.tried_at !== null && row.client_mac !== rows[0]?.client_mac);
	const own = await deviceOf(context, purchase, rows, signedIn);
	return own === null || own.deviceState === 'no-free-slot' ? newest : own;
}

async function deviceOf(
	context: CaptiveSessionsContext,
	{ token }: PurchaseAt,
	rows: readonly store.CaptiveSessionRow[],
	row: store.CaptiveSessionRow | undefined
): Promise<PurchaseDevice | null> {
	const gateway = row && (await gatewayOf(context, row));
	if (!gateway) return null;
	const now = context.clock.now();
	const since = now - RETRY_MS;
	const openedAt = Math.max(row.tried_at ?? 0, row.bound_at ?? 0);
	const ofDevice = rows.filter(({ client_mac: mac }) => mac === row.client_mac);
	const isTried = ofDevice.some(({ tried_at: triedAt }) => triedAt !== null && triedAt > since);
	return {
		gateway,
		entry: entryOf(context.secrets, row),
		how: signsInBrowser(gateway) ? 'navigate' : 'waits',
		tried: row.tried_at !== null ? 'here' : isTried ? 'elsewhere' : null,
		isRecent: openedAt > since,
		isOld: openedAt <= now - UNPAID_MS,
		deviceState: await context.access.stateOf(sha256(token), { gatewayId: gateway.id, mac: row.client_mac })
	};
}

/** Returns the URL with which the browser signs in at the gateway, and marks it as tried; null if there is none. */
export async function signInUrl(
	context: CaptiveSessionsContext,
	purchase: PurchaseAt,
	login: PassLogin
): Promise<string | null> {
	const [newest] = await sessionsOf(context, purchase);
	const gateway = newest && (await gatewayOf(context, newest));
	if (!gateway || !signsInBrowser(gateway)) return null;
	// Also if there is no address: the page would try again and again.
	await store.update(context.database.db, newest.id, { tried_at: context.clock.now() });
	try {
		return adapterOf(gateway.kind).signInUrl?.(entryOf(context.secrets, newest), login, gateway) ?? null;
	} catch (error) {
		if (error instanceof EntryRefused) return null;
		throw error;
	}
}

const sessionsOf = (
	{ database: { db }, clock }: CaptiveSessionsContext,
	{ token, routerId }: PurchaseAt
): Promise<store.CaptiveSessionRow[]> =>
	store.ofPurchase(db, { tokenHash: sha256(token), routerId }, clock.now(), MAX_SESSIONS);

async function gatewayOf(
	{ database: { db }, secrets }: CaptiveSessionsContext,
	{ gateway_id: id }: store.CaptiveSessionRow
): Promise<RegisteredGateway | null> {
	const row = await gatewayStore.findGateway(db, 'id', id);
	return row && openGateway(row, secrets);
}

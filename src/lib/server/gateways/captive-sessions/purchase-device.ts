import type { DeviceState } from '#lib/server/access/device-slots/device-state.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { EntryRefused, type Entry, type PassLogin } from '../gateway.ts';
import { openGateway, signsInBrowser, type RegisteredGateway } from '../gateway-record.ts';
import { adapterOf } from '../registry.ts';
import * as gatewayStore from '../store.ts';
import type { CaptiveSessionsContext } from './captive-sessions.ts';
import { entryOf } from './record.ts';
import * as store from './store.ts';

export interface PurchaseAt {
	token: string;
	/** Gateways of other routers never see the purchase's password. */
	routerId: number;
}

export interface PurchaseDevice {
	gateway: RegisteredGateway;
	entry: Entry;
	/** `navigate`: the browser signs in. `waits`: the gateway connects the device without it. */
	how: 'navigate' | 'waits';
	/** The browser was sent to the gateway in this captive session, or recently in another one. */
	tried: 'here' | 'elsewhere' | null;
	/** It opened the purchase, or was sent to the gateway, in the last ten minutes. */
	isRecent: boolean;
	/** null at gateways that do not control devices. */
	deviceState: DeviceState | null;
}

/** Separates automatic sign-ins of a purchase, so that gateway and portal do not redirect in a circle. */
const RETRY_MS = 10 * 60 * 1000;
const MAX_SESSIONS = 10;

/** Returns the newest device; null if no device opened the purchase behind a gateway of its router. */
export async function purchaseDevice(
	context: CaptiveSessionsContext,
	purchase: PurchaseAt
): Promise<PurchaseDevice | null> {
	const found = await newestOf(context, purchase);
	if (!found) return null;
	const { newest, gateway, triedAt } = found;
	const since = context.clock.now() - RETRY_MS;
	const recently = triedAt > since ? 'elsewhere' : null;
	return {
		gateway,
		entry: entryOf(context.secrets, newest),
		how: signsInBrowser(gateway) ? 'navigate' : 'waits',
		tried: newest.tried_at === null ? recently : 'here',
		isRecent: Math.max(newest.tried_at ?? 0, newest.bound_at ?? 0) > since,
		deviceState: await context.access.stateOf(sha256(purchase.token), {
			gatewayId: gateway.id,
			mac: newest.client_mac
		})
	};
}

/** Returns the URL with which the browser signs in at the gateway, and marks it as tried; null if there is none. */
export async function signInUrl(
	context: CaptiveSessionsContext,
	purchase: PurchaseAt,
	login: PassLogin
): Promise<string | null> {
	const found = await newestOf(context, purchase);
	if (!found || !signsInBrowser(found.gateway)) return null;
	const { newest, gateway } = found;
	// Also if there is no address: the page would try again and again.
	await store.update(context.database.db, newest.id, { tried_at: context.clock.now() });
	try {
		return adapterOf(gateway.kind).signInUrl?.(entryOf(context.secrets, newest), login, gateway) ?? null;
	} catch (error) {
		if (error instanceof EntryRefused) return null;
		throw error;
	}
}

async function newestOf(
	{ database: { db }, clock, secrets }: CaptiveSessionsContext,
	{ token, routerId }: PurchaseAt
) {
	const purchase = { tokenHash: sha256(token), routerId };
	const rows = await store.ofPurchase(db, purchase, clock.now(), MAX_SESSIONS);
	const [newest] = rows;
	const row = newest && (await gatewayStore.findGateway(db, 'id', newest.gateway_id));
	if (!newest || !row) return null;
	const tries = rows.flatMap(({ tried_at }) => tried_at ?? []);
	return { newest, gateway: openGateway(row, secrets), triedAt: Math.max(-Infinity, ...tries) };
}

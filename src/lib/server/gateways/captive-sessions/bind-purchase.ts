import { sha256 } from '#lib/server/platform/secrets.ts';
import type { CaptiveSessionsContext } from './captive-sessions.ts';
import * as gatewayStore from '../store.ts';
import { PAID_MS } from './lifetime.ts';
import { deviceName, entryOf, findOrStore, insert, isCaptiveSessionId } from './record.ts';
import * as store from './store.ts';

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
	context: CaptiveSessionsContext,
	id: string,
	purchaseToken: string,
	routerId?: number
): Promise<Bound> {
	if (!isCaptiveSessionId(id)) return UNKNOWN;
	const { database, clock, secrets, access } = context;
	const now = clock.now();
	const tokenHash = sha256(purchaseToken);
	const binding = { purchase_token_hash: tokenHash, bound_at: now, expires_at: now + PAID_MS };
	// In a serializable transaction: a payment that settles meanwhile must see the device, or `purchaseOpened` must see its pass.
	const bound = await database.transact(async (trx) => {
		const row = await findOrStore(context, trx, id);
		if (!row) return UNKNOWN;
		if (routerId !== undefined) {
			const gateway = await gatewayStore.findGateway(trx, 'id', row.gateway_id);
			if (gateway?.router_id !== routerId) return { device: null, isElsewhere: true };
		}
		const entry = entryOf(secrets, row);
		const hasOther = row.purchase_token_hash !== null && row.purchase_token_hash !== tokenHash;
		// The other purchase keeps its captive session; this one gets a copy.
		if (hasOther) {
			const copy = await insert(context, trx, row.gateway_id, entry, binding);
			return { device: deviceName(sha256(copy.id)), entry };
		}
		await store.update(trx, row.id, binding);
		return { device: deviceName(row.id_hash), entry };
	});
	if (!('entry' in bound)) return bound;
	await access.purchaseOpened(tokenHash, bound.entry.state === 'online');
	return { device: bound.device, isElsewhere: false };
}

export async function moveToPurchase(
	{ database, access }: CaptiveSessionsContext,
	fromToken: string,
	toToken: string
): Promise<void> {
	await database.transact((trx) => store.moveToPurchase(trx, sha256(fromToken), sha256(toToken)));
	await access.purchaseOpened(sha256(toToken), false);
}

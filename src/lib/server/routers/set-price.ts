import { toMajor, toMinor } from '#lib/domain/money.ts';
import { withoutHidden } from '#lib/domain/plain-text.ts';
import type { RouterBody } from '../contract/router.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { accountActor } from '../audit/audit.ts';
import type { Tx } from '../db/database.ts';
import { validationFailed } from '../platform/errors.ts';
import type { RoutersContext } from './context.ts';
import { changeableRouter } from './read-routers.ts';
import { singleBody } from './router-body.ts';
import * as store from './store.ts';

/** `keyId` is null for a price that is set on a page. `personId` is the account of its author, if it is another one. */
export type PriceSetter = Pick<Caller, 'accountId' | 'role'> & {
	keyId: number | null;
	personId?: number;
	/** Why an administrator changes a router of another account. */
	reason?: string | undefined;
};

/** Records what an administrator changes at a router of another account. Its owner sees it. */
export async function recordForOwner(
	{ audit }: Pick<RoutersContext, 'audit'>,
	trx: Tx,
	{ accountId, reason = '' }: PriceSetter,
	{ router, action, before, after }: { router: store.RouterRow; action: string } & Changed
): Promise<void> {
	if (router.owner_account_id === accountId) return;
	await audit.record(trx, {
		...{ actor: accountActor(accountId), action, reason: withoutHidden(reason) },
		before: { router_id: router.id, ...before },
		after: { router_id: router.id, ...after }
	});
}

type Changed = Record<'before' | 'after', Readonly<Record<string, unknown>>>;

/** The price has changed since the caller saw it. */
export class PriceMoved extends Error {
	/** The current price in major units. */
	readonly price: number;

	constructor(price: number) {
		super(`The price has changed to ${price}.`);
		this.price = price;
	}
}

/**
 * Running sessions keep their price.
 * @param seen price that the caller has seen; nothing is set if it has changed
 * @throws AppError `router_not_found | not_router_owner | validation_failed`
 * @throws PriceMoved
 */
export async function setPrice(
	context: RoutersContext,
	caller: PriceSetter,
	id: number,
	price: number,
	seen?: number
): Promise<RouterBody> {
	const { database, clock } = context;
	// Before reading the router, so that invalid input is reported first.
	checkPrice(context, price);
	const row = await database.transact(async (trx) => {
		const router = await changeableRouter(trx, caller, id);
		const priceMinor = toMinor(price, router.currency);
		if (priceMinor === null) throw new Error(`Price ${price} does not fit ${router.currency}`);
		if (priceMinor === router.price_minor) return router;
		const current = toMajor(router.price_minor, router.currency);
		if (seen !== undefined && seen !== current) throw new PriceMoved(current);
		const { accountId, keyId, personId = accountId } = caller;
		const now = clock.now();
		await store.recordPrices(trx, [{ router, priceMinor, accountId: personId, keyId, now }]);
		const change = { price_minor: priceMinor, updated_at: now };
		await store.update(trx, id, change);
		const changed = { before: { price_minor: router.price_minor }, after: { price_minor: priceMinor } };
		await recordForOwner(context, trx, caller, { router, action: 'router.changed', ...changed });
		return { ...router, ...change };
	});
	return singleBody(context, row);
}

function checkPrice({ config: { maxPrice, currency } }: RoutersContext, price: number): void {
	if (price <= maxPrice && toMinor(price, currency) !== null) return;
	const code = price > maxPrice ? 'out_of_range' : 'invalid_format';
	const detail = `Use a price of at most ${currency} ${maxPrice} without superfluous decimals.`;
	throw validationFailed([{ in: 'body', pointer: '/price', code, detail }]);
}

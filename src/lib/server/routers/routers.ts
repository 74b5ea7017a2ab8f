import type { AccessKind } from '#lib/domain/access-kind.ts';
import type { RouterBody } from '../api/contract/schemas.ts';
import type { Queries, Tx } from '../db/database.ts';
import type { Caller } from '../developer/api-keys/api-keys.ts';
import type { RoutersContext } from './context.ts';
import { listRouters, ownedRouter, ownedRouters, visibleRouter } from './read-routers.ts';
import { paymentMethodsOf, singleBody, type OwnedRouter } from './router-body.ts';
import { setPrice, type PriceSetter } from './set-price.ts';
import * as store from './store.ts';

export type RouterRow = store.RouterRow;
export { isUnresponsive, sells, type OwnedRouter } from './router-body.ts';
export { PriceMoved, type PriceSetter } from './set-price.ts';
export { count as countRouters, page as pageOfRouters } from './store.ts';

export interface Routers {
	/** Routers near a position, nearest first, then by id. */
	list(query: RouterQuery): Promise<RouterPage>;
	/** @throws AppError `router_not_found` when absent, or disabled and not the caller's */
	read(caller: Caller, id: number): Promise<RouterBody>;
	/** The row behind a router that the caller may see. @throws AppError `router_not_found` */
	visible(queries: Queries, caller: Pick<Caller, 'accountId'>, id: number): Promise<RouterRow>;
	/**
	 * Sets the hourly price of new sessions; running ones keep theirs.
	 * @param seen the price that the caller has seen: nothing is set if it has changed since
	 * @throws AppError `router_not_found | not_router_owner | validation_failed`
	 * @throws PriceMoved
	 */
	setPrice(caller: PriceSetter, id: number, price: number, seen?: number): Promise<RouterBody>;
	/** An account's routers, oldest first, including disabled ones. */
	owned(accountId: number, page: { afterId: number; limit: number }): Promise<OwnedPage>;
	/**
	 * A router that an account may manage: its own, or any for an admin.
	 * @throws AppError `router_not_found`
	 */
	ownedOne(actor: Pick<Caller, 'accountId' | 'role'>, id: number): Promise<OwnedRouter>;
	/** The row of a router that exists. @throws Error */
	known(queries: Queries, id: number): Promise<RouterRow>;
	/** The network's own password, which is not bought (shared at the hotspot, or the owner's); null if none is known. */
	networkPassword(row: RouterRow): string | null;
	/** Sets how bought passwords work from the next order on; see access/passes/access-kinds.ts for the rules. */
	setAccess(trx: Tx, id: number, access: RouterAccess): Promise<void>;
	/** Payment methods that a router accepts now. */
	paymentMethods(row: RouterRow): string[];
}

export interface RouterAccess {
	kind: AccessKind;
	networkPassword: string | null;
	maxDevices: number;
}

export interface RouterQuery {
	lat: number;
	lon: number;
	/** metres */
	radius: number;
	limit: number;
	/** Distance in metres and id of the last router of the page before. */
	after: readonly [number, number] | null;
}

export interface OwnedPage {
	data: OwnedRouter[];
	/** The last id of this page; null on the last page. */
	next: number | null;
}

export interface RouterPage {
	data: RouterBody[];
	/** Distance and id of the last row when more follow, else null. */
	next: [number, number] | null;
}

/** The associated data of a sealed network password. */
const networkPasswordContext = (id: number) => `router-network-password:${id}`;

export function createRouters(services: Omit<RoutersContext, 'methodLists'>): Routers {
	const context: RoutersContext = { ...services, methodLists: new Map() };
	const { database, clock, secrets } = context;
	return {
		list: (query) => listRouters(context, query),
		read: async (caller, id) => singleBody(context, await visibleRouter(database.db, caller, id)),
		visible: visibleRouter,
		setPrice: (caller, id, price, seen) => setPrice(context, caller, id, price, seen),
		owned: (accountId, page) => ownedRouters(context, accountId, page),
		ownedOne: (actor, id) => ownedRouter(context, actor, id),
		async known(queries, id) {
			const row = await store.find(queries, id);
			if (!row) throw new Error(`Router ${id} is gone`);
			return row;
		},
		networkPassword: ({ id, network_password_sealed: sealed }) =>
			sealed === null ? null : secrets.decrypt(sealed, networkPasswordContext(id)),
		async setAccess(trx, id, { kind, networkPassword, maxDevices }) {
			await store.update(trx, id, {
				access_kind: kind,
				network_password_sealed:
					networkPassword === null ? null : secrets.encrypt(networkPassword, networkPasswordContext(id)),
				max_devices: maxDevices,
				updated_at: clock.now()
			});
		},
		paymentMethods: (row) => paymentMethodsOf(context, row)
	};
}

import type { AccessKind } from '#lib/domain/access-kind.ts';
import type { Queries, Tx } from '../db/database.ts';
import type { Caller } from '../developer/api-keys/api-keys.ts';
import type { RoutersContext } from './context.ts';
import { listRouters, ownedRouter, ownedRouters, visibleRouter, type RouterQuery } from './read-routers.ts';
import { paymentMethodsOf, singleBody } from './router-body.ts';
import { setPrice, type PriceSetter } from './set-price.ts';
import * as store from './store.ts';

export type RouterRow = store.RouterRow;
export { isUnresponsive, sells, type OwnedRouter } from './router-body.ts';
export { PriceMoved, type PriceSetter } from './set-price.ts';
export { count as countRouters, page as pageOfRouters } from './store.ts';

/** The associated data of a sealed network password. */
const networkPasswordContext = (id: number) => `router-network-password:${id}`;

export type Routers = ReturnType<typeof createRouters>;

export function createRouters(services: Omit<RoutersContext, 'methodLists'>) {
	const context: RoutersContext = { ...services, methodLists: new Map() };
	const { database, clock, secrets } = context;
	return {
		/** Routers near a position, nearest first, then by id. */
		list: (query: RouterQuery) => listRouters(context, query),
		/** @throws AppError `router_not_found` when absent, or disabled and not the caller's */
		read: async (caller: Caller, id: number) =>
			singleBody(context, await visibleRouter(database.db, caller, id)),
		/** The row behind a router that the caller may see. @throws AppError `router_not_found` */
		visible: visibleRouter,
		setPrice: (caller: PriceSetter, id: number, price: number, seen?: number) =>
			setPrice(context, caller, id, price, seen),
		/** An account's routers, oldest first, including disabled ones. */
		owned: (accountId: number, page: { afterId: number; limit: number }) =>
			ownedRouters(context, accountId, page),
		/** A router that an account may manage: its own, or any for an admin. @throws AppError `router_not_found` */
		ownedOne: (actor: Pick<Caller, 'accountId' | 'role'>, id: number) => ownedRouter(context, actor, id),
		/** The row of a router that exists. @throws Error */
		async known(queries: Queries, id: number): Promise<RouterRow> {
			const row = await store.find(queries, id);
			if (!row) throw new Error(`Router ${id} is gone`);
			return row;
		},
		/** The network's own password, which is not bought (shared at the hotspot, or the owner's); null if none is known. */
		networkPassword: ({ id, network_password_sealed: sealed }: RouterRow) =>
			sealed === null ? null : secrets.decrypt(sealed, networkPasswordContext(id)),
		/** Sets how bought passwords work from the next order on; see access/passes/access-kinds.ts for the rules. */
		async setAccess(
			trx: Tx,
			id: number,
			{
				kind,
				networkPassword,
				maxDevices
			}: { kind: AccessKind; networkPassword: string | null; maxDevices: number }
		): Promise<void> {
			await store.update(trx, id, {
				access_kind: kind,
				network_password_sealed:
					networkPassword === null ? null : secrets.encrypt(networkPassword, networkPasswordContext(id)),
				max_devices: maxDevices,
				updated_at: clock.now()
			});
		},
		/** Payment methods that a router accepts now. */
		paymentMethods: (row: RouterRow) => paymentMethodsOf(context, row)
	};
}

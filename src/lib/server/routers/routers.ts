import type { Queries, Tx } from '../db/database.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { binder } from '../platform/bind.ts';
import type { RoutersContext } from './context.ts';
import { addRouter, changeRouter, markRouter, pauseRouter } from './edit-router.ts';
import { listedOffers, offersOf, rulesOf } from './offers.ts';
import {
	changeableRouter,
	listRouters,
	openingTimes,
	ownedRouter,
	readableRouter,
	searchRouters,
	visibleRouter
} from './read-routers.ts';
import { paymentMethodsOf, singleBody } from './router-body.ts';
import { isUnverified } from './router-state.ts';
import { setPrice } from './set-price.ts';
import * as store from './store.ts';

export type RouterRow = store.RouterRow;
export {
	isUnresponsive,
	isUnverified,
	lacksNetworkPassword,
	offlineReason,
	opensAt,
	sells,
	takesLatePayment
} from './router-state.ts';
export type { OwnedRouter } from './router-body.ts';
export { MAX_UNCONNECTED_ROUTERS } from './edit-router.ts';
export { isPayable, offersText, type Offer } from './offers.ts';
export { PriceMoved, recordForOwner, type PriceSetter } from './set-price.ts';
export { count as countRouters, importedId, page as pageOfRouters } from './store.ts';

const networkPasswordContext = (id: number) => `router-network-password:${id}`;

export type Routers = ReturnType<typeof createRouters>;

export function createRouters(services: Omit<RoutersContext, 'offerLists'>) {
	const context: RoutersContext = { ...services, offerLists: new Map() };
	const bind = binder(context);
	const { database, clock, secrets } = context;
	return {
		/** Nearest first, then by id. */
		list: bind(listRouters),
		/** @throws AppError `router_not_found` if absent or disabled, see readableRouter */
		read: async (caller: Caller, id: number) =>
			singleBody(context, await readableRouter(database.db, caller, id)),
		visible: visibleRouter,
		openingTimes: bind(openingTimes),
		changeable: changeableRouter,
		setPrice: bind(setPrice),
		/** Oldest first, including disabled ones. */
		owned: (ownerAccountId: number, page: Parameters<typeof searchRouters>[2]) =>
			searchRouters(context, { ownerAccountId }, page),
		search: bind(searchRouters),
		/** Returns the account's own router, or any for an admin. @throws AppError `router_not_found` */
		ownedOne: bind(ownedRouter),
		async findOrThrow(queries: Queries, id: number): Promise<RouterRow> {
			const row = await store.find(queries, id);
			if (!row) throw new Error(`Router ${id} is gone`);
			return row;
		},
		/** Returns the network's own password (shared at the hotspot, or the owner's), which is not sold. */
		networkPassword: ({ id, network_password_sealed: sealed }: RouterRow) =>
			sealed === null ? null : secrets.decrypt(sealed, networkPasswordContext(id)),
		/** Sets how bought passwords work for new orders. Rules: passes/access-kinds.ts. */
		async setAccess(
			trx: Tx,
			id: number,
			access: Pick<RouterRow, 'access_kind' | 'max_devices' | 'security'>,
			networkPassword: string | null
		): Promise<void> {
			const network_password_sealed =
				networkPassword === null ? null : secrets.encrypt(networkPassword, networkPasswordContext(id));
			const { access_kind, max_devices, security } = access;
			const to = { access_kind, max_devices, security, network_password_sealed, updated_at: clock.now() };
			await store.update(trx, id, to);
		},
		/** Returns whether buyers may rely on this gateway alone: others of its router cannot connect devices there. */
		async verifiedBy({ routerId, seenAt }: { routerId: number; seenAt: number | null }): Promise<boolean> {
			if (seenAt !== null) return true;
			const row = await store.find(database.db, routerId);
			return row !== undefined && !isUnverified({ ...row, responded_at: null }, context.config);
		},
		add: bind(addRouter),
		change: bind(changeRouter),
		mark: bind(markRouter),
		pause: bind(pauseRouter),
		/** Lists open routers without a gateway that has responded, and without a confirmed access. */
		unverified: (limit: number) => store.unverified(database.db, limit),
		paymentMethods: (row: RouterRow) => paymentMethodsOf(context, row),
		/** Returns the active offers in the order of sale. */
		listedOffers: (row: RouterRow) =>
			listedOffers(context, row, rulesOf(context, paymentMethodsOf(context, row))).listed,
		offers: (row: RouterRow) => offersOf(context, row),
		lastOfferChange: store.lastOfferChange,
		setOffers: store.changeOffers
	};
}

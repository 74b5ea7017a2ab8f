import { z } from 'zod';
import { toMajor, toMinor } from '#lib/domain/money.ts';
import type { Caller } from '../developer/api-keys/api-keys.ts';
import { isoTime, type Clock } from '../platform/clock.ts';
import type { Config } from '../config/config.ts';
import type { BrandBody, RouterBody } from '../api/contract/schemas.ts';
import type { Branding } from '../owner/branding/branding.ts';
import type { AccessKind } from '#lib/domain/access-kind.ts';
import type { Database, Queries, Tx } from '../db/database.ts';
import { AppError, validationFailed } from '../platform/errors.ts';
import type { Operators } from '../billing/operators/registry.ts';
import type { Secrets } from '../platform/secrets.ts';
import * as store from './store.ts';

export type RouterRow = store.RouterRow;

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

/** The account that sets a price, with its key or signed in on a page. */
export type PriceSetter = Pick<Caller, 'accountId' | 'role'> & { keyId: number | null };

/** A router as its owner sees it. */
export interface OwnedRouter extends RouterBody {
	ownerAccountId: number;
	disabled: boolean;
	/** Whether the network's own password is stored. */
	networkPasswordKnown: boolean;
	/** Devices that one pass lets online at a time. */
	maxDevices: number;
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

const methodList = z.array(z.string());
const MAX_METHOD_LISTS = 100;

/** The price has changed since the caller saw it. */
export class PriceMoved extends Error {
	/** The current price in major units. */
	readonly price: number;

	constructor(price: number) {
		super(`The price has changed to ${price}.`);
		this.name = 'PriceMoved';
		this.price = price;
	}
}

/** The associated data of a sealed network password. */
const networkPasswordContext = (id: number) => `router-network-password:${id}`;

/** Whether the router sells time now. */
export const sells = (row: RouterRow): boolean => row.disabled_at === null && isOpen(row);

/** Whether none of its gateways responds (gateways/health): nobody could be let in. */
export const isUnresponsive = (row: RouterRow): boolean => row.unresponsive_since !== null;

/** Closed without a gateway that responds, or without the shared password that a buyer would be shown. */
const isOpen = (row: RouterRow): boolean =>
	row.status === 'online' &&
	!isUnresponsive(row) &&
	(row.access_kind !== 'shared_password' || row.network_password_sealed !== null);

export interface RoutersParts {
	database: Database;
	operators: Operators;
	branding: Branding;
	clock: Clock;
	config: Config;
	secrets: Secrets;
}

export function createRouters(parts: RoutersParts): Routers {
	const { database, operators, branding, clock, config, secrets } = parts;
	/** Parsed lists by their text: all rows have the same few. */
	const methodsOfText = new Map<string, string[]>();

	function paymentMethods({ payment_methods: text }: RouterRow): string[] {
		const known = methodsOfText.get(text);
		if (known) return known;
		const methods = operators.methodsOf(methodList.parse(JSON.parse(text)));
		if (methodsOfText.size >= MAX_METHOD_LISTS) methodsOfText.clear();
		methodsOfText.set(text, methods);
		return methods;
	}

	function body(row: RouterRow, distance: number | null, brand: BrandBody | null): RouterBody {
		return {
			id: row.id,
			name: row.name,
			address: row.address,
			ssid: row.ssid,
			lat: row.lat,
			lon: row.lon,
			distance: distance === null ? null : Math.round(distance),
			price: toMajor(row.price_minor, row.currency),
			currency: row.currency,
			status: isOpen(row) ? 'online' : 'offline',
			payment_methods: paymentMethods(row),
			min_duration: row.min_duration,
			max_duration: row.max_duration,
			security: row.security,
			access_kind: row.access_kind,
			brand,
			created_at: isoTime(row.created_at),
			updated_at: isoTime(row.updated_at)
		};
	}

	/** The body of a single router. */
	async function alone(row: RouterRow): Promise<RouterBody> {
		return body(row, null, (await branding.ofRouters(database.db, [row])).get(row.id) ?? null);
	}

	async function existing(queries: Queries, id: number): Promise<RouterRow> {
		const row = await store.find(queries, id);
		if (!row) throw noRouter();
		return row;
	}

	async function visible(
		queries: Queries,
		caller: Pick<Caller, 'accountId'>,
		id: number
	): Promise<RouterRow> {
		const row = await existing(queries, id);
		if (row.disabled_at !== null && row.owner_account_id !== caller.accountId) {
			throw noRouter();
		}
		return row;
	}

	return {
		async list({ lat, lon, radius, limit, after }) {
			const rows = await database.nearestRouters({
				centre: { lat, lon },
				radiusMetres: radius,
				after: after ? { distance: after[0], id: after[1] } : null,
				limit: limit + 1
			});
			const page = rows.slice(0, limit);
			const last = page.at(-1);
			const brands = await branding.ofRouters(database.db, page);
			return {
				data: page.map((row) => body(row, row.distance, brands.get(row.id) ?? null)),
				next: rows.length > limit && last ? [last.distance, last.id] : null
			};
		},
		async read(caller, id) {
			return alone(await visible(database.db, caller, id));
		},
		visible,
		async setPrice(caller, id, price, seen) {
			// Before the router is read: invalid input is reported first, also for unknown routers.
			const limit = config.maxPrice;
			const wrong = price > limit || toMinor(price, config.currency) === null;
			if (wrong) {
				throw validationFailed([
					{
						in: 'body',
						pointer: '/price',
						code: price > limit ? 'out_of_range' : 'invalid_format',
						detail: `Use a price of at most ${config.currency} ${limit} without superfluous decimals.`
					}
				]);
			}
			const row = await database.transact(async (trx) => {
				const router = await (caller.role === 'admin' ? existing(trx, id) : visible(trx, caller, id));
				if (router.owner_account_id !== caller.accountId && caller.role !== 'admin') {
					throw new AppError('not_router_owner', 'The router belongs to another account.');
				}
				const priceMinor = toMinor(price, router.currency);
				if (priceMinor === null) throw new Error(`Price ${price} does not fit ${router.currency}`);
				if (priceMinor === router.price_minor) return router;
				const now = toMajor(router.price_minor, router.currency);
				if (seen !== undefined && seen !== now) throw new PriceMoved(now);
				const { accountId, keyId } = caller;
				return store.changePrice(trx, router, { priceMinor, accountId, keyId, now: clock.now() });
			});
			return alone(row);
		},
		async owned(accountId, { afterId, limit }) {
			const rows = await store.ofOwner(database.db, accountId, afterId, limit + 1);
			const page = rows.slice(0, limit);
			const brands = await branding.ofRouters(database.db, page);
			const last = page.at(-1);
			return {
				data: page.map((row) => ({
					...body(row, null, brands.get(row.id) ?? null),
					...forOwner(row)
				})),
				next: rows.length > limit && last ? last.id : null
			};
		},
		async ownedOne({ accountId, role }, id) {
			const row = await existing(database.db, id);
			if (row.owner_account_id !== accountId && role !== 'admin') throw noRouter();
			return {
				...(await alone(row)),
				...forOwner(row)
			};
		},
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
		paymentMethods
	};
}

const forOwner = (row: RouterRow) => ({
	ownerAccountId: row.owner_account_id,
	disabled: row.disabled_at !== null,
	networkPasswordKnown: row.network_password_sealed !== null,
	maxDevices: row.max_devices
});

const noRouter = () => new AppError('router_not_found', 'There is no router with this id.');

export { count as countRouters, insert as insertRouter, page as pageOfRouters } from './store.ts';

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
	 * @param seen the price that is known to whoever changes it: where it is another by now, nothing is set
	 * @throws AppError `router_not_found | not_router_owner | validation_failed`
	 * @throws PriceMoved
	 */
	setPrice(caller: PriceSetter, id: number, price: number, seen?: number): Promise<RouterBody>;
	/** An account's routers, the oldest first, disabled ones too. */
	owned(accountId: number, page: { afterId: number; limit: number }): Promise<OwnedPage>;
	/**
	 * A router with which an account may do what its owner may: its own, or for an admin any.
	 * @throws AppError `router_not_found`
	 */
	ownedOne(actor: Pick<Caller, 'accountId' | 'role'>, id: number): Promise<OwnedRouter>;
	/** A router that is known to exist, because a session names it. */
	known(queries: Queries, id: number): Promise<RouterRow>;
	/**
	 * The password of its network, where that is not what is bought: shared by all guests of the hotspot, or the owner's
	 * own. null where there is none, or it is not known.
	 */
	networkPassword(row: RouterRow): string | null;
	/** Sets how bought passwords work on a router from the next order on; the rules are in access/kinds.ts. */
	setAccess(trx: Tx, id: number, access: RouterAccess): Promise<void>;
	/** Methods with which a router may be paid now. */
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
	/** Place in the order after which the page begins: distance in metres and id. */
	after: readonly [number, number] | null;
}

/** Who sets a price: an account, through one of its keys or signed in on a page. */
export type PriceSetter = Pick<Caller, 'accountId' | 'role'> & { keyId: number | null };

/** A router as its owner sees it. */
export interface OwnedRouter extends RouterBody {
	ownerAccountId: number;
	disabled: boolean;
	/** Whether the password of its network is known here, where it has one that guests are shown. */
	networkPasswordKnown: boolean;
	/** Devices that one pass lets online at a time. */
	maxDevices: number;
}

export interface OwnedPage {
	data: OwnedRouter[];
	/** The id after which the next page begins; null on the last. */
	next: number | null;
}

export interface RouterPage {
	data: RouterBody[];
	/** Place of the last row when more follow, else null. */
	next: [number, number] | null;
}

const methodList = z.array(z.string());
const MAX_METHOD_LISTS = 100;

/** The price is another than the one that was seen. */
export class PriceMoved extends Error {
	/** What it is now, in major units. */
	readonly price: number;

	constructor(price: number) {
		super(`The price is ${price} by now.`);
		this.name = 'PriceMoved';
		this.price = price;
	}
}

/** What a router's network password is sealed for. */
const networkPasswordContext = (id: number) => `router-network-password:${id}`;

/** Whether time is sold on it now. */
export const sells = (row: RouterRow): boolean => row.disabled_at === null && isOpen(row);

/** Whether none of its gateways is heard of any more (silence/): nobody could be let in. */
export const isUnresponsive = (row: RouterRow): boolean => row.unresponsive_since !== null;

/**
 * Not where no gateway of it is heard of, nor where the password that is to be revealed is not known: who paid would stay
 * outside.
 */
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
	/** The same few lists stand in all rows. */
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

	/** One router as it is shown by itself. */
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
			// Before the router is looked up: wrong input is told first, whatever it is for.
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

import { z } from 'zod';
import { toMajor, toMinor } from '../../money.ts';
import type { Caller } from '../api-keys/api-keys.ts';
import { isoTime, type Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { RouterBody } from '../contract/schemas.ts';
import type { Database, Queries } from '../db/database.ts';
import { AppError, validationFailed } from '../errors.ts';
import type { Operators } from '../operators/registry.ts';
import * as store from './store.ts';

export type RouterRow = store.RouterRow;

export interface Routers {
	/** Routers near a position, nearest first, then by id. */
	list(query: RouterQuery): Promise<RouterPage>;
	/** @throws AppError `router_not_found` when absent, or disabled and not the caller's */
	read(caller: Caller, id: number): Promise<RouterBody>;
	/** The row behind a router that the caller may see. @throws AppError `router_not_found` */
	visible(queries: Queries, caller: Caller, id: number): Promise<RouterRow>;
	/**
	 * Sets the hourly price of new sessions; running ones keep theirs.
	 * @throws AppError `router_not_found | not_router_owner | validation_failed`
	 */
	setPrice(caller: Caller, id: number, price: number): Promise<RouterBody>;
	/** A router that is known to exist, because a session names it. */
	known(queries: Queries, id: number): Promise<RouterRow>;
	/** Methods with which a router may be paid now. */
	paymentMethods(row: RouterRow): string[];
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

export interface RouterPage {
	data: RouterBody[];
	/** Place of the last row when more follow, else null. */
	next: [number, number] | null;
}

const methodList = z.array(z.string());
const MAX_METHOD_LISTS = 100;

export function createRouters(
	database: Database,
	operators: Operators,
	clock: Clock,
	config: Config
): Routers {
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

	function body(row: RouterRow, distance: number | null): RouterBody {
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
			status: row.status,
			payment_methods: paymentMethods(row),
			min_duration: row.min_duration,
			max_duration: row.max_duration,
			security: row.security,
			created_at: isoTime(row.created_at),
			updated_at: isoTime(row.updated_at)
		};
	}

	async function existing(queries: Queries, id: number): Promise<RouterRow> {
		const row = await store.find(queries, id);
		if (!row) throw new AppError('router_not_found', 'There is no router with this id.');
		return row;
	}

	async function visible(queries: Queries, caller: Caller, id: number): Promise<RouterRow> {
		const row = await existing(queries, id);
		if (row.disabled_at !== null && row.owner_account_id !== caller.accountId) {
			throw new AppError('router_not_found', 'There is no router with this id.');
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
			return {
				data: page.map((row) => body(row, row.distance)),
				next: rows.length > limit && last ? [last.distance, last.id] : null
			};
		},
		async read(caller, id) {
			return body(await visible(database.db, caller, id), null);
		},
		visible,
		async setPrice(caller, id, price) {
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
				const { accountId, keyId } = caller;
				return store.changePrice(trx, router, { priceMinor, accountId, keyId, now: clock.now() });
			});
			return body(row, null);
		},
		async known(queries, id) {
			const row = await store.find(queries, id);
			if (!row) throw new Error(`Router ${id} is gone`);
			return row;
		},
		paymentMethods
	};
}

export { count as countRouters, insert as insertRouter, page as pageOfRouters } from './store.ts';

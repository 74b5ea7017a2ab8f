import { hold, lockById } from '../db/locks.ts';
import { MIN_DURATION, NEW_HOURLY_MAX } from '#lib/domain/time.ts';
import { endOfDay } from '#lib/domain/opening-hours.ts';
import { type Author, accountActor } from '../audit.ts';
import type { Queries, Tx } from '../db/database.ts';
import {
	FORM_ID,
	type RouterRow,
	type Routers,
	buildBody,
	findChangeableRouter,
	findRouter,
	isPaused
} from './routers.ts';
import { type FieldProblem, validationFailed, refuseFields, Refused } from '../platform/errors.ts';
import { type RouterTexts, type StatedFields, nameAfter, readRouterFields } from './router-fields.ts';
import { countRows, insertRow } from '../db/queries.ts';
import { toMajor, toMinor } from '#lib/domain/money.ts';
import { withoutHidden } from '#lib/domain/text.ts';
import type { RouterBody } from '../contract/router.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';

/**
 * Changes of routers: adding one, its fields, its price, and taking it off sale for some time or for good. What an
 * administrator changes at a router of another account is recorded for its owner.
 */

/** A router as its owner describes it. */
export interface NamedRouter {
	/** The stated values. Missing ones keep their value or get a default. */
	stated: StatedFields & Pick<RouterRow, 'ssid' | 'lat' | 'lon' | 'price_minor' | 'currency'>;
	/** For a new router without a name. */
	fallbackName: string;
}

/** @throws Refused with every wrong field */
function readFields(texts: RouterTexts, { maxPrice }: Routers['config'], currency: string): StatedFields {
	const problems: FieldProblem[] = [];
	const report = (field: string, reason: string) => void problems.push({ field, reason });
	const refuseCut = (field: string, how: string) => report(field, `too long: it would be ${how}`);
	const fields = readRouterFields(texts, { currency, maxPrice }, report, refuseCut);
	if (fields.name === '') report('name', 'give a name, or leave it out');
	if (problems.length > 0) throw refuseFields(...problems);
	return fields;
}

/** Sets columns, and records their old and new values in the audit log. */
async function setColumns(
	{ audit, clock }: Routers,
	trx: Tx,
	row: RouterRow,
	{ by, note, action, to }: Author & { action: string; to: Partial<RouterRow> }
): Promise<void> {
	const change = { ...to, updated_at: clock.now() };
	await trx.updateTable('routers').set(change).where('id', '=', row.id).execute();
	const before = Object.fromEntries(Object.entries(row).filter(([name]) => name in to));
	await audit.record(trx, {
		...{ actor: by, action, reason: note },
		before: { router_id: row.id, ...before },
		after: { router_id: row.id, ...to }
	});
}

/** Bounds the routers that an owner has added on the owner pages, and that neither are connected nor have sold. */
export const MAX_UNCONNECTED_ROUTERS = 20;

/**
 * Adds one router of an owner.
 * @param formKey of the owner's form: the same form adds one router, however often it is sent. The router is disabled
 * until its owner enables it, so that no buyer finds it half ready
 * @throws Refused with every wrong field; field `limit` if the owner has MAX_UNCONNECTED_ROUTERS
 */
export function createOwnedRouter(
	context: Routers,
	ownerAccountId: number,
	texts: RouterTexts,
	{ by, note }: Author,
	formKey: string
): Promise<RouterRow> {
	const { audit, clock, config, database } = context;
	const { currency, paymentMethods } = config;
	const {
		ssid = '',
		lat = 0,
		lon = 0,
		price_minor = 0,
		...others
	} = readFields({ ssid: '', lat: '', lon: '', price: '', ...texts }, config, currency);
	const stated = { ssid, lat, lon, price_minor, currency, ...others };
	const externalId = FORM_ID + formKey;
	return database.transact(async (trx) => {
		const added = await findAdded(trx, ownerAccountId, externalId);
		if (added) return added;
		const now = clock.now();
		const disabled = { disabled_at: now, disabled_by_owner: 1 };
		const row = await insertRow(trx, 'routers', {
			...buildRow({ stated, fallbackName: nameAfter(others.address, ssid) }, undefined, now),
			...disabled,
			external_id: externalId,
			owner_account_id: ownerAccountId,
			payment_methods: JSON.stringify(paymentMethods)
		});
		const after = { router_id: row.id, owner_account_id: ownerAccountId, ...stated, ...disabled };
		await audit.record(trx, { ...{ actor: by, action: 'router.added', reason: note }, before: {}, after });
		return row;
	});
}

async function findAdded(trx: Tx, ownerAccountId: number, externalId: string) {
	await lockOwner(trx, ownerAccountId);
	const added = (await findByExternalIds(trx, ownerAccountId, [externalId])).get(externalId);
	const unconnected = trx
		.selectFrom('routers')
		.where(({ and }) =>
			and({ owner_account_id: ownerAccountId, responded_at: null, access_confirmed_at: null })
		)
		.where('external_id', 'like', `${FORM_ID}%`)
		.where(({ not, exists, selectFrom }) =>
			not(
				exists(
					selectFrom('sessions')
						.select('sessions.id')
						.whereRef('sessions.router_id', '=', 'routers.id')
						.where('starts_at', 'is not', null)
				)
			)
		);
	if (added || (await countRows(unconnected)) < MAX_UNCONNECTED_ROUTERS) return added;
	const reason = `${MAX_UNCONNECTED_ROUTERS} routers of this account are not connected; connect one first`;
	throw refuseFields({ field: 'limit', reason });
}

/**
 * Changes the given fields. The price and the access have rules of their own: changePrice, access-kinds.ts.
 * @returns the names of the changed fields
 * @throws Refused `router_not_found`
 * @throws Refused with every wrong field
 */
export function changeRouterFields(
	context: Routers,
	id: number,
	texts: Omit<RouterTexts, 'access_kind' | 'price' | 'security' | 'status'>,
	author: Author
): Promise<string[]> {
	const { config, database } = context;
	return database.transact(async (trx) => {
		await lockById(trx, 'routers', id);
		const row = await findRouter(trx, id);
		const fields = readFields(texts, config, row.currency);
		const old = new Map<string, unknown>(Object.entries(row));
		const changed = Object.entries(fields).filter(([name, value]) => old.get(name) !== value);
		if (changed.length === 0) return [];
		const to = Object.fromEntries(changed) as StatedFields;
		await setColumns(context, trx, row, { ...author, action: 'router.changed', to });
		return changed.map(([name]) => name);
	});
}

/** Columns with a time that an administrator sets or clears, and the actions in the audit log. */
const MARKS = {
	/** Off sale and out of all lists. Running time and payments on their way do not change; later money is refunded. */
	disabled_at: ['router.disabled', 'router.enabled'],
	/** Buyers get access without a gateway of Airtill. */
	access_confirmed_at: ['router.access_confirmed', 'router.access_withdrawn']
} as const;

/**
 * @param isOwner false for an administrator, who can take over what an owner has disabled
 * @returns false if an administrator has disabled the router, so that its owner cannot enable it
 * @throws Refused `router_not_found`
 */
export function markRouter(
	context: Routers,
	id: number,
	column: keyof typeof MARKS,
	{ isSet, isOwner = false, ...author }: Author & { isSet: boolean; isOwner?: boolean }
): Promise<boolean> {
	const { clock, database } = context;
	return database.transact(async (trx) => {
		await lockById(trx, 'routers', id);
		const row = await findRouter(trx, id);
		const isDisabling = column === 'disabled_at' && isSet;
		const takesOver = isDisabling && !isOwner && row.disabled_by_owner === 1;
		if ((row[column] !== null) === isSet && !takesOver) return true;
		if (isOwner && !isSet && row.disabled_by_owner === 0) return false;
		const to = {
			[column]: isSet ? clock.now() : null,
			...(column === 'disabled_at' && { disabled_by_owner: isDisabling && isOwner ? 1 : 0 })
		};
		await setColumns(context, trx, row, { ...author, action: MARKS[column][isSet ? 0 : 1], to });
		return true;
	});
}

/**
 * Closes a router for the rest of its business day, or opens it again. It stays in all lists; running time and payments
 * on their way do not change; later money is refunded.
 * @throws Refused `router_not_found`
 */
export function pauseRouter(
	context: Routers,
	id: number,
	{ isPaused: wanted, ...author }: Author & { isPaused: boolean }
): Promise<void> {
	const { clock, config, database } = context;
	return database.transact(async (trx) => {
		await lockById(trx, 'routers', id);
		const row = await findRouter(trx, id);
		const now = clock.now();
		const paused_until = wanted ? endOfDay(row.opening_hours, now, config.reportTimezone) : null;
		if (paused_until === (isPaused(row, now) ? row.paused_until : null)) return;
		const action = wanted ? 'router.paused' : 'router.reopened';
		await setColumns(context, trx, row, { ...author, action, to: { paused_until } });
	});
}

/**
 * Decides whether passes get back the time of outages that begin from now on. What buyers read during an outage stays true.
 * @throws Refused `router_not_found`
 */
export function setGivesTimeBack(
	context: Routers,
	id: number,
	{ isGiven, ...author }: Author & { isGiven: boolean }
): Promise<void> {
	return context.database.transact(async (trx) => {
		await lockById(trx, 'routers', id);
		const row = await findRouter(trx, id);
		const gives_time_back = isGiven ? 1 : 0;
		if (row.gives_time_back === gives_time_back) return;
		const action = isGiven ? 'router.outage_time_on' : 'router.outage_time_off';
		await setColumns(context, trx, row, { ...author, action, to: { gives_time_back } });
	});
}

/** `keyId` is null for a price that is set on a page. `personId` is the account of its author, if it is another one. */
export type PriceSetter = Pick<Caller, 'accountId' | 'role'> & {
	keyId: number | null;
	personId?: number;
	/** Why an administrator changes a router of another account. */
	reason?: string | undefined;
};

/** Records what an administrator changes at a router of another account. Its owner sees it. */
export async function recordForOwner(
	{ audit }: Pick<Routers, 'audit'>,
	trx: Tx,
	{ accountId, reason = '' }: PriceSetter,
	{ router, action, before, after }: { router: RouterRow; action: string } & Changed
): Promise<void> {
	if (router.owner_account_id === accountId) return;
	await audit.record(trx, {
		...{ actor: accountActor(accountId), action, reason: withoutHidden(reason) },
		before: { router_id: router.id, ...before },
		after: { router_id: router.id, ...after }
	});
}

type Changed = Record<'before' | 'after', Readonly<Record<string, unknown>>>;

/**
 * Running sessions keep their price.
 * @param seen price that the caller has seen; nothing is set if it has changed
 * @throws Refused `router_not_found | not_router_owner | validation_failed`
 * @throws Refused `price_moved` with the current price in major units
 */
export async function changePrice(
	context: Routers,
	caller: PriceSetter,
	id: number,
	price: number,
	seen?: number
): Promise<RouterBody> {
	const { database, clock } = context;
	// Before reading the router, so that invalid input is reported first.
	checkPrice(context, price);
	const row = await database.transact(async (trx) => {
		await lockById(trx, 'routers', id);
		const router = await findChangeableRouter(trx, caller, id);
		const priceMinor = toMinor(price, router.currency);
		if (priceMinor === null) throw new Error(`Price ${price} does not fit ${router.currency}`);
		if (priceMinor === router.price_minor) return router;
		const current = toMajor(router.price_minor, router.currency);
		if (seen !== undefined && seen !== current) {
			throw new Refused<'price_moved'>('price_moved', `The price is now ${current}.`, {
				extensions: { price: current }
			});
		}
		const { accountId, keyId, personId = accountId } = caller;
		const now = clock.now();
		await recordPrices(trx, [{ router, priceMinor, accountId: personId, keyId, now }]);
		const change = { price_minor: priceMinor, updated_at: now };
		await trx.updateTable('routers').set(change).where('id', '=', id).execute();
		const changed = { before: { price_minor: router.price_minor }, after: { price_minor: priceMinor } };
		await recordForOwner(context, trx, caller, { router, action: 'router.changed', ...changed });
		return { ...router, ...change };
	});
	return buildBody(context, row);
}

function checkPrice({ config: { maxPrice, currency } }: Routers, price: number): void {
	if (price <= maxPrice && toMinor(price, currency) !== null) return;
	const code = price > maxPrice ? 'out_of_range' : 'invalid_format';
	const detail = `Use a price of at most ${currency} ${maxPrice} without superfluous decimals.`;
	throw validationFailed([{ in: 'body', pointer: '/price', code, detail }]);
}

/** A known router keeps its columns where a file states none; `import.ts` updates only those that a file can state. */
export function buildRow(router: NamedRouter, known: RouterRow | undefined, now: number) {
	return {
		name: known?.name ?? router.fallbackName,
		address: known?.address ?? null,
		security: known?.security ?? 'wpa',
		status: known?.status ?? 'online',
		hidden: known?.hidden ?? 0,
		min_duration: MIN_DURATION,
		max_duration: NEW_HOURLY_MAX,
		...router.stated,
		...chooseAccess(router, known),
		created_at: now,
		updated_at: now,
		disabled_at: null
	};
}

/** An open network supports only sign-in at the hotspot, whatever the router had before. */
export function chooseAccess({ stated }: NamedRouter, known: RouterRow | undefined) {
	const hasNoPassword = (stated.security ?? known?.security) === 'nopass';
	const kind = stated.access_kind ?? known?.access_kind ?? 'wpa_personal_per_client';
	return { access_kind: hasNoPassword ? ('portal_login' as const) : kind };
}

interface PriceChange {
	/** As it was before. */
	router: RouterRow;
	priceMinor: number;
	/** Account and API key; null for an import. */
	accountId: number | null;
	keyId: number | null;
	now: number;
}

export async function recordPrices(queries: Queries, changes: readonly PriceChange[]): Promise<void> {
	if (changes.length === 0) return;
	const rows = changes.map(({ router, priceMinor, accountId, keyId, now }) => ({
		...{ router_id: router.id, old_price_minor: router.price_minor, new_price_minor: priceMinor },
		...{ currency: router.currency, account_id: accountId, api_key_id: keyId, changed_at: now }
	}));
	await queries.insertInto('price_changes').values(rows).execute();
}

export async function findByExternalIds(trx: Tx, owner_account_id: number, ids: readonly string[]) {
	const own = trx.selectFrom('routers').selectAll().where('owner_account_id', '=', owner_account_id);
	const rows = await hold(trx, own.where('external_id', 'in', ids).orderBy('id')).execute();
	return new Map(rows.map((row) => [row.external_id ?? '', row]));
}

/** Lets imports of one owner take turns: two processes that start on an empty database give the demo routers the same ids. */
export const lockOwner = (queries: Queries, accountId: number) =>
	queries
		.updateTable('accounts')
		.set((row) => ({ email: row.ref('email') }))
		.where('id', '=', accountId)
		.execute();

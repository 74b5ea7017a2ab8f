import { holdAlone, keep, type Held } from '../db/locks.ts';
import type { Database, NearRouter, NearSearch, Queries, Tx } from '../db/database.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { Branding } from '../branding.ts';
import { type OffersContext, listAmountRules, listOffers } from './offer-list.ts';
import type { Row } from '../db/schema.ts';
import { type AccessKind, hasNetworkPassword } from '#lib/domain/wifi.ts';
import { nextOpen } from '#lib/domain/opening-hours.ts';
import type { RouterBody } from '../contract/router.ts';
import type { Config } from '../config/config.ts';
import { z } from 'zod';
import { isAnyAmount } from '#lib/domain/payment-methods.ts';
import { toMajor } from '#lib/domain/money.ts';
import { isoTime } from '../platform/clock.ts';
import { cutPage, exists, findById } from '../db/queries.ts';
import { boxesAround, byDistance, distanceMetres } from '#lib/domain/geo.ts';
import { NotFound, Forbidden } from '#lib/server/platform/errors.ts';

/**
 * Routers: whether one sells now and why not, its object in the API, searches, and who may see or change it.
 *
 * A router is offline while its owner has closed it (`closedReason`), none of its gateways responds, nothing shows
 * that a buyer would get access, or its shared password is missing (`offlineReason`).
 */

export type RouterRow = Row<'routers'>;

/** Begins the external id of routers from the owner pages. The key of their form follows. */
export const FORM_ID = 'form:';

export interface Routers extends OffersContext {
	branding: Branding;
}

export const createRouters = (services: Omit<Routers, 'offerLists'>): Routers => ({
	...services,
	offerLists: new Map()
});

type Mode = Pick<Config, 'mode'>;
type Zone = Pick<Config, 'reportTimezone'>;
type OfflineReason = NonNullable<RouterBody['status_reason']>;

export const sells = (row: RouterRow, config: Mode & Zone, now: number): boolean =>
	offlineReason(row, config, now) === null;

/** Whether a late payment still buys time. Money that is paid does not wait for a verification. */
export const takesLatePayment = (row: RouterRow, zone: Zone, now: number): boolean =>
	closedReason(row, zone, now) === null;

/** True if none of its gateways responds (gateways/health), so nobody could connect. */
export const isUnresponsive = (row: RouterRow): boolean => row.unresponsive_since !== null;

/** True if nothing shows that a buyer would get access. A shared password needs no gateway; a sandbox sells tests. */
export const isUnverified = (row: RouterRow, { mode }: Mode): boolean =>
	mode === 'live' &&
	row.access_kind !== 'shared_password' &&
	row.responded_at === null &&
	row.access_confirmed_at === null;

export const isPaused = (row: RouterRow, now: number): boolean =>
	row.paused_until !== null && now < row.paused_until;

/** Returns when a closed router opens automatically; null if it is open, or if only a person can open it. */
export function opensAt(row: RouterRow, { reportTimezone }: Zone, now: number): number | null {
	if (!isInService(row)) return null;
	const from = isPaused(row, now) ? (row.paused_until ?? now) : now;
	const at = row.opening_hours === null ? from : nextOpen(row.opening_hours, from, reportTimezone);
	return at === now ? null : at;
}

const isInService = (row: RouterRow): boolean => row.status === 'online' && row.disabled_at === null;

const isOpen = (row: RouterRow, zone: Zone, now: number): boolean =>
	isInService(row) && opensAt(row, zone, now) === null;

export const offlineReason = (row: RouterRow, config: Mode & Zone, now: number): OfflineReason | null =>
	isOpen(row, config, now) && isUnverified(row, config)
		? 'access_unverified'
		: closedReason(row, config, now);

function closedReason(row: RouterRow, zone: Zone, now: number) {
	if (!isOpen(row, zone, now)) return 'closed';
	if (isUnresponsive(row)) return 'gateway_unresponsive';
	return lacksNetworkPassword(row, row.access_kind) ? 'network_password_missing' : null;
}

/** True if buyers of this access kind would get the owner's password, and there is none. */
export const lacksNetworkPassword = (row: RouterRow, kind: AccessKind): boolean =>
	kind === 'shared_password' && row.network_password_sealed === null;

export type OwnedRouter = ReturnType<typeof addOwnerFields>;

const methodList = z.array(z.string());

export const listPaymentMethods = (
	{ operators }: Pick<Routers, 'operators'>,
	{ payment_methods: text }: RouterRow
): string[] => operators.methodsOf(methodList.parse(JSON.parse(text)));

const computePaymentLimits = ({ operators }: Routers, methods: readonly string[], currency: string) =>
	methods.flatMap((method) => {
		const rule = operators.amountRule(method);
		const major = (minor: number) => toMajor(minor, currency);
		const limits = { step: major(rule.stepMinor), min: major(rule.minMinor), max: major(rule.maxMinor) };
		return isAnyAmount(rule) ? [] : [{ payment_method: method, ...limits }];
	});

/** Reads equal methods and their amounts once. For one response, because operators change them. */
function methodReader(context: Routers) {
	const read = (row: RouterRow) => {
		const methods = listPaymentMethods(context, row);
		const limits = computePaymentLimits(context, methods, row.currency);
		return { methods, rules: listAmountRules(context, methods), limits };
	};
	const known = new Map<string, ReturnType<typeof read>>();
	return (row: RouterRow) => {
		const key = row.currency + row.payment_methods;
		const found = known.get(key) ?? read(row);
		known.set(key, found);
		return found;
	};
}

/**
 * Makes the bodies of one response, each beside its row.
 * @param rows with `distance`, in metres from the searched position, if there is one
 */
async function buildBodies<Row extends RouterRow & { distance?: number }>(
	context: Routers,
	rows: readonly Row[]
): Promise<[Row, RouterBody][]> {
	const brands = await context.branding.ofOwners(context.database.db, rows);
	const methodsOf = methodReader(context);
	const now = context.clock.now();
	return rows.map((row) => {
		const reason = offlineReason(row, context.config, now);
		const { methods, rules, limits } = methodsOf(row);
		const body: RouterBody = {
			id: row.id,
			name: row.name,
			address: row.address,
			ssid: row.ssid,
			hidden: row.hidden === 1,
			lat: row.lat,
			lon: row.lon,
			distance: row.distance === undefined ? null : Math.round(row.distance),
			price: toMajor(row.price_minor, row.currency),
			currency: row.currency,
			hourly: row.hourly === 1,
			max_devices: row.max_devices,
			offers: listOffers(context, row, rules).bodies,
			status: reason === null ? 'online' : 'offline',
			status_reason: reason,
			payment_methods: methods,
			payment_limits: limits,
			min_duration: row.min_duration,
			max_duration: row.max_duration,
			security: row.security,
			access_kind: row.access_kind,
			network_password_provided:
				row.network_password_sealed !== null || !hasNetworkPassword(row.access_kind, row.security),
			brand: brands.get(row.owner_account_id) ?? null,
			created_at: isoTime(row.created_at),
			updated_at: isoTime(row.updated_at)
		};
		return [row, body];
	});
}

export async function buildBody(context: Routers, row: RouterRow): Promise<RouterBody> {
	const [[, body] = []] = await buildBodies(context, [row]);
	if (!body) throw new Error('A row has a body');
	return body;
}

const addOwnerFields = (body: RouterBody, row: RouterRow, config: Zone, now: number) => ({
	...body,
	ownerAccountId: row.owner_account_id,
	disabled: row.disabled_at !== null,
	/** False if an administrator disabled it. */
	canEnable: row.disabled_by_owner === 1,
	/** In ms since the epoch; null unless it is paused now. */
	pausedUntil: isPaused(row, now) ? row.paused_until : null,
	opensAt: opensAt(row, config, now),
	openingHours: row.opening_hours,
	networkPasswordKnown: row.network_password_sealed !== null,
	/** Start of an outage of all its gateways, in ms since the epoch. */
	unresponsiveSince: row.unresponsive_since,
	givesTimeBack: row.gives_time_back === 1,
	/** True if a gateway has responded, an administrator has confirmed the access, or buyers get the known password. */
	givesAccess: !isUnverified(row, { mode: 'live' }) && !lacksNetworkPassword(row, row.access_kind)
});

interface RouterQuery {
	lat: number;
	lon: number;
	/** metres */
	radius: number;
	limit: number;
	/** Distance in metres and id of the previous page's last router. */
	after: readonly [number, number] | null;
	/** Start of words of the name, address or network. */
	name?: string | undefined;
}

const noRouter = () => new NotFound('router_not_found', 'There is no router with this id.');

/** Returns the owner's own id of an imported router; null for a router from the owner pages. */
export const findImportedId = ({ external_id: id }: Pick<RouterRow, 'external_id'>): string | null =>
	id?.startsWith(FORM_ID) ? null : id;

/** @throws Refused `router_not_found` */
export async function findRouter(queries: Queries, id: number): Promise<RouterRow> {
	const row = await findById(queries, 'routers', id);
	if (!row) throw noRouter();
	return row;
}

/** Only owners see disabled routers. @throws Refused `router_not_found` */
export async function findVisibleRouter(
	queries: Queries,
	{ accountId }: Pick<Caller, 'accountId'>,
	id: number
): Promise<RouterRow> {
	const row = await findRouter(queries, id);
	if (row.disabled_at !== null && row.owner_account_id !== accountId) throw noRouter();
	return row;
}

/** Returns a router that the caller may change. @throws Refused `router_not_found | not_router_owner` */
export async function findChangeableRouter(
	queries: Queries,
	caller: Pick<Caller, 'accountId' | 'role'>,
	id: number
): Promise<RouterRow> {
	if (caller.role === 'admin') return findRouter(queries, id);
	const router = await findVisibleRouter(queries, caller, id);
	if (router.owner_account_id === caller.accountId) return router;
	throw new Forbidden('not_router_owner', 'The router belongs to another account.');
}

/**
 * Reads a router for display. A disabled one is shown to its owner, to the portal of this installation, and to
 * accounts that have ordered there.
 * @throws Refused `router_not_found`
 */
async function findReadableRouter(
	queries: Queries,
	{ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
	id: number
): Promise<RouterRow> {
	const row = await findRouter(queries, id);
	const orders = queries.selectFrom('sessions').select('id').where('account_id', '=', accountId);
	const isShown =
		row.disabled_at === null ||
		row.owner_account_id === accountId ||
		plan === 'portal' ||
		(await exists(orders.where('router_id', '=', id)));
	if (!isShown) throw noRouter();
	return row;
}

/** @returns `next`: distance and id of the last router if more follow, otherwise null */
export async function listNearbyRouters(
	context: Routers,
	{ lat, lon, radius, limit, after, name }: RouterQuery
) {
	const { database } = context;
	const search = {
		centre: { lat, lon },
		radiusMetres: radius,
		after: after ? { distance: after[0], id: after[1] } : null,
		limit: limit + 1
	};
	const rows = await (name === undefined
		? database.nearestRouters(search)
		: findNamedRouters(database, name, search));
	const { rows: page, next } = cutPage(rows, limit, (last) => [last.distance, last.id] as const);
	const bodies = await buildBodies(context, page);
	return { data: bodies.map(([, body]) => body), next };
}

/** Returns when closed routers open automatically, by id. Others are missing. */
export async function findOpeningTimes({ database, config, clock }: Routers, ids: readonly number[]) {
	const now = clock.now();
	const rows = await findByIds(database.db, ids);
	return new Map(
		rows.flatMap((row) => {
			const at = opensAt(row, config, now);
			return at === null ? [] : [[row.id, at] as const];
		})
	);
}

/** Without a field, all routers. */
interface RouterSearch {
	ownerAccountId?: number;
	/** Start of words of the name, address or network. */
	name?: string;
	/** These are found too. */
	ids?: readonly number[];
}

/** Finds routers of all owners by id, also disabled ones. @returns `next`: the last id if more follow, otherwise null */
export async function searchRouters(
	context: Routers,
	search: RouterSearch,
	{ afterId, limit }: { afterId: number; limit: number }
) {
	const found = await findRouters(context.database, search, afterId, limit + 1);
	const { rows, next } = cutPage(found, limit, ({ id }) => id);
	const bodies = await buildBodies(context, rows);
	const now = context.clock.now();
	return { data: bodies.map(([row, body]) => addOwnerFields(body, row, context.config, now)), next };
}

/** Each query reads one range of an index, or the matches of the words. */
export async function findRouters(
	{ db, hasWords }: Pick<Database, 'db' | 'hasWords'>,
	{ ownerAccountId, name, ids = [] }: RouterSearch,
	afterId: number,
	limit: number
): Promise<RouterRow[]> {
	const page = db.selectFrom('routers').selectAll().where('id', '>', afterId).orderBy('id').limit(limit);
	if (ownerAccountId !== undefined) return page.where('owner_account_id', '=', ownerAccountId).execute();
	if (name === undefined) return page.execute();
	const words = splitWords(name);
	const named = words.length === 0 ? [] : await page.where(hasWords(words)).execute();
	const others = (await findByIds(db, ids)).filter(({ id }) => id > afterId);
	const found = new Map([...named, ...others].map((row) => [row.id, row]));
	return [...found.values()].sort((one, other) => one.id - other.id).slice(0, limit);
}

export async function readOwnedRouter(
	context: Routers,
	{ accountId, role }: Pick<Caller, 'accountId' | 'role'>,
	id: number
): Promise<OwnedRouter> {
	const row = await findRouter(context.database.db, id);
	if (row.owner_account_id !== accountId && role !== 'admin') throw noRouter();
	return addOwnerFields(await buildBody(context, row), row, context.config, context.clock.now());
}

/** @throws Refused `router_not_found` if absent or disabled, see findReadableRouter */
export async function readRouter(context: Routers, caller: Caller, id: number) {
	return buildBody(context, await findReadableRouter(context.database.db, caller, id));
}

/** Oldest first, including disabled ones. */
export function listOwnedRouters(
	context: Routers,
	ownerAccountId: number,
	page: Parameters<typeof searchRouters>[2]
) {
	return searchRouters(context, { ownerAccountId }, page);
}

export async function findRouterOrThrow(queries: Queries, id: number): Promise<RouterRow> {
	const row = await findById(queries, 'routers', id);
	if (!row) throw new Error(`Router ${id} is gone`);
	return row;
}

/** Keeps a router whose password or gateways a pass gets: who changes them later finds the pass. */
export const keepRouter = (trx: Tx, id: number): Promise<RouterRow> =>
	keep(trx, trx.selectFrom('routers').selectAll().where('id', '=', id)).executeTakeFirstOrThrow();

/**
 * Holds a router against everything that sells or begins there. For rare changes, which must find each pass that began
 * before, or be found by it.
 */
export async function lockRouter(trx: Tx, id: number): Promise<Held<RouterRow> | undefined> {
	if (!Number.isSafeInteger(id)) return undefined;
	const own = trx.selectFrom('routers').selectAll().where('id', '=', id);
	const row = await holdAlone(trx, own).executeTakeFirst();
	return row as Held<RouterRow> | undefined;
}

export async function lockRouterOrThrow(trx: Tx, id: number): Promise<Held<RouterRow>> {
	const row = await lockRouter(trx, id);
	if (!row) throw new Error(`Router ${id} is gone`);
	return row;
}

/** Looks at no more matching routers in the area of the search. */
const MAX_NAMED = 1_000;
/** Further words are ignored. */
const MAX_WORDS = 5;

/** Returns the different words of a text, which have only letters, digits and accents. */
const splitWords = (text: string): string[] =>
	[
		...new Set(
			text
				.normalize('NFKC')
				.toLowerCase()
				.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)
		)
	].slice(0, MAX_WORDS);

/** Finds routers whose name, address or network has words that begin with each word of `name`, nearest first. */
export async function findNamedRouters(
	database: Database,
	name: string,
	{ centre, radiusMetres, after, limit }: NearSearch
): Promise<NearRouter[]> {
	const words = splitWords(name);
	if (words.length === 0) return [];
	const named = await database.db
		.selectFrom('routers')
		.select(['id', 'lat', 'lon'])
		.where(database.hasWords(words))
		.where('disabled_at', 'is', null)
		.where(({ and, between, or }) =>
			or(
				boxesAround(centre, radiusMetres).map(({ minLat, maxLat, minLon, maxLon }) =>
					and([between('lat', minLat, maxLat), between('lon', minLon, maxLon)])
				)
			)
		)
		.limit(MAX_NAMED)
		.execute();
	const distances = new Map(named.map(({ id, ...position }) => [id, distanceMetres(centre, position)]));
	const nearest = [...distances]
		.map(([id, distance]) => ({ id, distance }))
		.filter((one) => one.distance <= radiusMetres && (!after || byDistance(one, after) > 0))
		.sort(byDistance)
		.slice(0, limit);
	const ids = nearest.map(({ id }) => id);
	const rows = await findByIds(database.db, ids);
	return rows.map((row) => ({ ...row, distance: distances.get(row.id) ?? 0 })).sort(byDistance);
}

const findByIds = (queries: Queries, ids: readonly number[]) =>
	ids.length === 0 ? [] : queries.selectFrom('routers').selectAll().where('id', 'in', ids).execute();

const networkPasswordContext = (id: number) => `router-network-password:${id}`;

/** Returns the network's own password (shared at the hotspot, or the owner's), which is not sold. */
export function openNetworkPassword(
	{ secrets }: Pick<Routers, 'secrets'>,
	{ id, network_password_sealed: sealed }: RouterRow
): string | null {
	return sealed === null ? null : secrets.decrypt(sealed, networkPasswordContext(id));
}

/** Sets how bought passwords work for new orders. Rules: access-kinds.ts. */
export async function setRouterAccess(
	{ secrets, clock }: Routers,
	trx: Tx,
	id: number,
	access: Pick<RouterRow, 'access_kind' | 'max_devices' | 'security'>,
	networkPassword: string | null
): Promise<void> {
	const network_password_sealed =
		networkPassword === null ? null : secrets.encrypt(networkPassword, networkPasswordContext(id));
	const { access_kind, max_devices, security } = access;
	const to = { access_kind, max_devices, security, network_password_sealed, updated_at: clock.now() };
	await trx.updateTable('routers').set(to).where('id', '=', id).execute();
}

/** Returns whether buyers may rely on this gateway alone: others of its router cannot connect devices there. */
export async function isGatewayVerified(
	{ database, config }: Routers,
	{ routerId, seenAt }: { routerId: number; seenAt: number | null }
): Promise<boolean> {
	if (seenAt !== null) return true;
	const row = await findById(database.db, 'routers', routerId);
	return row !== undefined && !isUnverified({ ...row, responded_at: null }, config);
}

/** Lists open routers without a gateway that has responded, and without a confirmed access. */
export function listUnverifiedRouters({ database }: Routers, limit: number) {
	return database.db
		.selectFrom('routers')
		.select(['id', 'name'])
		.where(({ and }) =>
			and({ status: 'online', disabled_at: null, responded_at: null, access_confirmed_at: null })
		)
		.where('access_kind', '<>', 'shared_password')
		.orderBy('id')
		.limit(limit)
		.execute();
}

/** Returns the active offers in the order of sale. */
export function listRouterOffers(context: Routers, row: RouterRow) {
	return listOffers(context, row, listAmountRules(context, listPaymentMethods(context, row))).listed;
}

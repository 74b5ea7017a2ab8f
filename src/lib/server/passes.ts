import { Outdated, hold, lockById, type Held } from './db/locks.ts';
import { type Updateable, sql } from 'kysely';
import { dataLeft, dataMb, leastMs } from '#lib/domain/offers.ts';
import { loginUser, passOfUser } from '#lib/domain/wifi.ts';
import type { Base } from './base.ts';
import type { Queries, Reads, Tx } from './db/database.ts';
import { exists, first, insertRow } from './db/queries.ts';
import type { Row, Schema } from './db/schema.ts';
import type { Speed } from './gateways/gateway.ts';
import { isTimeOwed } from './gateways/outages.ts';
import { type Secrets, equalSecrets, hmac, randomCharacters, sha256 } from './platform/secrets.ts';
import { type RouterRow, keepRouter, lacksNetworkPassword, openNetworkPassword } from './routers/routers.ts';

/**
 * A pass is the right to be online at a router from start to end, under one password. It has the time of one or more
 * sessions.
 */

export type PassRow = Row<'passes'>;

/** Its functions run in a transaction of their caller. */
type PassContext = Pick<Base, 'clock' | 'secrets'>;

/** The session fields that its pass takes over. */
type BoughtTime = Pick<
	PassRow,
	'id' | 'router_id' | 'access_kind' | 'max_devices' | 'speed_down_kbps' | 'speed_up_kbps' | 'data_limit_mb'
>;

/**
 * A pass that the transaction holds, with all its sessions, devices and admissions: whoever changes one of them holds the
 * pass first. Functions that change a pass take it.
 */
export type HeldPass = Held<Pick<PassRow, 'id'>>;

export async function findPassOrThrow<Pass extends number | HeldPass>(
	queries: Queries,
	pass: Pass
): Promise<Pass extends number ? PassRow : Held<PassRow>> {
	const id = typeof pass === 'number' ? pass : pass.id;
	const row = await findPass(queries, id);
	if (!row) throw new Error(`Pass ${id} is gone`);
	return row as Held<PassRow>;
}

export const lockPass = (trx: Tx, id: number): Promise<Held<PassRow> | undefined> =>
	lockById(trx, 'passes', id);

/** Holds several passes, in the one order, by their ids. */
export async function lockPasses(trx: Tx, ids: readonly (number | null)[]): Promise<Map<number, HeldPass>> {
	const known = ids.filter((id) => id !== null);
	if (known.length === 0) return new Map();
	const query = trx.selectFrom('passes').select('id').where('id', 'in', known).orderBy('id');
	const rows = (await hold(trx, query).execute()) as HeldPass[];
	return new Map(rows.map((pass) => [pass.id, pass]));
}

/** @param router kept: who changes its password later gives it to this pass, too */
export async function createPass(
	context: PassContext,
	trx: Tx,
	router: RouterRow,
	bought: BoughtTime
): Promise<Held<PassRow>> {
	const now = context.clock.now();
	const { id, router_id, access_kind, max_devices, speed_down_kbps, speed_up_kbps, data_limit_mb } = bought;
	const password = makePassword(context, router, access_kind);
	const pass = await insertRow(trx, 'passes', {
		...{ id, router_id, access_kind, max_devices },
		...{ speed_down_kbps, speed_up_kbps, data_limit_mb },
		...sealPassword(context.secrets, id, password),
		...{ created_at: now, updated_at: now }
	});
	// Nobody else sees it before the commit.
	return pass as Held<PassRow>;
}

/**
 * Opens a pass that is over until `endsAt` (ms since the epoch), with a new password if the old one was erased.
 * @param router kept, as for `createPass`
 */
export async function reopenPass(
	context: PassContext,
	trx: Tx,
	router: RouterRow,
	pass: Held<PassRow>,
	endsAt: number
) {
	const isKept = pass.password_sealed !== null && pass.access_kind !== 'shared_password';
	const password = makePassword(context, router, pass.access_kind);
	const sealed = !isKept && sealPassword(context.secrets, pass.id, password);
	await changePass(trx, pass, { ...sealed, ends_at: endsAt, updated_at: context.clock.now() });
}

const makePassword = (context: PassContext, router: RouterRow, kind: PassRow['access_kind']): string =>
	openSharedPassword(context, router, kind) ?? makeWifiPassword();

const PASSWORD_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const PASSWORD_LENGTH = 12;

/**
 * Creates a Wi-Fi password: 12 characters without look-alikes (about 59 bits) as `xxxx-xxxx-xxxx`.
 * Never all hex, because old QR readers take hex text for a binary key.
 */
export function makeWifiPassword(): string {
	for (;;) {
		const text = randomCharacters(PASSWORD_ALPHABET, PASSWORD_LENGTH);
		if (/[g-z]/.test(text)) return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
	}
}

function openSharedPassword(context: PassContext, router: RouterRow, kind: PassRow['access_kind']) {
	// Its owner has changed the access since this was decided, and no password could let the buyer in.
	if (lacksNetworkPassword(router, kind)) throw new Outdated('The router has no network password any more');
	return kind === 'shared_password' ? openNetworkPassword(context, router) : null;
}

/** Adopts the access kind of a session that adds time, its device limit if that is higher, and adds its data. */
export async function addTerms(
	context: PassContext,
	trx: Tx,
	pass: Held<PassRow>,
	bought: BoughtTime
): Promise<Held<PassRow>> {
	const { access_kind: before } = pass;
	const { access_kind } = bought;
	const max_devices = Math.max(pass.max_devices, bought.max_devices);
	const data_limit_mb = pass.data_limit_mb === null ? null : pass.data_limit_mb + (bought.data_limit_mb ?? 0);
	const isSame = max_devices === pass.max_devices && data_limit_mb === pass.data_limit_mb;
	if (access_kind === before && isSame) return pass;
	const router = await keepRouter(trx, pass.router_id);
	// Security: a buyer who leaves shared_password must not keep the owner's password.
	const replacement =
		access_kind === before
			? null
			: (openSharedPassword(context, router, access_kind) ??
				(before === 'shared_password' ? makeWifiPassword() : null));
	const changed = await changePass(trx, pass, {
		...{ access_kind, max_devices, data_limit_mb, updated_at: context.clock.now() },
		...(replacement !== null && sealPassword(context.secrets, pass.id, replacement))
	});
	return changed as Held<PassRow>;
}

/** Takes the data of a refunded or cancelled session back. */
export async function reduceDataLimit(
	{ clock }: PassContext,
	trx: Tx,
	pass: HeldPass,
	megabytes: number | null
) {
	const { data_limit_mb: limit } = await findPassOrThrow(trx, pass);
	if (limit === null || megabytes === null) return;
	await changePass(trx, pass, { data_limit_mb: limit - megabytes, updated_at: clock.now() });
}

/** Sets the deadline for a gateway to confirm the pass (ms since the epoch). */
export const setActivationDeadline = ({ clock }: PassContext, trx: Tx, pass: HeldPass, until: number) =>
	changePass(trx, pass, { activating_until: until, updated_at: clock.now() });

export const setPassTime = (
	{ clock }: PassContext,
	trx: Tx,
	pass: HeldPass,
	{ startsAt, endsAt }: { startsAt: number; endsAt: number }
) =>
	changePass(trx, pass, {
		starts_at: startsAt,
		ends_at: endsAt,
		activating_until: null,
		updated_at: clock.now()
	});

/** Adds bytes that a device used, if that is possible. Returns whether a running pass has no data left. */
export async function addUsedData({ clock }: PassContext, trx: Tx, held: HeldPass, bytes: number) {
	const now = clock.now();
	const pass = await addUsedDataToPass(trx, held.id, bytes, now);
	return pass !== null && pass.activating_until === null && isPassOpen(pass, now) && dataLeft(pass) === 0;
}

/** Ends the pass with its last active session. Without one, the pass is over and its password is erased. */
export async function shortenPass(context: PassContext, trx: Tx, pass: HeldPass): Promise<void> {
	const now = context.clock.now();
	const { starts_at: startsAt } = await findPassOrThrow(trx, pass);
	const endsAt = (await findLastActiveEnd(trx, pass.id)) ?? now;
	const time = startsAt === null ? {} : { ends_at: endsAt };
	await changePass(trx, pass, { ...time, activating_until: null, updated_at: now });
	await eraseIfOver(context, trx, pass);
}

export async function eraseIfOver({ clock }: PassContext, trx: Tx, pass: HeldPass): Promise<void> {
	const now = clock.now();
	const row = await findPassOrThrow(trx, pass);
	const { password_sealed: sealed, ends_at: endsAt, activating_until: waitsUntil } = row;
	if (sealed === null || waitsUntil !== null || (endsAt !== null && endsAt > now)) return;
	// Its time may go on after the outage, under the same password.
	if (await isTimeOwed(trx, row)) return;
	await changePass(trx, pass, { password_sealed: null, updated_at: now });
}

/** @param router held, so that no pass begins meanwhile */
export async function sharePassword(
	{ clock, secrets }: PassContext,
	trx: Tx,
	router: Held<Pick<RouterRow, 'id'>>,
	password: string
) {
	const now = clock.now();
	for (const { id } of await findSharing(trx, router.id, now)) {
		const pass = await lockPass(trx, id);
		if (!pass || !isSharing(pass, now)) continue;
		await changePass(trx, pass, { ...sealPassword(secrets, id, password), updated_at: now });
	}
}

/** Not one that ended, or left the kind, while the transaction waited for it. */
const isSharing = (pass: PassRow, now: number) =>
	isPassOpen(pass, now) && pass.access_kind === 'shared_password';

/**
 * `unknown`: not a paid pass of this router. `waits`: paid, but a gateway must confirm it first; `untilMs` is
 * its end if that happened now. `over`: expired, ended or refunded.
 */
type PassState =
	| { kind: 'unknown' }
	| { kind: 'waits'; pass: PassRow; untilMs: number }
	| { kind: 'over'; pass: PassRow }
	| RunningPass;

export interface RunningPass {
	kind: 'runs';
	pass: PassRow;
	untilMs: number;
}

export const readSpeed = (pass: Pick<PassRow, 'speed_down_kbps' | 'speed_up_kbps'>): Speed => ({
	down: pass.speed_down_kbps,
	up: pass.speed_up_kbps
});

export type OpenPass = Extract<PassState, { kind: 'waits' | 'runs' }>;

/** A pass without its password is over, even if a clock set back puts its end in the future. */
export const isPassOpen = (
	pass: Pick<PassRow, 'activating_until' | 'ends_at' | 'password_sealed'>,
	now: number
): boolean =>
	pass.activating_until !== null ||
	(pass.ends_at !== null && pass.ends_at > now && pass.password_sealed !== null);

export async function findPassState(
	queries: Reads,
	{ passId, routerId }: { passId: number; routerId: number | null },
	now: number
): Promise<PassState> {
	const pass = await findPass(queries, passId);
	if (!pass || (routerId !== null && pass.router_id !== routerId)) return { kind: 'unknown' };
	return describePass(queries, pass, now);
}

export async function describePass(queries: Reads, pass: PassRow, now: number): Promise<PassState> {
	if (pass.activating_until !== null) {
		return { kind: 'waits', pass, untilMs: now + (await sumWaitingSeconds(queries, pass.id)) * 1000 };
	}
	if (pass.ends_at === null) return { kind: 'unknown' };
	return computeRunningTime(pass, now) ?? { kind: 'over', pass };
}

export const computeRunningTime = (pass: PassRow, now: number): RunningPass | null =>
	pass.activating_until === null && pass.ends_at !== null && isPassOpen(pass, now)
		? { kind: 'runs', pass, untilMs: pass.ends_at }
		: null;

export async function findOpenPass(
	queries: Reads,
	passId: number,
	now: number,
	routerId: number | null = null
): Promise<OpenPass | null> {
	const state = await findPassState(queries, { passId, routerId }, now);
	return state.kind === 'runs' || state.kind === 'waits' ? state : null;
}

/** @throws Error when the password was erased */
export function openPassword({ secrets }: Pick<Base, 'secrets'>, pass: PassRow): string {
	const password = unsealPassword(secrets, pass);
	if (password === null) throw new Error(`Pass ${pass.id} has no password`);
	return password;
}

/** Associated data that binds a sealed password to its pass. */
const formatSealContext = (id: number) => `pass:${id}`;

/** Returns null when the password was erased. @throws Error when the secret or the pass does not match */
const unsealPassword = (secrets: Secrets, pass: PassRow): string | null =>
	pass.password_sealed === null ? null : secrets.decrypt(pass.password_sealed, formatSealContext(pass.id));

const sealPassword = (secrets: Secrets, id: number, password: string) => ({
	password_sealed: secrets.encrypt(password, formatSealContext(id))
});

/**
 * Checks the installation's secret on the newest password, and on the oldest of an open pass: after a change of the
 * secret, new passes open although those of earlier buyers do not. Returns null when no pass has a password.
 */
export async function readablePasswords(
	queries: Queries,
	secrets: Secrets,
	now: number
): Promise<'all' | 'new' | 'none' | null> {
	const newest = await findNewestWithPassword(queries);
	if (!newest) return null;
	if (!isReadable(secrets, newest)) return 'none';
	return (await opensRunningPasses(queries, secrets, now)) ? 'all' : 'new';
}

/** Checks the password of the oldest pass whose time runs. */
export async function opensRunningPasses(queries: Queries, secrets: Secrets, now: number): Promise<boolean> {
	const oldest = await findOldestOpen(queries, now);
	return !oldest || isReadable(secrets, oldest);
}

function isReadable(secrets: Secrets, pass: PassRow): boolean {
	try {
		return unsealPassword(secrets, pass) !== null;
	} catch {
		return false;
	}
}

export const findPass = (queries: Reads, id: number): Promise<PassRow | null> =>
	first(queries.selectFrom('passes').selectAll().where('id', '=', id));

export const findPasses = async (queries: Reads, ids: readonly number[]): Promise<PassRow[]> =>
	ids.length === 0 ? [] : queries.selectFrom('passes').selectAll().where('id', 'in', ids).execute();

const changePass = (trx: Tx, { id }: HeldPass, to: Updateable<Schema['passes']>): Promise<PassRow> =>
	trx.updateTable('passes').set(to).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Adds data in one statement. Returns null, and adds nothing, if a device cannot have used that much since the start. */
async function addUsedDataToPass(queries: Queries, id: number, bytes: number, now: number) {
	const used = sql<number>`coalesce(data_used_bytes, 0)`;
	const pass = await queries
		.updateTable('passes')
		.set({ data_used_bytes: sql`${used} + ${bytes}`, updated_at: now })
		.where('id', '=', id)
		.where(sql<number>`coalesce(starts_at, created_at)`, '<=', now - Math.max(0, leastMs(bytes)))
		.where(used, '<=', Number.MAX_SAFE_INTEGER - bytes)
		.returningAll()
		.executeTakeFirst();
	return pass ?? null;
}

const selectWithPassword = (queries: Queries) =>
	queries.selectFrom('passes').selectAll().where('password_sealed', 'is not', null);

const selectOpen = (queries: Queries, now: number) =>
	selectWithPassword(queries)
		.where((pass) => pass.or([pass('activating_until', 'is not', null), pass('ends_at', '>', now)]))
		.orderBy('id');

const selectOpenAt = (queries: Queries, routerId: number, now: number) =>
	selectOpen(queries, now).where('router_id', '=', routerId);

export const findOpenPassesAt = (
	queries: Queries,
	{ routerId, afterId }: { routerId: number; afterId: number },
	now: number,
	limit: number
) => selectOpenAt(queries, routerId, now).where('id', '>', afterId).limit(limit).execute();

/** Whether a buyer who has paid waits at a router. */
export const hasWaitingPass = (queries: Reads, routerId: number): Promise<boolean> =>
	exists(
		queries
			.selectFrom('passes')
			.select('id')
			.where('router_id', '=', routerId)
			.where('activating_until', 'is not', null)
	);

/** Returns ids of open passes at a router that have no user at a gateway. */
export async function findPassesWithoutUser(
	queries: Reads,
	{ gatewayId, routerId }: { gatewayId: number; routerId: number },
	now: number,
	limit: number
): Promise<number[]> {
	const rows = await selectOpenAt(queries as Queries, routerId, now)
		.where(({ not, exists, selectFrom }) =>
			not(
				exists(
					selectFrom('admissions')
						.select('admissions.id')
						.whereRef('admissions.pass_id', '=', 'passes.id')
						.where('admissions.gateway_id', '=', gatewayId)
						.where('admissions.mac', 'is', null)
						.where('admissions.released_at', 'is', null)
				)
			)
		)
		.limit(limit)
		.execute();
	return rows.map(({ id }) => id);
}

const findSharing = (queries: Queries, routerId: number, now: number) =>
	selectOpenAt(queries, routerId, now).where('access_kind', '=', 'shared_password').execute();

const findNewestWithPassword = (queries: Queries) => first(selectWithPassword(queries).orderBy('id', 'desc'));

const findOldestOpen = (queries: Queries, now: number) => first(selectOpen(queries, now));

async function sumWaitingSeconds(queries: Reads, passId: number): Promise<number> {
	const { seconds } = await queries
		.selectFrom('sessions')
		.select(({ fn }) => fn.sum<number | null>('duration_seconds').as('seconds'))
		.where('pass_id', '=', passId)
		.where('status', '=', 'activating')
		.executeTakeFirstOrThrow();
	return seconds ?? 0;
}

/** Returns the end in ms since the epoch, or null when no session is active. */
async function findLastActiveEnd(queries: Queries, passId: number): Promise<number | null> {
	const { at } = await queries
		.selectFrom('sessions')
		.select(({ fn }) => fn.max('expires_at').as('at'))
		.where('pass_id', '=', passId)
		.where('status', '=', 'active')
		.executeTakeFirstOrThrow();
	return at;
}

export async function findReasonOfEnd(queries: Queries, passId: number): Promise<string | null> {
	const row = await first(
		queries
			.selectFrom('sessions')
			.select('status_reason')
			.where('pass_id', '=', passId)
			.where('status', '=', 'ended')
			.orderBy('ended_at', 'desc')
			.orderBy('id', 'desc')
	);
	return row && (row.status_reason ?? 'ended');
}

const findNewestSession = (queries: Queries, passId: number): Promise<Row<'sessions'> | null> =>
	first(queries.selectFrom('sessions').selectAll().where('pass_id', '=', passId).orderBy('id', 'desc'));

const findSsid = async (queries: Queries, routerId: number): Promise<string> => {
	const router = queries.selectFrom('routers').select('ssid').where('id', '=', routerId);
	return (await router.executeTakeFirstOrThrow()).ssid;
};

/*
 * API buyers have a username and password instead of a purchase page. Some gateways know only devices, and their only
 * page is the portal. There the buyer signs in, and the device joins the pass. For this the pass gets its own purchase,
 * whose token is derived from the pass and opens nothing else.
 */

const TOKEN_LENGTH = 24;

type BuyerContext = Pick<Base, 'database' | 'clock' | 'secrets'>;

/**
 * Signs an API buyer in at a router. Returns the token that binds captive sessions to the pass; null without a matching
 * open pass, and for shared passwords.
 */
export async function signInApiBuyer(
	context: BuyerContext,
	routerId: number,
	{ user, password }: { user: string; password: string }
): Promise<string | null> {
	const { clock, secrets } = context;
	const { db } = context.database;
	const passId = passOfUser(user);
	const open = passId === null ? null : await findOpenPass(db, passId, clock.now(), routerId);
	const session = open && (await findNewestSession(db, open.pass.id));
	if (!open || !session || !isRightPassword(context, open.pass, password)) return null;
	const { id } = open.pass;
	const [token = ''] = deriveTokens(secrets, id);
	await addPurchase(db, sha256(token), { ...session, id }, clock.now());
	return token;
}

/** Finds the open pass of a token from `signInApiBuyer`. `time` is null while it waits for a gateway. */
export async function findApiBuyerPass(context: BuyerContext, token: string) {
	const { db } = context.database;
	const open = await findPassOfBuyer(context, sha256(token));
	if (!open) return null;
	const { pass } = open;
	const { data_limit_mb: limitMb } = pass;
	return {
		routerId: pass.router_id,
		ssid: await findSsid(db, pass.router_id),
		user: loginUser(pass.id),
		password: openPassword(context, pass),
		time: open.kind === 'runs' ? { fromMs: pass.starts_at ?? pass.created_at, untilMs: open.untilMs } : null,
		data: limitMb === null ? null : { limitMb, leftMb: dataMb(pass).leftMb }
	};
}

/** Returns the end of an API buyer's running pass (ms since the epoch) and its data, or null. */
export async function findApiBuyerTime(context: BuyerContext, tokenHash: string) {
	const open = await findPassOfBuyer(context, tokenHash);
	return open?.kind === 'runs' ? { untilMs: open.untilMs, leftMb: dataMb(open.pass).leftMb } : null;
}

/** API buyers have no page. The purchase's session is the first of the pass, so it has the pass's id. */
export const isApiBuyer = (
	secrets: Secrets,
	{ token_hash, session_id }: { token_hash: string; session_id: number | null }
): boolean =>
	session_id !== null && deriveTokens(secrets, session_id).some((token) => sha256(token) === token_hash);

async function findPassOfBuyer(
	{ database: { db }, clock, secrets }: BuyerContext,
	tokenHash: string
): Promise<OpenPass | null> {
	const purchase = await db
		.selectFrom('purchases')
		.select(['token_hash', 'session_id'])
		.where('token_hash', '=', tokenHash)
		.executeTakeFirst();
	if (!purchase || purchase.session_id === null || !isApiBuyer(secrets, purchase)) return null;
	return findOpenPass(db, purchase.session_id, clock.now());
}

/** Every token depends on this label: never rename it. */
const deriveTokens = (secrets: Secrets, passId: number): string[] =>
	secrets.deriveAll('guest pass', 32).map((key) => hmac(key, String(passId)).slice(0, TOKEN_LENGTH));

const isRightPassword = (context: BuyerContext, pass: PassRow, typed: string): boolean =>
	pass.access_kind !== 'shared_password' &&
	equalSecrets(plainPassword(openPassword(context, pass)), plainPassword(typed));

/** Bought passwords have no capitals or spaces, and buyers may omit the hyphens. */
const plainPassword = (password: string) => password.toLowerCase().replace(/[\s-]/g, '');

/** Creates the purchase that binds captive sessions to an API buyer's pass, unless it exists. */
async function addPurchase(
	queries: Queries,
	tokenHash: string,
	session: Row<'sessions'>,
	now: number
): Promise<void> {
	const { id, router_id, duration, payment_method, phone, amount_minor, currency } = session;
	await queries
		.insertInto('purchases')
		.values({
			...{ token_hash: tokenHash, session_id: id, replaces_session_id: null },
			...{ router_id, duration, payment_method, phone, amount_minor, currency },
			...{ created_at: now, updated_at: now }
		})
		.onConflict((conflict) => conflict.column('token_hash').doNothing())
		.execute();
}

import { dataLeft, leastMs } from '../../domain/offers.ts';
import type { Base } from '../base.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { binder } from '../platform/bind.ts';
import { wifiPassword } from '../platform/ids.ts';
import { findRouterOrThrow, openNetworkPassword } from '../routers/routers.ts';
import type { Speed } from '../gateways/gateway.ts';
import type { Secrets } from '../platform/secrets.ts';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { first } from '../db/queries.ts';
import type { PassesTable, SessionsTable } from '../db/schema.ts';

/** The session fields that its pass takes over. */
type BoughtTime = Pick<
	PassRow,
	'id' | 'router_id' | 'access_kind' | 'max_devices' | 'speed_down_kbps' | 'speed_up_kbps' | 'data_limit_mb'
>;

export type Passes = ReturnType<typeof createPasses>;

/** A pass is the right to be online at a router from start to end, under one password. */
export function createPasses(context: Base) {
	const { clock, secrets } = context;
	const bind = binder(context);
	return {
		findOrThrow,
		findAll: findAll,
		isOpen: (pass: PassRow) => isOpen(pass, clock.now()),
		create: bind(create),
		addTerms: bind(addTerms),
		addUsedData: bind(addUsedData),
		/** Takes the data of a refunded or cancelled session back. */
		async reduceDataLimit(trx: Tx, id: number, megabytes: number | null): Promise<void> {
			const { data_limit_mb: limit } = await findOrThrow(trx, id);
			if (limit === null || megabytes === null) return;
			await change(trx, id, { data_limit_mb: limit - megabytes, updated_at: clock.now() });
		},
		/** Sets the deadline for a gateway to confirm the pass (ms since the epoch). */
		async setActivationDeadline(trx: Tx, id: number, until: number): Promise<void> {
			await change(trx, id, { activating_until: until, updated_at: clock.now() });
		},
		async setTime(trx: Tx, id: number, { startsAt, endsAt }: { startsAt: number; endsAt: number }) {
			const to = { starts_at: startsAt, ends_at: endsAt, activating_until: null };
			await change(trx, id, { ...to, updated_at: clock.now() });
		},
		reopen: bind(reopen),
		shorten: bind(shorten),
		eraseIfOver: bind(eraseIfOver),
		/** @throws Error when the password was erased */
		passwordOf(pass: PassRow): string {
			const password = unsealPassword(secrets, pass);
			if (password === null) throw new Error(`Pass ${pass.id} has no password`);
			return password;
		},
		sharePassword: bind(sharePassword)
	};
}

async function findOrThrow(queries: Queries, id: number): Promise<PassRow> {
	const pass = await find(queries, id);
	if (!pass) throw new Error(`Pass ${id} is gone`);
	return pass;
}

async function create(context: Base, trx: Tx, bought: BoughtTime): Promise<PassRow> {
	const now = context.clock.now();
	const { id, router_id, access_kind, max_devices, speed_down_kbps, speed_up_kbps, data_limit_mb } = bought;
	const password = await newPassword(context, trx, bought);
	return insert(trx, {
		...{ id, router_id, access_kind, max_devices },
		...{ speed_down_kbps, speed_up_kbps, data_limit_mb },
		...sealPassword(context.secrets, id, password),
		...{ created_at: now, updated_at: now }
	});
}

/** Opens a pass that is over until `endsAt` (ms since the epoch), with a new password: the old one was erased. */
async function reopen(context: Base, trx: Tx, pass: PassRow, endsAt: number): Promise<void> {
	const password = sealPassword(context.secrets, pass.id, await newPassword(context, trx, pass));
	await change(trx, pass.id, { ...password, ends_at: endsAt, updated_at: context.clock.now() });
}

const newPassword = async (context: Base, trx: Tx, pass: Pick<PassRow, 'router_id' | 'access_kind'>) =>
	(await sharedPassword(context, trx, pass)) ?? wifiPassword();

async function sharedPassword(
	context: Base,
	trx: Tx,
	{ router_id, access_kind }: Pick<PassRow, 'router_id' | 'access_kind'>
) {
	return access_kind === 'shared_password'
		? openNetworkPassword(context, await findRouterOrThrow(trx, router_id))
		: null;
}

/** Adopts the access kind of a session that adds time, its device limit if that is higher, and adds its data. */
async function addTerms(context: Base, trx: Tx, pass: PassRow, bought: BoughtTime): Promise<void> {
	const { id, access_kind: before } = pass;
	const { access_kind } = bought;
	const max_devices = Math.max(pass.max_devices, bought.max_devices);
	const data_limit_mb = pass.data_limit_mb === null ? null : pass.data_limit_mb + (bought.data_limit_mb ?? 0);
	const isSame = max_devices === pass.max_devices && data_limit_mb === pass.data_limit_mb;
	if (access_kind === before && isSame) return;
	// Security: a buyer who leaves shared_password must not keep the owner's password.
	const replacement =
		access_kind === before
			? null
			: ((await sharedPassword(context, trx, bought)) ??
				(before === 'shared_password' ? wifiPassword() : null));
	await change(trx, id, {
		...{ access_kind, max_devices, data_limit_mb, updated_at: context.clock.now() },
		...(replacement !== null && sealPassword(context.secrets, id, replacement))
	});
}

/** Adds bytes that a device used, if that is possible. Returns whether a running pass has no data left. */
async function addUsedData({ clock }: Base, trx: Tx, id: number, bytes: number): Promise<boolean> {
	const now = clock.now();
	const pass = await addUsedDataToPass(trx, id, bytes, now);
	return pass !== null && pass.activating_until === null && isOpen(pass, now) && dataLeft(pass) === 0;
}

/** Ends the pass with its last active session. Without one, the pass is over and its password is erased. */
async function shorten(context: Base, trx: Tx, id: number): Promise<void> {
	const now = context.clock.now();
	const { starts_at: startsAt } = await findOrThrow(trx, id);
	const endsAt = (await lastActiveEnd(trx, id)) ?? now;
	const time = startsAt === null ? {} : { ends_at: endsAt };
	await change(trx, id, { ...time, activating_until: null, updated_at: now });
	await eraseIfOver(context, trx, id);
}

async function eraseIfOver({ clock }: Base, trx: Tx, id: number): Promise<void> {
	const now = clock.now();
	const {
		password_sealed: sealed,
		ends_at: endsAt,
		activating_until: waitsUntil
	} = await findOrThrow(trx, id);
	if (sealed === null || waitsUntil !== null || (endsAt !== null && endsAt > now)) return;
	await change(trx, id, { password_sealed: null, password_session_id: null, updated_at: now });
}

async function sharePassword({ clock, secrets }: Base, trx: Tx, routerId: number, password: string) {
	const now = clock.now();
	for (const { id } of await sharingPassword(trx, routerId, now)) {
		await change(trx, id, { ...sealPassword(secrets, id, password), updated_at: now });
	}
}

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

export const speedOf = (pass: Pick<PassRow, 'speed_down_kbps' | 'speed_up_kbps'>): Speed => ({
	down: pass.speed_down_kbps,
	up: pass.speed_up_kbps
});

export type OpenPass = Extract<PassState, { kind: 'waits' | 'runs' }>;

/** A pass without its password is over, even if a clock set back puts its end in the future. */
export const isOpen = (
	pass: Pick<PassRow, 'activating_until' | 'ends_at' | 'password_sealed'>,
	now: number
): boolean =>
	pass.activating_until !== null ||
	(pass.ends_at !== null && pass.ends_at > now && pass.password_sealed !== null);

export async function passState(
	queries: Reads,
	{ passId, routerId }: { passId: number; routerId: number | null },
	now: number
): Promise<PassState> {
	const pass = await find(queries, passId);
	if (!pass || (routerId !== null && pass.router_id !== routerId)) return { kind: 'unknown' };
	if (pass.activating_until !== null) {
		return { kind: 'waits', pass, untilMs: now + (await waitingSeconds(queries, passId)) * 1000 };
	}
	if (pass.ends_at === null) return { kind: 'unknown' };
	return isOpen(pass, now) ? { kind: 'runs', pass, untilMs: pass.ends_at } : { kind: 'over', pass };
}

export async function openPass(
	queries: Reads,
	passId: number,
	now: number,
	routerId: number | null = null
): Promise<OpenPass | null> {
	const state = await passState(queries, { passId, routerId }, now);
	return state.kind === 'runs' || state.kind === 'waits' ? state : null;
}

/** Associated data that binds a sealed password to its pass. */
const contextOf = ({ id, password_session_id: sessionId }: Pick<PassRow, 'id' | 'password_session_id'>) =>
	sessionId === null ? `pass:${id}` : `session:${sessionId}`;

/** Returns null when the password was erased. @throws Error when the secret or the pass does not match */
const unsealPassword = (secrets: Secrets, pass: PassRow): string | null =>
	pass.password_sealed === null ? null : secrets.decrypt(pass.password_sealed, contextOf(pass));

const sealPassword = (secrets: Secrets, id: number, password: string) => ({
	password_sealed: secrets.encrypt(password, contextOf({ id, password_session_id: null })),
	password_session_id: null
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
	const newest = await newestWithPassword(queries);
	if (!newest) return null;
	if (!isReadable(secrets, newest)) return 'none';
	return (await opensRunningPasses(queries, secrets, now)) ? 'all' : 'new';
}

/** Checks the password of the oldest pass whose time runs. */
export async function opensRunningPasses(queries: Queries, secrets: Secrets, now: number): Promise<boolean> {
	const oldest = await oldestOpenWithPassword(queries, now);
	return !oldest || isReadable(secrets, oldest);
}

function isReadable(secrets: Secrets, pass: PassRow): boolean {
	try {
		return unsealPassword(secrets, pass) !== null;
	} catch {
		return false;
	}
}

export type PassRow = Selectable<PassesTable>;

const insert = (queries: Queries, pass: Insertable<PassesTable>): Promise<PassRow> =>
	queries.insertInto('passes').values(pass).returningAll().executeTakeFirstOrThrow();

export const find = (queries: Reads, id: number): Promise<PassRow | null> =>
	first(queries.selectFrom('passes').selectAll().where('id', '=', id));

const findAll = async (queries: Queries, ids: readonly number[]): Promise<PassRow[]> =>
	ids.length === 0 ? [] : queries.selectFrom('passes').selectAll().where('id', 'in', ids).execute();

const change = (queries: Queries, id: number, to: Updateable<PassesTable>): Promise<PassRow> =>
	queries.updateTable('passes').set(to).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Adds data in one statement. Returns null, and adds nothing, if a device cannot have used that much since the start. */
async function addUsedDataToPass(
	queries: Queries,
	id: number,
	bytes: number,
	now: number
): Promise<PassRow | null> {
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

const withPassword = (queries: Queries) =>
	queries.selectFrom('passes').selectAll().where('password_sealed', 'is not', null);

const openWithPassword = (queries: Queries, now: number) =>
	withPassword(queries)
		.where((pass) => pass.or([pass('activating_until', 'is not', null), pass('ends_at', '>', now)]))
		.orderBy('id');

const openOf = (queries: Queries, routerId: number, now: number) =>
	openWithPassword(queries, now).where('router_id', '=', routerId);

export const openPassesAt = (
	queries: Queries,
	{ routerId, afterId }: { routerId: number; afterId: number },
	now: number,
	limit: number
) => openOf(queries, routerId, now).where('id', '>', afterId).limit(limit).execute();

const sharingPassword = (queries: Queries, routerId: number, now: number) =>
	openOf(queries, routerId, now).where('access_kind', '=', 'shared_password').execute();

const newestWithPassword = (queries: Queries) => first(withPassword(queries).orderBy('id', 'desc'));

const oldestOpenWithPassword = (queries: Queries, now: number) => first(openWithPassword(queries, now));

async function waitingSeconds(queries: Reads, passId: number): Promise<number> {
	const { seconds } = await queries
		.selectFrom('sessions')
		.select(({ fn }) => fn.sum<number | null>('duration_seconds').as('seconds'))
		.where('pass_id', '=', passId)
		.where('status', '=', 'activating')
		.executeTakeFirstOrThrow();
	return seconds ?? 0;
}

/** Returns the end in ms since the epoch, or null when no session is active. */
async function lastActiveEnd(queries: Queries, passId: number): Promise<number | null> {
	const { at } = await queries
		.selectFrom('sessions')
		.select(({ fn }) => fn.max('expires_at').as('at'))
		.where('pass_id', '=', passId)
		.where('status', '=', 'active')
		.executeTakeFirstOrThrow();
	return at;
}

export async function reasonOfEnd(queries: Queries, passId: number): Promise<string | null> {
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

export const newestSessionOf = (
	queries: Queries,
	passId: number
): Promise<Selectable<SessionsTable> | null> =>
	first(queries.selectFrom('sessions').selectAll().where('pass_id', '=', passId).orderBy('id', 'desc'));

export const ssidOf = async (queries: Queries, routerId: number): Promise<string> => {
	const router = queries.selectFrom('routers').select('ssid').where('id', '=', routerId);
	return (await router.executeTakeFirstOrThrow()).ssid;
};

/** Creates the purchase that binds captive sessions to an API buyer's pass, unless it exists. */
export async function addPurchase(
	queries: Queries,
	tokenHash: string,
	session: Selectable<SessionsTable>,
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

export async function sessionOfPurchase(queries: Queries, tokenHash: string): Promise<number | null> {
	const row = await queries
		.selectFrom('purchases')
		.select('session_id')
		.where('token_hash', '=', tokenHash)
		.executeTakeFirst();
	return row?.session_id ?? null;
}

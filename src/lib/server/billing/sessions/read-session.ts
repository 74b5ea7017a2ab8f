import type { PassRow } from '../../passes/passes.ts';
import type { SessionBody } from '#lib/server/contract/schemas.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { asOfNow, sessionBody } from './body.ts';
import type { SessionsContext } from './context.ts';
import * as store from './store.ts';
import { applyDueChange, current, extraTimeUntil, isDue } from './transition.ts';

type SessionRow = store.SessionRow;

export const sessionNotFound = () => new AppError('session_not_found', 'There is no session with this id.');

/** Returns a session that the caller may see. @throws AppError `session_not_found` */
export async function visible(queries: Queries, caller: Caller, id: number): Promise<SessionRow> {
	const row = await store.find(queries, id);
	if (!row || (row.account_id !== caller.accountId && caller.role !== 'admin')) throw sessionNotFound();
	return row;
}

/** Returns a session at a router of this owner, after due changes. @throws AppError `session_not_found` */
export async function sessionAtOwner(
	context: SessionsContext,
	trx: Tx,
	accountId: number,
	id: number
): Promise<SessionRow> {
	const found = await store.find(trx, id);
	const router = found && (await context.routers.findOrThrow(trx, found.router_id));
	if (!found || router?.owner_account_id !== accountId) throw sessionNotFound();
	return applyDueChange(context, trx, found);
}

/** Lists the sessions that an account created, newest first, without passwords. */
export async function listSessions(
	context: SessionsContext,
	{ accountId }: Pick<Caller, 'accountId'>,
	search: Parameters<typeof store.ofAccount>[2]
) {
	const { database, clock, passes } = context;
	const now = clock.now();
	const { rows, next } = await store.ofAccount(database.db, accountId, search);
	const found = rows.map((row) => asOfNow(row, now));
	// A session that is over has left the state that was asked for.
	const shown = found.filter(({ status }) => (search.status ?? status) === status);
	const passIds = shown.flatMap(({ pass_id: id }) => id ?? []);
	const passOf = new Map((await passes.findAll(database.db, passIds)).map((pass) => [pass.id, pass]));
	const data = shown.map((row) => sessionBody(row, passOf.get(row.pass_id ?? 0) ?? null, now, null));
	return { data, next };
}

/** Returns the session; only the buyer gets the password. @throws AppError `session_not_found` */
export async function readSession(
	context: SessionsContext,
	caller: Caller,
	id: number
): Promise<SessionBody> {
	const { database, clock, passes } = context;
	const found = await visible(database.db, caller, id);
	const isChanging = isDue(found, clock.now());
	const row = isChanging ? await database.transact((trx) => current(context, trx, id)) : found;
	const isBuyer = row.account_id === caller.accountId;
	const pass = row.pass_id === null ? null : await passes.findOrThrow(database.db, row.pass_id);
	// The pass may have ended since the read, which erases its password.
	if (!isBuyer || row.status !== 'active' || !pass || pass.password_sealed === null) {
		return sessionBody(row, pass, clock.now(), null);
	}
	return withPassword(context, row, pass);
}

async function withPassword(
	{ database, clock, passes, routers }: SessionsContext,
	row: SessionRow,
	pass: PassRow
): Promise<SessionBody> {
	const router = await routers.findOrThrow(database.db, row.router_id);
	// The network's name may have changed since the order.
	return sessionBody({ ...row, ssid: router.ssid }, pass, clock.now(), {
		password: passes.passwordOf(pass),
		security: router.security,
		hidden: router.hidden === 1,
		networkPassword: routers.networkPassword(router)
	});
}

/**
 * Returns an expired session during extra time as its buyer's page shows it: active, until the extra time ends. Returns
 * null without such time. The API itself never shows it: there, expired is final.
 */
export async function readExtended(context: SessionsContext, id: number): Promise<SessionBody | null> {
	const { db } = context.database;
	const row = await store.find(db, id);
	const end = row ? await extraTimeUntil(context, db, row) : null;
	if (end === null || row?.pass_id == null) return null;
	const pass = await context.passes.findOrThrow(db, row.pass_id);
	const shown = { ...row, status: 'active', expires_at: end, ended_at: null } as const;
	return pass.password_sealed === null ? null : withPassword(context, shown, pass);
}

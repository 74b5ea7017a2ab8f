import { sql } from 'kysely';
import { toMajor } from '#lib/domain/money.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { DAY_MS } from '#lib/domain/time.ts';
import type { Caller } from '../accounts/accounts.ts';
import type { Base } from '../base.ts';
import type { OwnerUserBody } from '../contract/owner.ts';
import type { Queries } from '../db/database.ts';
import { countRows, cutPage } from '../db/queries.ts';
import { isoTime } from '../platform/clock.ts';
import { expireIfOver } from './sessions.ts';

/** Sessions on an owner's routers, as the pages and the API show them to the owner. */

type Owner = Pick<Caller, 'accountId'>;

/** A session that ended early counts as expired. */
type SessionGroup = 'active' | 'expired';

interface Found {
	data: OwnerUserBody[];
	next: [number, number] | null;
}

/** Each span of a search is so many times as long as the one before. */
const GROWTH = 4;

/** Lists sessions on an owner's routers, latest start first, without passwords and full numbers. */
export async function listSessionsForOwner(
	context: Base,
	owner: Owner,
	{ group, ...page }: Page & { group: SessionGroup | null }
): Promise<Found> {
	const { db } = context.database;
	const of = { accountId: owner.accountId, now: context.clock.now() };
	const search = { ...page, limit: page.limit + 1 };
	const found =
		group === 'active'
			? await findRunningOfOwner(db, of, search)
			: await readBegun(db, of, group === 'expired', search);
	const { rows, next } = cutPage(found, page.limit, ({ starts_at, id }): [number, number] => [starts_at, id]);
	return { data: rows.map((row) => describeForOwner(row, of.now)), next };
}

/** Counts what `listSessionsForOwner` lists. Those that are over are the owner's whole history. */
export function countSessionsForOwner(
	{ clock, database: { db } }: Base,
	{ accountId }: Owner,
	group: SessionGroup
): Promise<number> {
	const of = { accountId, now: clock.now() };
	return group === 'active' ? countRunning(db, of) : countEnded(db, of);
}

/** Reads about as many sessions as it returns. */
async function readBegun(db: Queries, of: OwnerNow, isOver: boolean, { after, limit }: Page) {
	const rows: OwnerRow[] = [];
	const end = (after?.[0] ?? Number.MAX_SAFE_INTEGER - 1) + 1;
	// The first page begins with the few sessions that start in the future.
	let span = { from: Math.min(of.now, end - DAY_MS), until: end };
	for (let lengthMs = DAY_MS; ; lengthMs *= GROWTH) {
		const page = { after, limit: limit - rows.length };
		rows.push(...(await findBegunOfOwner(db, of, { ...span, isOver, ...page })));
		if (rows.length >= limit) return rows;
		const latest = await findLatestStart(db, of.accountId, span.from);
		if (latest === null) return rows;
		span = { from: latest - lengthMs, until: span.from };
	}
}

function describeForOwner(stored: OwnerRow, now: number): OwnerUserBody {
	const row = expireIfOver(stored, now);
	const { status } = row;
	return {
		session_id: row.id,
		router_id: row.router_id,
		router_name: row.router_name,
		status,
		group: status === 'active' ? 'active' : 'expired',
		phone_masked: maskPhone(row.phone),
		duration: row.duration,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		starts_at: isoTime(row.starts_at),
		expires_at: isoTime(row.expires_at),
		ended_at: isoTime(row.ended_at),
		remaining_seconds: status === 'active' ? Math.max(0, Math.ceil((row.expires_at - now) / 1000)) : 0
	};
}

type OwnerRow = Awaited<ReturnType<typeof findRunningOfOwner>>[number];

interface OwnerNow {
	accountId: number;
	now: number;
}

interface Page {
	/** Start and id of the previous page's last session. */
	after: readonly [number, number] | null;
	limit: number;
}

const selectOfOwner = (queries: Queries, accountId: number) =>
	queries
		.selectFrom('sessions')
		.innerJoin('routers', 'routers.id', 'sessions.router_id')
		.where('routers.owner_account_id', '=', accountId);

/** A session whose time is over does not run, even before its job has run. */
const selectRunning = (queries: Queries, { accountId, now }: OwnerNow) =>
	selectOfOwner(queries, accountId)
		.where('sessions.status', '=', 'active')
		// As an expression: SQLite would use the index of starts, which has the whole history.
		.where(sql<boolean>`coalesce(sessions.starts_at, 0) <= ${now}`)
		.where('sessions.expires_at', '>', now);

const readByStart = (query: ReturnType<typeof selectOfOwner>, { after, limit }: Page) =>
	query
		.$if(after !== null, (rest) =>
			rest.where(sql<boolean>`(sessions.starts_at, sessions.id) < (${after?.[0]}, ${after?.[1]})`)
		)
		.select([
			'sessions.id',
			'sessions.router_id',
			'routers.name as router_name',
			'sessions.status',
			'sessions.phone',
			'sessions.duration',
			'sessions.amount_minor',
			'sessions.currency',
			'sessions.ended_at',
			sql<number>`sessions.starts_at`.as('starts_at'),
			sql<number>`sessions.expires_at`.as('expires_at')
		])
		.orderBy('sessions.starts_at', 'desc')
		.orderBy('sessions.id', 'desc')
		.limit(limit)
		.execute();

export const findRunningOfOwner = (queries: Queries, owner: OwnerNow, page: Page) =>
	readByStart(selectRunning(queries, owner), page);

/**
 * Sessions that started in a span, in ms since the epoch: those that are over, or these and those that run. Added time
 * counts from its own start: until then the owner sees the session before it.
 */
export const findBegunOfOwner = (
	queries: Queries,
	{ accountId, now }: OwnerNow,
	{ from, until, isOver, ...page }: Page & { from: number; until: number; isOver: boolean }
) =>
	readByStart(
		selectOfOwner(queries, accountId)
			.where('sessions.starts_at', '>=', from)
			.where('sessions.starts_at', '<', until)
			// As an expression: SQLite would use the index of states, which has no times.
			.where(sql<boolean>`coalesce(sessions.status, '') in ('active', 'expired', 'ended')`)
			.where(
				isOver
					? sql<boolean>`(sessions.status <> 'active' or sessions.expires_at <= ${now})`
					: sql<boolean>`(sessions.status <> 'active' or sessions.starts_at <= ${now})`
			),
		page
	);

export const countRunning = (queries: Queries, owner: OwnerNow) => countRows(selectRunning(queries, owner));

/** By state first, because its index has everything that most of the history needs. */
export async function countEnded(queries: Queries, { accountId, now }: OwnerNow): Promise<number> {
	const sessions = selectOfOwner(queries, accountId);
	const ended = sessions.where('sessions.status', 'in', ['expired', 'ended']);
	const due = sessions.where('sessions.status', '=', 'active').where('sessions.expires_at', '<=', now);
	return (await countRows(ended)) + (await countRows(due));
}

/** The latest start before a time; null if there is none. Reads one row of each router. */
export async function findLatestStart(queries: Queries, accountId: number, before: number) {
	const { rows } = await sql<{ latest: number | null }>`
		select max(latest) as latest from (
			select (select starts_at from sessions where router_id = routers.id and starts_at < ${before}
				order by starts_at desc limit 1) as latest
			from routers where owner_account_id = ${accountId}
		) as latest_of_router`.execute(queries);
	return rows[0]?.latest ?? null;
}

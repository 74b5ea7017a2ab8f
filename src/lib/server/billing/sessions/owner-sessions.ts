import { DAY_MS } from '#lib/format/time.ts';
import type { OwnerUserBody } from '#lib/server/contract/schemas.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { pageOf } from '#lib/server/db/newest-first.ts';
import { ownerUserBody } from './body.ts';
import type { SessionsContext } from './context.ts';
import * as store from './store.ts';

type Owner = Pick<Caller, 'accountId'>;

/** A session that ended early counts as expired. */
type SessionGroup = 'active' | 'expired';

interface Page {
	limit: number;
	/** Start and id of the previous page's last session. */
	after: readonly [number, number] | null;
}

interface Found {
	data: OwnerUserBody[];
	next: [number, number] | null;
}

/** Each span of a search is so many times as long as the one before. */
const GROWTH = 4;

/** Lists sessions on an owner's routers, latest start first, without passwords and full numbers. */
export async function listForOwner(
	context: SessionsContext,
	owner: Owner,
	{ group, ...page }: Page & { group: SessionGroup | null }
): Promise<Found & { counts: Record<SessionGroup, number> }> {
	const { db } = context.database;
	const of = { accountId: owner.accountId, now: context.clock.now() };
	const [found, active, expired] = await Promise.all([
		group === 'active' ? listRunning(context, of, page) : listBegun(context, of, group === 'expired', page),
		store.countActiveOfOwner(db, of),
		store.countEndedOfOwner(db, of)
	]);
	return { ...found, counts: { active, expired } };
}

/** Lists the sessions of `listForOwner` that run, without reading those that are over. */
export async function activeForOwner(
	context: SessionsContext,
	{ accountId }: Owner,
	page: Page
): Promise<Found & { count: number }> {
	const of = { accountId, now: context.clock.now() };
	const [found, count] = await Promise.all([
		listRunning(context, of, page),
		store.countActiveOfOwner(context.database.db, of)
	]);
	return { ...found, count };
}

/** Lists the sessions of `listForOwner` that are over, without counting them. */
export const endedForOwner = (context: SessionsContext, { accountId }: Owner, page: Page): Promise<Found> =>
	listBegun(context, { accountId, now: context.clock.now() }, true, page);

type OwnerNow = Owner & { now: number };

async function listRunning({ database: { db } }: SessionsContext, of: OwnerNow, page: Page): Promise<Found> {
	const rows = await store.runningOfOwner(db, of, { ...page, limit: page.limit + 1 });
	return foundOf(rows, page, of);
}

/** Reads about as many sessions as it returns. */
async function listBegun(
	{ database: { db } }: SessionsContext,
	of: OwnerNow,
	isOver: boolean,
	page: Page
): Promise<Found> {
	const rows: store.OwnerRow[] = [];
	const end = (page.after?.[0] ?? Number.MAX_SAFE_INTEGER - 1) + 1;
	// The first page begins with the few sessions that start in the future.
	let span = { from: Math.min(of.now, end - DAY_MS), until: end };
	for (let lengthMs = DAY_MS; ; lengthMs *= GROWTH) {
		const limit = page.limit + 1 - rows.length;
		rows.push(...(await store.begunOfOwner(db, of, { ...span, isOver, after: page.after, limit })));
		if (rows.length > page.limit) break;
		const latest = await store.latestStartOfOwner(db, of.accountId, span.from);
		if (latest === null) break;
		span = { from: latest - lengthMs, until: span.from };
	}
	return foundOf(rows, page, of);
}

function foundOf(rows: readonly store.OwnerRow[], { limit }: Page, { now }: OwnerNow): Found {
	const page = pageOf(rows, limit, ({ starts_at, id }): [number, number] => [starts_at, id]);
	return { data: page.rows.map((row) => ownerUserBody(row, now)), next: page.next };
}

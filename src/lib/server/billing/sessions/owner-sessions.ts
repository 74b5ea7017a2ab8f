import { DAY_MS } from '#lib/domain/time/time.ts';
import type { OwnerUserBody } from '#lib/server/contract/schemas.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { Queries } from '#lib/server/db/database.ts';
import { pageOf } from '#lib/server/db/newest-first.ts';
import { ownerUserBody } from './body.ts';
import type { SessionsContext } from './context.ts';
import * as store from './store.ts';

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
export async function listForOwner(
	context: SessionsContext,
	owner: Owner,
	{ group, ...page }: store.Page & { group: SessionGroup | null }
): Promise<Found> {
	const { db } = context.database;
	const of = { accountId: owner.accountId, now: context.clock.now() };
	const search = { ...page, limit: page.limit + 1 };
	const found =
		group === 'active'
			? await store.runningOfOwner(db, of, search)
			: await readBegun(db, of, group === 'expired', search);
	const { rows, next } = pageOf(found, page.limit, ({ starts_at, id }): [number, number] => [starts_at, id]);
	return { data: rows.map((row) => ownerUserBody(row, of.now)), next };
}

/** Counts what `listForOwner` lists. Those that are over are the owner's whole history. */
export function countForOwner(
	{ clock, database: { db } }: SessionsContext,
	{ accountId }: Owner,
	group: SessionGroup
): Promise<number> {
	const of = { accountId, now: clock.now() };
	return group === 'active' ? store.countActiveOfOwner(db, of) : store.countEndedOfOwner(db, of);
}

/** Reads about as many sessions as it returns. */
async function readBegun(
	db: Queries,
	of: store.Owner,
	isOver: boolean,
	{ after, limit }: store.Page
): Promise<store.OwnerRow[]> {
	const rows: store.OwnerRow[] = [];
	const end = (after?.[0] ?? Number.MAX_SAFE_INTEGER - 1) + 1;
	// The first page begins with the few sessions that start in the future.
	let span = { from: Math.min(of.now, end - DAY_MS), until: end };
	for (let lengthMs = DAY_MS; ; lengthMs *= GROWTH) {
		const page = { after, limit: limit - rows.length };
		rows.push(...(await store.begunOfOwner(db, of, { ...span, isOver, ...page })));
		if (rows.length >= limit) return rows;
		const latest = await store.latestStartOfOwner(db, of.accountId, span.from);
		if (latest === null) return rows;
		span = { from: latest - lengthMs, until: span.from };
	}
}

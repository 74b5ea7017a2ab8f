import { DAY_MS } from '#lib/format/time.ts';
import type { OwnerUserBody } from '#lib/server/api/contract/schemas.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import { pageOf } from '#lib/server/db/newest-first.ts';
import { ownerUserBody } from './body.ts';
import type { SessionsContext } from './context.ts';
import * as store from './store.ts';

type Owner = Pick<Caller, 'accountId'>;

/** A session that ended early counts as expired. */
type SessionGroup = 'active' | 'expired';

interface Page {
	limit: number;
	/** Position of the previous page's last session: its id after the time by which the list is sorted. */
	after: readonly [number, number] | null;
}

interface Found {
	data: OwnerUserBody[];
	next: [number, number] | null;
}

/** Each span of a search is so many times as long as the one before. */
const GROWTH = 4;

const startOf = ({ starts_at, id }: store.OwnerRow): [number, number] => [starts_at, id];

/** Lists sessions on an owner's routers, latest start first, without passwords and full numbers. */
export async function listForOwner(
	{ database, clock }: SessionsContext,
	{ accountId }: Owner,
	{ group, limit, after }: Page & { group: SessionGroup | null }
): Promise<Found & { counts: Record<SessionGroup, number> }> {
	const now = clock.now();
	const owner = { accountId, now };
	const [rows, active, expired] = await Promise.all([
		store.ofOwner(database.db, owner, { group, after, limit: limit + 1 }),
		store.countActiveOfOwner(database.db, owner),
		store.countEndedOfOwner(database.db, owner)
	]);
	const page = pageOf(rows, limit, startOf);
	return {
		data: page.rows.map((row) => ownerUserBody(row, now)),
		next: page.next,
		counts: { active, expired }
	};
}

/** Lists the sessions of `listForOwner` that run, without reading those that are over. */
export async function activeForOwner(
	{ database, clock }: SessionsContext,
	{ accountId }: Owner,
	{ limit, after }: Page
): Promise<Found & { count: number }> {
	const now = clock.now();
	const owner = { accountId, now };
	const [rows, count] = await Promise.all([
		store.ofOwner(database.db, owner, { group: 'active', after, limit: limit + 1 }),
		store.countActiveOfOwner(database.db, owner)
	]);
	const page = pageOf(rows, limit, startOf);
	return { data: page.rows.map((row) => ownerUserBody(row, now)), next: page.next, count };
}

/** Lists the sessions of `listForOwner` that are over, latest order first. Reads about as many as it returns. */
export async function endedForOwner(
	{ database, clock }: SessionsContext,
	{ accountId }: Owner,
	{ limit, after }: Page
): Promise<Found> {
	const now = clock.now();
	const rows: store.OwnerRow[] = [];
	let until = (after?.[0] ?? now) + 1;
	for (let spanMs = DAY_MS; rows.length <= limit; spanMs *= GROWTH) {
		const newest = await store.newestOrderOfOwner(database.db, accountId, until);
		if (newest === null) break;
		const page = { from: newest - spanMs, until, after, limit: limit + 1 - rows.length };
		rows.push(...(await store.endedOfOwner(database.db, { accountId, now }, page)));
		until = page.from;
	}
	const page = pageOf(rows, limit, ({ created_at, id }): [number, number] => [created_at, id]);
	return { data: page.rows.map((row) => ownerUserBody(row, now)), next: page.next };
}

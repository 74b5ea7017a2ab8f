import { isPossibleGrowth } from '#lib/domain/data-limit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import type { AccessContext } from './context.ts';
import * as store from './grants/store.ts';

/**
 * Adds data that a device has used since its last report, and ends the pass at its data limit. Runs in the
 * transaction that stores the counter, so that nothing counts twice.
 */
export async function countData(
	{ passes, sessions }: AccessContext,
	trx: Tx,
	passId: number,
	bytes: number
): Promise<void> {
	if (bytes > 0 && (await passes.addUsedData(trx, passId, bytes))) await sessions.endAtDataLimit(trx, passId);
}

/**
 * Counts the data of a device whose gateway keeps a counter per device (bytes up and down together), once for all its
 * grants: for the one granted last. A smaller counter than the last one has started again at 0. Ignores a counter that
 * cannot be.
 */
export async function countGrants(
	context: AccessContext,
	trx: Tx,
	grants: readonly [store.GrantRow, ...store.GrantRow[]],
	counter: number
): Promise<void> {
	const now = context.clock.now();
	const latest = (at: (grant: store.GrantRow) => number | null) =>
		grants.reduce((one, other) => ((at(other) ?? 0) > (at(one) ?? 0) ? other : one));
	const grant = latest((one) => one.granted_at);
	const read = latest((one) => one.data_reported_at);
	const growth = counter < read.data_bytes ? counter : counter - read.data_bytes;
	const since = read.data_reported_at ?? grant.granted_at ?? grant.created_at;
	if (!Number.isSafeInteger(counter) || counter < 0 || !isPossibleGrowth(growth, now - since)) return;
	const to = { data_bytes: counter, data_reported_at: now };
	for (const { id } of grants) await store.changeOpen(trx, id, to);
	await countData(context, trx, grant.pass_id, growth);
}

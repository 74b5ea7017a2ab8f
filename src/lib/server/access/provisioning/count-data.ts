import { isPossibleGrowth } from '#lib/domain/data-limit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import type { AccessContext } from './context.ts';
import * as store from './grants/store.ts';

type DataContext = Pick<AccessContext, 'clock' | 'passes' | 'sessions'>;

/**
 * Adds data that a device has used since its last report, and ends the pass at its data limit. Runs in the
 * transaction that stores the counter, so that nothing counts twice.
 */
export async function countData(
	{ passes, sessions }: DataContext,
	trx: Tx,
	passId: number,
	bytes: number
): Promise<void> {
	if (bytes > 0 && (await passes.addData(trx, passId, bytes))) await sessions.endUsedUp(trx, passId);
}

/**
 * Counts the data of a device whose gateway keeps a counter per device (bytes up and down together). A smaller
 * counter than the last one has started again at 0. Ignores a counter that cannot be.
 */
export async function countGrant(
	context: DataContext,
	trx: Tx,
	{ id }: Pick<store.GrantRow, 'id'>,
	counter: number
): Promise<void> {
	const now = context.clock.now();
	const grant = await store.findGrant(trx, id);
	if (!grant) return;
	const growth = counter < grant.data_bytes ? counter : counter - grant.data_bytes;
	const since = grant.data_reported_at ?? grant.granted_at ?? grant.created_at;
	if (!Number.isSafeInteger(counter) || counter < 0 || !isPossibleGrowth(growth, now - since)) return;
	const to = { data_bytes: counter, data_reported_at: now };
	if (await store.changeOpen(trx, id, to)) await countData(context, trx, grant.pass_id, growth);
}

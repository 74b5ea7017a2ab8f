import { dataLeft, isPossibleGrowth } from '#lib/domain/data-limit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { Unavailable } from '#lib/server/gateways/gateway.ts';
import { UNSEEN_BYTES, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { openPass, type OpenPass } from '../../passes/passes.ts';
import type { AccessContext } from './context.ts';
import { MAX_BACKOFF_MS, tryCall } from './grants/call-gateway.ts';
import { loginOf, othersOf } from './grants/desired-end.ts';
import * as store from './grants/store.ts';
import { controllerOf } from './targets.ts';

/** Intervals between reads of a counter: shorter when little is left. */
const READ_MS = { most: 60_000, least: 15_000 };

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
 * Reads the counter of a device, or user, whose pass has a data limit. Without an answer nothing changes.
 * @returns when to read again (ms since the epoch), at the latest at the end of the pass
 */
export async function readUsage(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number> {
	const current = await countUsage(context, grant, gateway, open);
	return current ? Math.min(current.untilMs, nextRead(context, gateway, current)) : context.clock.now();
}

/** Counts what a device, or user, has used since the last read. Returns its pass as it is then; null if it is over. */
export async function countUsage(
	context: AccessContext,
	grant: store.GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<OpenPass | null> {
	const { database, gateways, clock, transport } = context;
	const controller = controllerOf(gateway);
	if (!controller || open.pass.data_limit_mb === null) return open;
	const login = await loginOf(context, grant, open);
	const counter = await tryCall(context, gateway, () => controller.usage(login, gateway, transport));
	if (counter instanceof Unavailable) return open;
	// A read says nothing about the trouble with what was sent.
	await gateways.recordStatus(gateway, { seen: true });
	if (counter === null) return open;
	await context.database.transact(async (trx) => {
		const own = await store.findGrant(trx, grant.id);
		// Counted meanwhile, perhaps from a newer counter: this one would look as if it had begun again.
		if (own?.data_reported_at !== grant.data_reported_at) return;
		await countGrants(context, trx, [own, ...(await othersOf(context, trx, own, gateway))], counter);
	});
	return openPass(database.db, grant.pass_id, clock.now());
}

/** Returns when a counter must be read: before a fast device can have used all that is left. */
export function nextRead(
	{ clock }: AccessContext,
	gateway: RegisteredGateway,
	{ pass }: Pick<OpenPass, 'pass'>
): number {
	const left = dataLeft(pass);
	if (left === null || !controllerOf(gateway)) return Infinity;
	// Buyers at gateways in trouble share the slots for calls.
	if (gateway.unresponsiveSince !== null) return clock.now() + MAX_BACKOFF_MS;
	const ms = Math.floor((left / UNSEEN_BYTES) * READ_MS.least);
	return clock.now() + Math.min(READ_MS.most, Math.max(READ_MS.least, ms));
}

/**
 * Counts the data of a device whose gateway keeps a counter per device (bytes up and down together), once for all its
 * grants: for the one granted last. A smaller counter than the last one has started again at 0. Ignores a counter that
 * cannot be.
 */
async function countGrants(
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

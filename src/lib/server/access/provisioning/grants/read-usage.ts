import { dataLeft } from '#lib/domain/data-limit.ts';
import { Unavailable } from '#lib/server/gateways/gateway.ts';
import { UNSEEN_BYTES, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { openPass, type OpenPass } from '#lib/server/passes/pass-state.ts';
import { transactWithJobs, type AccessContext } from '../context.ts';
import { countGrants } from '../count-data.ts';
import { controllerOf } from '../targets.ts';
import { MAX_BACKOFF_MS, tryCall } from './call-gateway.ts';
import { loginOf, othersOf } from './desired-end.ts';
import { findGrant, type GrantRow } from './store.ts';

/** Intervals between reads of a counter: shorter when little is left. */
const READ_MS = { most: 60_000, least: 15_000 };

/**
 * Reads the counter of a device, or user, whose pass has a data limit. Without an answer nothing changes.
 * @returns when to read again (ms since the epoch), at the latest at the end of the pass
 */
export async function readUsage(
	context: AccessContext,
	grant: GrantRow,
	gateway: RegisteredGateway,
	open: OpenPass
): Promise<number> {
	const current = await countUsage(context, grant, gateway, open);
	return current ? Math.min(current.untilMs, nextRead(context, gateway, current)) : context.clock.now();
}

/** Counts what a device, or user, has used since the last read. Returns its pass as it is then; null if it is over. */
export async function countUsage(
	context: AccessContext,
	grant: GrantRow,
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
	await transactWithJobs(context, async (trx) => {
		const own = await findGrant(trx, grant.id);
		if (!own) return;
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

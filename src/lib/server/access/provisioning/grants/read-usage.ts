import { dataLeft } from '#lib/domain/data-limit.ts';
import { Unavailable } from '#lib/server/gateways/gateway.ts';
import { UNSEEN_BYTES, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { OpenPass } from '../../passes/pass-state.ts';
import type { AccessContext } from '../context.ts';
import { countGrant } from '../count-data.ts';
import { controllerOf } from '../targets.ts';
import { callGateway } from './call-gateway.ts';
import { loginOf } from './desired-end.ts';
import type { GrantRow } from './store.ts';

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
	const { database, passes, jobs, clock, reach } = context;
	const readAt = (current: Pick<OpenPass, 'pass'>) =>
		Math.min(open.untilMs, nextRead(context, gateway, current));
	const controller = controllerOf(gateway);
	if (!controller || open.pass.data_limit_mb === null) return open.untilMs;
	const login = await loginOf(context, grant, open);
	const counter = await callGateway(context, gateway, () => controller.usage(login, gateway, reach));
	if (counter === null || counter instanceof Unavailable) return readAt(open);
	const pass = await database.transact(async (trx) => {
		await countGrant(context, trx, grant, counter);
		return passes.known(trx, grant.pass_id);
	});
	jobs.nudge();
	return dataLeft(pass) === 0 ? clock.now() : readAt({ pass });
}

/** Returns when a counter must be read: before a fast device can have used all that is left. */
export function nextRead(
	{ clock }: AccessContext,
	gateway: RegisteredGateway,
	{ pass }: Pick<OpenPass, 'pass'>
): number {
	const left = dataLeft(pass);
	if (left === null || !controllerOf(gateway)) return Infinity;
	const ms = Math.floor((left / UNSEEN_BYTES) * READ_MS.least);
	return clock.now() + Math.min(READ_MS.most, Math.max(READ_MS.least, ms));
}

import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import type { GatewayChange } from '#lib/server/gateways/settings/input.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { InputError } from '#lib/server/platform/errors.ts';
import { openPassesAt, type PassRow } from '#lib/server/passes/passes.ts';
import { GATEWAY_JOB } from '../../job-kinds.ts';
import type { AccessContext } from '../context.ts';
import { openIdsAt } from '../grants/store.ts';
import { requestAgain, requestUsers } from '../request-grant.ts';
import { targetsAt } from '../targets.ts';

/**
 * Changes the settings of a gateway. Its portal address and secrets stay. Devices stay online: what was granted
 * is granted again over a new connection.
 * @param audit writes rows in the same transaction
 * @throws InputError with every wrong field, or if somebody would lose access; then nothing changes
 */
export const changeGateway = (
	context: AccessContext,
	id: number,
	change: GatewayChange,
	audit?: (trx: Tx, after: RegisteredGateway) => Promise<void>
): Promise<RegisteredGateway> =>
	context.database.transact(async (trx) => {
		const { clock, gateways, jobs, offers } = context;
		const { before, after, isReconnected } = await gateways.set(trx, id, change);
		await refuseStranding(context, trx, before, after);
		for (const routerId of new Set([before.routerId, after.routerId])) {
			await offers.checkHeld(trx, routerId, { gateway: { before, after } });
		}
		await audit?.(trx, after);
		if (!isReconnected) return after;
		await requestAgain(context, trx, { gatewayId: after.id });
		await jobs.schedule(trx, GATEWAY_JOB, after.id, clock.now());
		return after;
	});

async function refuseStranding(
	{ clock }: AccessContext,
	trx: Tx,
	before: RegisteredGateway,
	after: RegisteredGateway
): Promise<void> {
	if (before.routerId !== after.routerId) {
		const [open] = await openPassesAt(trx, { routerId: before.routerId, afterId: 0 }, clock.now(), 1);
		if (open) {
			const reason = `buyers have time left at router ${before.routerId}, and would lose access; move the gateway when it has ended`;
			throw new InputError([{ field: 'router', reason }]);
		}
	}
	if (before.mode === after.mode) return;
	const { length: count } = await openIdsAt(trx, before.id);
	if (count === 0) return;
	const reason = `buyers are online there (${count}), and their access could no longer be ended; change this after their time has ended`;
	const field = before.kind === 'mikrotik' ? 'control' : before.kind === 'unifi' ? 'api' : 'level';
	throw new InputError([{ field, reason }]);
}

/** Passes per transaction, so that other writers get a turn. */
const BATCH = 100;

/** Requests users at a new gateway (job GATEWAY_JOB). Safe to repeat: existing grants do not change. */
export async function gatewayAdded(context: AccessContext, gatewayId: number): Promise<null> {
	const { clock, gateways } = context;
	const gateway = await gateways.byId(gatewayId);
	if (!gateway) return null;
	const { routerId } = gateway;
	let afterId = 0;
	let passes: PassRow[];
	do {
		const after = { routerId, afterId };
		passes = await context.database.transact(async (trx) => {
			const batch = await openPassesAt(trx, after, clock.now(), BATCH);
			const targets = await targetsAt(context, trx, routerId);
			for (const pass of batch) await requestUsers(context, trx, pass, targets, null);
			return batch;
		});
		afterId = passes.at(-1)?.id ?? afterId;
	} while (passes.length === BATCH);
	return null;
}

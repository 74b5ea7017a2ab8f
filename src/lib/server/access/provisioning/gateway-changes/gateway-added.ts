import type { PassRow } from '#lib/server/passes/passes.ts';
import { openPassesAt } from '#lib/server/passes/store.ts';
import { transactWithJobs, type AccessContext } from '../context.ts';
import { requestUsers } from '../request-grant.ts';
import { targetsAt } from '../targets.ts';

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
		passes = await transactWithJobs(context, async (trx) => {
			const batch = await openPassesAt(trx, after, clock.now(), BATCH);
			const targets = await targetsAt(context, trx, routerId);
			for (const pass of batch) await requestUsers(context, trx, pass, targets, null);
			return batch;
		});
		afterId = passes.at(-1)?.id ?? afterId;
	} while (passes.length === BATCH);
	return null;
}

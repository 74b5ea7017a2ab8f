import type { Database } from '#lib/server/db/database.ts';
import type { Gateways } from '#lib/server/gateways/gateways.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Plan } from './provisioning.ts';
import * as store from './store.ts';

export interface TellRunningParts {
	database: Database;
	gateways: Gateways;
	jobs: Jobs;
	plan: Plan;
}

/** What one transaction notes: others write in between. */
const PASSES_AT_ONCE = 100;

/**
 * A gateway was registered at a router where time runs: what it has to be told is noted, pass by pass. What is noted
 * already is left as it is, so that a process that dies half-way costs nothing but time.
 */
export async function tellRunning(parts: TellRunningParts, gatewayId: number): Promise<null> {
	const { database, gateways, jobs, plan } = parts;
	const gateway = await gateways.byId(gatewayId);
	if (!gateway) return null;
	const { routerId } = gateway;
	let afterPassId = 0;
	for (let isMore = true; isMore;) {
		const after = { routerId, afterPassId };
		const noted = await database.transact(async (trx) => {
			const rows = await store.runningAt(trx, after, PASSES_AT_ONCE);
			await plan.gatewayCame(trx, routerId, new Map(rows.map((row) => [row.pass_id, row])).values());
			return rows;
		});
		afterPassId = noted.at(-1)?.pass_id ?? afterPassId;
		isMore = noted.length === PASSES_AT_ONCE;
	}
	jobs.nudge();
	return null;
}

/** Moves the clocks of the server and of the operator, together. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Simulator } from '../simulators/simulator.ts';
import type { TestServer } from '../support/server/server.ts';
import type { Sql } from '../support/database/sql.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * Over every limit that there is: the leases of dead processes, the operator's window, the payment's, the order's and
 * the grace after it, the day of refused payments, the 72 hours of unanswered ones, and refunds of what came last.
 */
const STEPS = [
	...[6 * SECOND, 20 * SECOND, 20 * SECOND, MINUTE, 4 * MINUTE, 6 * MINUTE, 12 * MINUTE, 20 * MINUTE],
	...[31 * MINUTE, 2 * HOUR, 7 * HOUR, 15 * HOUR, 8 * HOUR, 25 * HOUR, 20 * HOUR, 2 * HOUR]
];
/** For answers that take several looks: they come with the last steps too. */
const LAST_STEP_MS = 70 * MINUTE;
const MAX_LAST_STEPS = 30;

/** Without a change of any job: longer than the leases of the dead. */
const STILL_MS = 10_000;
const QUIET_LIMIT_MS = 60_000;
const LOOK_MS = 25;

/** One process, or several with the same time. */
type ServerClock = Pick<TestServer, 'env' | 'advance'>;

export const serverNow = ({ env }: Pick<ServerClock, 'env'>): number =>
	Date.now() + Number(env['AIRTILL_TEST_CLOCK_OFFSET_MS'] ?? 0);

export interface Clocks {
	server: ServerClock;
	simulator: Simulator;
}

export async function advance({ server, simulator }: Clocks, ms: number): Promise<void> {
	simulator.advance(ms);
	await server.advance(ms);
}

/** Until no job is due and none is at work; for leases of the dead it does not wait for ever. */
export async function untilQuiet(server: Pick<ServerClock, 'env'>, sql: Sql): Promise<void> {
	const deadline = performance.now() + QUIET_LIMIT_MS;
	let before = '';
	for (let changedAt = performance.now(); performance.now() < deadline; await sleep(LOOK_MS)) {
		const now = serverNow(server);
		const [jobs] = await sql.all(
			`select count(*) as busy, cast(sum(run_at) as text) as due, sum(attempts) as attempts from jobs
				 where run_at <= ? or lease_until > ?`,
			now,
			now
		);
		const found = JSON.stringify(jobs);
		if (Number(jobs?.['busy']) === 0) return;
		if (found !== before) changedAt = performance.now();
		else if (performance.now() > changedAt + STILL_MS) return;
		before = found;
	}
}

/** Jobs about money, but for refunds of which a person has been told: those are asked about for ever. */
const OPEN = `select count(*) from jobs where (kind like 'payment.%' or kind like 'payout.%') and not (kind = 'payment.refund' and subject_id in (
	select refunds.id from refunds join reviews on reviews.payment_id = refunds.payment_id
	where reviews.reason = 'refund_no_final_answer'))`;

/** Lets the time pass in which everything must come to its end. @returns jobs about money that are still there */
export async function letTimePass(clocks: Clocks, sql: Sql): Promise<number> {
	const open = () => sql.count(OPEN);
	await untilQuiet(clocks.server, sql);
	for (const step of STEPS) {
		await advance(clocks, step);
		await untilQuiet(clocks.server, sql);
	}
	for (let extra = 0; extra < MAX_LAST_STEPS && (await open()) > 0; extra += 1) {
		await advance(clocks, LAST_STEP_MS);
		await untilQuiet(clocks.server, sql);
	}
	return open();
}

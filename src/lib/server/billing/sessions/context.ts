import type { Passes, PassRow } from '#lib/server/access/passes/passes.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import type { Events } from '#lib/server/events/events.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Operators } from '../operators/registry.ts';
import type { SessionRow } from './store.ts';

/** The services that the functions of this folder use. */
export interface SessionsContext {
	database: Database;
	clock: Clock;
	config: Config;
	jobs: Jobs;
	events: Events;
	routers: Routers;
	operators: Operators;
	passes: Passes;
	provisioning: SessionProvisioning;
}

/** The part of access/provisioning that sessions use. All of it runs in the transaction of the change. */
export interface SessionProvisioning {
	/**
	 * Plans the grants of a new pass.
	 * @returns until when a gateway must confirm it (ms since the epoch); null when its time may start now
	 */
	begin(trx: Tx, pass: PassRow): Promise<number | null>;
	/** Makes gateways compare what they know with the pass. */
	changed(trx: Tx, passId: number): Promise<void>;
	/** Plans the check whether the gateway learnt of time that is added at `startsAt`. */
	added(trx: Tx, session: Pick<SessionRow, 'id'>, startsAt: number): Promise<void>;
}

/** One per session: cancels an unpaid session, expires a paid one. */
export const SESSION_JOB = 'session.settle';

import type { Base } from '#lib/server/base.ts';
import type { Passes, PassRow } from '#lib/server/access/passes/passes.ts';
import type { Tx } from '#lib/server/db/database.ts';
import type { Events } from '#lib/server/events/events.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Operators } from '../operators/registry.ts';
import type { SessionRow } from './store.ts';

export interface SessionsContext extends Base {
	events: Events;
	routers: Routers;
	operators: Operators;
	passes: Passes;
	provisioning: SessionProvisioning;
}

/** The part of access/provisioning that sessions use, in the transaction of the change. */
export interface SessionProvisioning {
	/** Requests the grants of a new pass. Returns the gateway's deadline (epoch ms); null if time may start now. */
	requestGrants(trx: Tx, pass: PassRow): Promise<number | null>;
	/** Makes gateways compare their state with the pass. */
	syncGateways(trx: Tx, passId: number): Promise<void>;
	/** Schedules a check that the gateway received time added at `startsAt`. */
	scheduleUnconfirmedCheck(trx: Tx, session: Pick<SessionRow, 'id'>, startsAt: number): Promise<void>;
}

/** One per session: cancels an unpaid session, expires a paid one. */
export const SESSION_JOB = 'session.settle';

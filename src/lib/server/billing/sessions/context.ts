import type { Base } from '#lib/server/base.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { PassRow, Passes } from '../../passes/passes.ts';
import type { Events } from '#lib/server/events/events.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Operators } from '../operators/registry.ts';

export interface SessionsContext extends Base {
	events: Events;
	routers: Routers;
	operators: Operators;
	passes: Passes;
	provisioning: Provisioning;
	gateways: {
		/** Whether another account has registered all access points of the router, so that no device can sign in. */
		sellsNowhere(queries: Queries, routerId: number): Promise<boolean>;
	};
}

/** Sessions call access/ through this, in the transaction that changes them. access/ is built on sessions. */
export interface Provisioning {
	/**
	 * Requests the grants of a paid pass.
	 * @returns the deadline for a confirmation (ms since the epoch), or null if the time may start now
	 */
	requestGrants(trx: Tx, pass: PassRow): Promise<number | null>;
	/** Makes gateways compare their state with the pass. */
	scheduleGatewayCalls(trx: Tx, passId: number): Promise<void>;
	/**
	 * Schedules a check that the gateway received time added at `startsAt`, even if no gateway needs a grant yet: the
	 * device may move to one that does.
	 */
	scheduleUnconfirmedCheck(trx: Tx, sessionId: number, startsAt: number): Promise<void>;
}

/** One per session: cancels an unpaid session, expires a paid one. Stored jobs have this kind. */
export const SESSION_END_JOB = 'session.settle';

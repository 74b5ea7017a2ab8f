import type { Clock } from '../clock.ts';
import type { Tx } from '../db/database.ts';
import { eventId } from '../ids.ts';

export type EventType =
	| 'payment.success'
	| 'payment.failed'
	| 'payment.refunded'
	| 'session.created'
	| 'session.activated'
	| 'session.expired'
	| 'session.ended'
	| 'session.cancelled';

export interface NewEvent {
	type: EventType;
	accountId: number;
	routerId: number;
	sessionId: number;
	paymentId: number | null;
	/** The API object as it is after the change, without the password. */
	data: object;
}

/**
 * Notes a state change in the transaction that makes it, so that the list of events is exactly the list of
 * what happened. Webhooks are delivered from here.
 */
export async function recordEvent(trx: Tx, clock: Clock, event: NewEvent): Promise<void> {
	await trx
		.insertInto('events')
		.values({
			id: eventId(),
			type: event.type,
			account_id: event.accountId,
			router_id: event.routerId,
			session_id: event.sessionId,
			payment_id: event.paymentId,
			data: JSON.stringify(event.data),
			created_at: clock.now()
		})
		.execute();
}

import type { Clock } from '../platform/clock.ts';
import type { EventType } from '../api/contract/events.ts';
import type { Tx } from '../db/database.ts';
import { eventId } from '../platform/ids.ts';

export type { EventType };

export interface NewEvent {
	type: EventType;
	accountId: number;
	routerId: number;
	sessionId: number;
	paymentId: number | null;
	/** The API object after the change, without the password. */
	data: object;
}

export interface RecordedEvent extends NewEvent {
	/** `evt_<ULID>` */
	id: string;
	createdAt: number;
}

export type Events = ReturnType<typeof createEvents>;

/** @param publish runs in the transaction of the event */
export const createEvents = (clock: Clock, publish: (trx: Tx, event: RecordedEvent) => Promise<void>) => ({
	/** Records and publishes in the transaction of the state change: no event is lost or invented. */
	async record(trx: Tx, event: NewEvent): Promise<void> {
		const recorded = { ...event, id: eventId(), createdAt: clock.now() };
		await trx
			.insertInto('events')
			.values({
				id: recorded.id,
				type: event.type,
				account_id: event.accountId,
				router_id: event.routerId,
				session_id: event.sessionId,
				payment_id: event.paymentId,
				data: JSON.stringify(event.data),
				created_at: recorded.createdAt
			})
			.execute();
		await publish(trx, recorded);
	}
});

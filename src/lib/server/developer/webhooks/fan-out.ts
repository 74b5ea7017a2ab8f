import { isoTime } from '#lib/server/platform/clock.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { API_VERSION } from '#lib/server/api/contract/events.ts';
import type { Tx } from '#lib/server/db/database.ts';
import type { RecordedEvent } from '#lib/server/events/events.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

/**
 * From an event to its deliveries, in the transaction of the state change: no event is lost, and none is made up.
 * Bodies are written once, here; what is stored is what is signed and sent, every time.
 */
export interface FanOut {
	/** Nothing but one look at an index when nobody wants to hear of the event. */
	publish(trx: Tx, event: RecordedEvent): Promise<void>;
}

/** What a stored body is sealed for. */
export const bodyContext = (endpointId: number, eventId: string) => `webhook-body:${endpointId}:${eventId}`;

export interface Envelope {
	id: string;
	type: string;
	createdAt: number;
	data: object;
}

/** The body of an event, in the order of the wire format's examples. */
export const eventBody = ({ id, type, createdAt, data }: Envelope): string =>
	JSON.stringify({ id, type, timestamp: isoTime(createdAt), api_version: API_VERSION, data });

export function createFanOut(secrets: Secrets): FanOut {
	return {
		async publish(trx, event) {
			const endpoints = await store.recipients(trx, event);
			if (endpoints.length === 0) return;
			const whole = eventBody(event);
			const masked = eventBody({ ...event, data: withMaskedPhone(event.data) });
			await store.insertDeliveries(
				trx,
				endpoints.map(({ id, account_id, status }) => {
					const body = account_id === event.accountId ? whole : masked;
					return deliveryRow({ endpointId: id, status, event, body }, secrets);
				})
			);
		}
	};
}

/** A new delivery. What happens while an endpoint is disabled is kept for it, and not sent. */
export function deliveryRow(
	delivery: {
		endpointId: number;
		status: store.EndpointRow['status'];
		event: Pick<Envelope, 'id' | 'type' | 'createdAt'>;
		body: string;
	},
	secrets: Secrets
) {
	const { endpointId, status, event, body } = delivery;
	const isActive = status === 'active';
	return {
		endpoint_id: endpointId,
		event_id: event.id,
		type: event.type,
		body_sealed: secrets.encrypt(body, bodyContext(endpointId, event.id)),
		status: isActive ? 'pending' : 'failed',
		next_attempt_at: isActive ? event.createdAt : null,
		last_failure: isActive ? null : store.ENDPOINT_DISABLED,
		created_at: event.createdAt,
		updated_at: event.createdAt
	} as const;
}

/** The router's owner learns of what happened on the router, not who it was. */
function withMaskedPhone(data: object): object {
	return Object.fromEntries(
		Object.entries(data).map(([name, value]: [string, unknown]) =>
			name === 'phone' ? ['phone_masked', maskPhone(String(value))] : [name, value]
		)
	);
}

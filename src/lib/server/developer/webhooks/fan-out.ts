import type { Base } from '#lib/server/base.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { eventBody, type Envelope, type RecordedEvent } from '#lib/server/events/events.ts';
import * as store from './store.ts';

export const bodyContext = (endpointId: number, eventId: string) => `webhook-body:${endpointId}:${eventId}`;

/** Inserts deliveries in the transaction of the state change, so that no event is lost or invented. */
export const createFanOut =
	(base: Pick<Base, 'secrets' | 'jobs'>) =>
	async (trx: Tx, event: RecordedEvent): Promise<void> => {
		const endpoints = await store.recipients(trx, event);
		if (endpoints.length === 0) return;
		const whole = JSON.stringify(eventBody(event));
		const masked = JSON.stringify(eventBody({ ...event, data: withMaskedPhone(event.data) }));
		for (const { id, account_id, status } of endpoints) {
			const body = account_id === event.accountId ? whole : masked;
			await insertDelivery(trx, { endpointId: id, status, event, body }, base);
		}
	};

/** Inserts a delivery and its job. A disabled endpoint keeps its events unsent. @returns its id */
export async function insertDelivery(
	trx: Tx,
	delivery: {
		endpointId: number;
		status: store.EndpointRow['status'];
		event: Pick<Envelope, 'id' | 'type' | 'createdAt'>;
		body: string;
	},
	{ secrets, jobs }: Pick<Base, 'secrets' | 'jobs'>
): Promise<number> {
	const { endpointId, status, event, body } = delivery;
	const isActive = status === 'active';
	const { id } = await trx
		.insertInto('webhook_deliveries')
		.values({
			endpoint_id: endpointId,
			event_id: event.id,
			type: event.type,
			body_sealed: secrets.encrypt(body, bodyContext(endpointId, event.id)),
			status: isActive ? 'pending' : 'failed',
			next_attempt_at: isActive ? event.createdAt : null,
			last_failure: isActive ? null : store.ENDPOINT_DISABLED,
			created_at: event.createdAt,
			updated_at: event.createdAt
		})
		.returning('id')
		.executeTakeFirstOrThrow();
	if (isActive) await jobs.scheduleInGroup(trx, store.DELIVERY_JOB, endpointId, [id], event.createdAt);
	return id;
}

/** Hides the buyer from the router's owner. */
const withMaskedPhone = (data: object): object =>
	Object.fromEntries(
		Object.entries(data).map(([name, value]: [string, unknown]) =>
			name === 'phone' ? ['phone_masked', maskPhone(String(value))] : [name, value]
		)
	);

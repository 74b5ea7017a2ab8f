import type { Base } from '#lib/server/base.ts';
import type { Fenced } from '../../jobs/jobs.ts';
import { findById } from '#lib/server/db/queries.ts';
import { bodyContext } from './fan-out.ts';
import { redactResponse } from './redact.ts';
import { finishAttempt } from './results.ts';
import { signatures } from './signature.ts';
import * as store from './store.ts';
import type { Transport } from './transport/transport.ts';

interface DeliveryContext extends Base {
	transport: Transport;
}

const USER_AGENT = 'Airtill-Webhooks/1.0';

export const secretContext = (endpoint: Pick<store.EndpointRow, 'account_id' | 'address'>) =>
	`webhook:${endpoint.account_id}:${endpoint.address}`;

/** All headers of an attempt except for the signature. */
export const headersOf = (eventId: string, timestamp: number) => ({
	'content-type': 'application/json',
	'user-agent': USER_AGENT,
	'webhook-id': eventId,
	'webhook-timestamp': String(timestamp)
});

/** Sends at least once: a process that dies before it records the result sends again, with the same id. */
export async function deliver(
	context: Fenced<DeliveryContext>,
	deliveryId: number,
	signal: AbortSignal
): Promise<number | null> {
	const { database, clock } = context;
	const delivery = await findById(database.db, 'webhook_deliveries', deliveryId);
	if (delivery?.status !== 'pending' || delivery.next_attempt_at === null) return null;
	const endpoint = await store.endpointById(database.db, delivery.endpoint_id);
	if (endpoint?.status !== 'active') {
		// It is of a transaction that ran while the endpoint was disabled.
		await database.write((trx) => store.failPending(trx).where('id', '=', deliveryId).execute());
		return null;
	}
	const startedAt = clock.now();
	// A process recorded the attempt and died before it moved the job.
	if (delivery.next_attempt_at > startedAt) return delivery.next_attempt_at;
	const signing = signingSecrets(context, endpoint, startedAt);
	const id = delivery.event_id;
	const timestamp = Math.floor(startedAt / 1000);
	const body = context.secrets.decrypt(delivery.body_sealed, bodyContext(endpoint.id, id));
	const headers = {
		...headersOf(id, timestamp),
		'webhook-signature': signatures({ id, timestamp, body }, signing)
	};
	const started = performance.now();
	const outcome = await context.transport.send({ url: endpoint.address, headers, body }, signal);
	if ('failure' in outcome && outcome.failure === 'interrupted') return startedAt;
	const durationMs = Math.round(performance.now() - started);
	const answer = { statusCode: null, retryAfter: null, response: null, failure: null, ...outcome };
	return finishAttempt(database, delivery, {
		...answer,
		startedAt,
		endedAt: clock.now(),
		durationMs,
		response: answer.response === null ? null : redactResponse(answer.response, signing)
	});
}

function signingSecrets(
	{ secrets }: Pick<DeliveryContext, 'secrets'>,
	endpoint: store.EndpointRow,
	now: number
): string[] {
	const { secret_sealed, old_secret_sealed: old, old_secret_until: until } = endpoint;
	const hasOld = old !== null && until !== null && until > now;
	const sealed = hasOld ? [secret_sealed, old] : [secret_sealed];
	return sealed.map((one) => secrets.decrypt(one, secretContext(endpoint)));
}

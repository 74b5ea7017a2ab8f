import { isoTime } from '#lib/server/platform/clock.ts';
import type { WebhookBody } from '#lib/server/api/contract/schemas.ts';
import type * as store from './store.ts';

export const webhookBody = (row: store.EndpointRow, secret: string | null): WebhookBody => ({
	id: row.id,
	url: row.url,
	events: JSON.parse(row.events) as string[],
	status: row.status,
	secret,
	created_at: isoTime(row.created_at),
	updated_at: isoTime(row.updated_at)
});

export const endpointView = (row: store.EndpointRow, now: number) => ({
	id: row.id,
	url: row.url,
	events: JSON.parse(row.events) as string[],
	status: row.status,
	disabledReason: row.disabled_reason,
	createdAt: row.created_at,
	updatedAt: row.updated_at,
	/** Precise to a minute. */
	lastSuccessAt: row.last_success_at,
	failingSince: row.failing_since,
	/** The previous secret signs until then; null if it does not. */
	hasOldSecretUntil: (row.old_secret_until ?? 0) > now ? row.old_secret_until : null
});

export const deliveryView = (row: store.DeliveryRow) => ({
	id: row.id,
	endpointId: row.endpoint_id,
	eventId: row.event_id,
	type: row.type,
	status: row.status,
	attempts: row.attempts,
	createdAt: row.created_at,
	nextAttemptAt: row.next_attempt_at,
	lastAttemptAt: row.last_attempt_at,
	lastStatusCode: row.last_status_code,
	/** See Failure in transport.ts, or `endpoint_disabled`; null after a response. */
	lastFailure: row.last_failure
});

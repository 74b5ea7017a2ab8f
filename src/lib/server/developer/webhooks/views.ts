import { isoTime } from '#lib/server/platform/clock.ts';
import type { WebhookBody } from '#lib/server/api/contract/schemas.ts';
import type * as store from './store.ts';

/** Webhooks as the API and the developer area show them. Times are in ms since the epoch. */

export interface WebhookEndpoint {
	id: number;
	url: string;
	events: string[];
	status: 'active' | 'disabled';
	/** `gone`: it answered 410; `failing`: five days without a success; `manual`. */
	disabledReason: store.DisabledReason | null;
	createdAt: number;
	updatedAt: number;
	/** Precise to a minute. */
	lastSuccessAt: number | null;
	/** First failure since the last success. */
	failingSince: number | null;
	/** Until when the previous secret also signs; null if it does not. */
	hasOldSecretUntil: number | null;
}

export interface DeliveryPage {
	before: number | null;
	limit: number;
	status?: store.DeliveryStatus;
}

export interface Delivery {
	id: number;
	endpointId: number;
	/** `webhook-id` */
	eventId: string;
	type: string;
	status: store.DeliveryStatus;
	attempts: number;
	createdAt: number;
	/** null if no attempt is due. */
	nextAttemptAt: number | null;
	lastAttemptAt: number | null;
	lastStatusCode: number | null;
	/** See Failure in transport.ts, or `endpoint_disabled`; null if there was a status. */
	lastFailure: string | null;
}

export interface DeliveryDetail extends Delivery {
	/** The last or next request; phone numbers are masked, the signature is left out. */
	request: { url: string; headers: Record<string, string>; body: string };
	/** Oldest first. */
	log: DeliveryAttempt[];
}

export interface DeliveryAttempt {
	startedAt: number;
	durationMs: number;
	statusCode: number | null;
	/** Reason why there is no status. */
	failure: string | null;
	/** The first kilobyte, redacted; null without a response. */
	response: string | null;
}

/** The API's webhook object. */
export function webhookBody(row: store.EndpointRow, secret: string | null): WebhookBody {
	return {
		id: row.id,
		url: row.url,
		events: JSON.parse(row.events) as string[],
		status: row.status,
		secret,
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}

export function endpointView(row: store.EndpointRow, now: number): WebhookEndpoint {
	const until = row.old_secret_until;
	return {
		id: row.id,
		url: row.url,
		events: JSON.parse(row.events) as string[],
		status: row.status,
		disabledReason: row.disabled_reason,
		createdAt: row.created_at,
		updatedAt: row.updated_at,
		lastSuccessAt: row.last_success_at,
		failingSince: row.failing_since,
		hasOldSecretUntil: until !== null && until > now ? until : null
	};
}

export const deliveryView = (row: store.DeliveryRow): Delivery => ({
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
	lastFailure: row.last_failure
});

export const attemptView = (row: store.AttemptRow): DeliveryAttempt => ({
	startedAt: row.started_at,
	durationMs: row.duration_ms,
	statusCode: row.status_code,
	failure: row.failure,
	response: row.response
});

import { sql } from 'kysely';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { findById } from '#lib/server/db/queries.ts';
import type { Row } from '#lib/server/db/schema.ts';
import { createHmac, randomBytes } from 'node:crypto';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#lib/domain/time.ts';
import type { Base } from '#lib/server/base.ts';
import type { Fenced, FencedDatabase } from '#lib/server/jobs.ts';
import { maskPhone } from '#lib/domain/phone.ts';
import { type Envelope, type RecordedEvent, eventBody, selectRecipients } from '#lib/server/events.ts';
import { KEPT_RESPONSE_BYTES, postWebhook, type WebhookTransport } from './webhook-transport.ts';
import { redact, redactCut, redactKnown } from '#lib/server/platform/log.ts';

/** Deliveries of webhooks (Standard Webhooks 1.0): one for each event and endpoint, sent by a job until it succeeds. */

export type EndpointRow = Row<'webhook_endpoints'>;
export type DeliveryRow = Row<'webhook_deliveries'>;

/** The job's subject is the delivery, its group the endpoint. */
export const DELIVERY_JOB = 'webhooks.deliver';

/** `last_failure` of deliveries to a disabled endpoint. */
const ENDPOINT_DISABLED = 'endpoint_disabled';

/** Schedule of Standard Webhooks. The tenth attempt is the last. */
export const RETRY_DELAYS_MS: readonly number[] = [
	5 * SECOND_MS,
	5 * MINUTE_MS,
	30 * MINUTE_MS,
	2 * HOUR_MS,
	5 * HOUR_MS,
	10 * HOUR_MS,
	14 * HOUR_MS,
	20 * HOUR_MS,
	24 * HOUR_MS
];

const JITTER = 0.1;
/** Longest Retry-After that is respected. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;
const HEEDED_STATUSES = [429, 503];

/** Precision of `last_success_at`: every event reads the endpoint's row, so it is written rarely. */
const SUCCESS_NOTED_MS = 60_000;
const GONE = 410;
const TEST_TYPE = 'webhook.test';
const USER_AGENT = 'Airtill-Webhooks/1.0';
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Inserts deliveries in the transaction of the state change, so that no event is lost or invented. */
export async function insertDeliveries(base: Pick<Base, 'secrets' | 'jobs'>, trx: Tx, event: RecordedEvent) {
	const recipients = selectRecipients(trx, event).select(['id', 'account_id', 'status']).orderBy('id');
	const endpoints = await recipients.execute();
	const whole = JSON.stringify(eventBody(event));
	const masked = JSON.stringify(eventBody({ ...event, data: hidePhone(event.data) }));
	for (const { id, account_id, status } of endpoints) {
		const body = account_id === event.accountId ? whole : masked;
		await insertDelivery(base, trx, { endpointId: id, status, event, body });
	}
}

/** Inserts a delivery and its job. A disabled endpoint keeps its events unsent. @returns its id */
export async function insertDelivery(
	{ secrets, jobs }: Pick<Base, 'secrets' | 'jobs'>,
	trx: Tx,
	delivery: {
		endpointId: number;
		status: EndpointRow['status'];
		event: Pick<Envelope, 'id' | 'type' | 'createdAt'>;
		body: string;
	}
): Promise<number> {
	const { endpointId, status, event, body } = delivery;
	const isActive = status === 'active';
	const { id } = await trx
		.insertInto('webhook_deliveries')
		.values({
			endpoint_id: endpointId,
			event_id: event.id,
			type: event.type,
			body_sealed: secrets.encrypt(body, formatBodyContext(endpointId, event.id)),
			status: isActive ? 'pending' : 'failed',
			next_attempt_at: isActive ? event.createdAt : null,
			last_failure: isActive ? null : ENDPOINT_DISABLED,
			created_at: event.createdAt,
			updated_at: event.createdAt
		})
		.returning('id')
		.executeTakeFirstOrThrow();
	const job = { kind: DELIVERY_JOB, groupId: endpointId, subjectId: id, runAt: event.createdAt };
	if (isActive) await jobs.scheduleAll(trx, [job]);
	return id;
}

/** Hides the buyer from the router's owner. */
const hidePhone = (data: object): object =>
	Object.fromEntries(
		Object.entries(data).map(([name, value]: [string, unknown]) =>
			name === 'phone' ? ['phone_masked', maskPhone(String(value))] : [name, value]
		)
	);

interface DeliveryContext extends Base {
	transport: WebhookTransport;
}

/** Sends at least once: a process that dies before it records the result sends again, with the same id. */
export async function sendDelivery(
	context: Fenced<DeliveryContext>,
	deliveryId: number,
	signal: AbortSignal
): Promise<number | null> {
	const { database, clock } = context;
	const delivery = await findById(database.db, 'webhook_deliveries', deliveryId);
	if (delivery?.status !== 'pending' || delivery.next_attempt_at === null) return null;
	const endpoint = await findById(database.db, 'webhook_endpoints', delivery.endpoint_id);
	if (endpoint?.status !== 'active') {
		// It is of a transaction that ran while the endpoint was disabled.
		await database.transact((trx) => failPending(trx).where('id', '=', deliveryId).execute());
		return null;
	}
	const startedAt = clock.now();
	// A process recorded the attempt and died before it moved the job.
	if (delivery.next_attempt_at > startedAt) return delivery.next_attempt_at;
	const signing = openSigningSecrets(context, endpoint, startedAt);
	const id = delivery.event_id;
	const timestamp = Math.floor(startedAt / 1000);
	const body = context.secrets.decrypt(delivery.body_sealed, formatBodyContext(endpoint.id, id));
	const headers = {
		...formatHeaders(id, timestamp),
		'webhook-signature': signWebhook({ id, timestamp, body }, signing)
	};
	const started = performance.now();
	const outcome = await postWebhook(context.transport, { url: endpoint.address, headers, body }, signal);
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

function openSigningSecrets(
	{ secrets }: Pick<DeliveryContext, 'secrets'>,
	endpoint: EndpointRow,
	now: number
): string[] {
	const { secret_sealed, old_secret_sealed: old, old_secret_until: until } = endpoint;
	const hasOld = old !== null && until !== null && until > now;
	const sealed = hasOld ? [secret_sealed, old] : [secret_sealed];
	return sealed.map((one) => secrets.decrypt(one, formatSecretContext(endpoint)));
}

interface Attempt {
	startedAt: number;
	endedAt: number;
	durationMs: number;
	statusCode: number | null;
	retryAfter: string | null;
	failure: string | null;
	response: string | null;
}

/** Records the endpoint's health, the log and the delivery's new state. @returns when to try again, or null */
async function finishAttempt(database: FencedDatabase, delivery: DeliveryRow, attempt: Attempt) {
	const { statusCode, retryAfter, endedAt } = attempt;
	const tries = delivery.tries + 1;
	const succeeded = isSuccess(attempt);
	// A replay during the attempt has moved the next attempt, which stays due.
	const unlessReplayed = <T>(column: string, value: T) =>
		sql<T>`case when next_attempt_at <> ${delivery.next_attempt_at} then ${sql.ref(column)} else ${value} end`;
	return database.transact(async (trx) => {
		// All transactions that change both write the endpoint first, which prevents deadlocks.
		await noteHealth(trx, delivery, attempt);
		const isActive = (await findById(trx, 'webhook_endpoints', delivery.endpoint_id))?.status === 'active';
		// A test is not retried: its result is for the person on the page.
		const isRetried = isActive && !succeeded && delivery.type !== TEST_TYPE;
		const nextAt = isRetried
			? computeNextAttempt({ tries, now: endedAt, statusCode, retryAfter }, Math.random())
			: null;
		const status = succeeded ? 'delivered' : nextAt === null ? 'failed' : 'pending';
		await trx
			.updateTable('webhook_deliveries')
			.set({
				status: unlessReplayed('status', status),
				next_attempt_at: unlessReplayed('next_attempt_at', nextAt),
				tries: unlessReplayed('tries', tries),
				attempts: sql`attempts + 1`,
				last_status_code: statusCode,
				last_failure: attempt.failure,
				last_attempt_at: attempt.startedAt,
				updated_at: endedAt
			})
			.where('id', '=', delivery.id)
			.execute();
		await insertAttempt(trx, delivery.id, attempt);
		// As stored: a replay may have decided when to try again.
		return (await findById(trx, 'webhook_deliveries', delivery.id))?.next_attempt_at ?? null;
	});
}

/** Inserts nothing if the delivery was deleted while it was sent. */
async function insertAttempt(queries: Queries, deliveryId: number, attempt: Attempt): Promise<void> {
	await sql`insert into webhook_attempts
			(delivery_id, started_at, duration_ms, status_code, failure, response)
		select id, cast(${attempt.startedAt} as bigint), cast(${attempt.durationMs} as bigint),
			cast(${attempt.statusCode} as bigint), cast(${attempt.failure} as text),
			cast(${attempt.response} as text)
		from webhook_deliveries where id = ${deliveryId}`.execute(queries);
}

const isSuccess = ({ statusCode }: Attempt) => statusCode !== null && statusCode >= 200 && statusCode < 300;

async function noteHealth(queries: Queries, delivery: DeliveryRow, attempt: Attempt): Promise<void> {
	const id = delivery.endpoint_id;
	const update = queries.updateTable('webhook_endpoints').where('id', '=', id);
	if (attempt.statusCode === GONE) {
		const disabled = await update
			.set({ status: 'disabled', disabled_reason: 'gone', notice: 'disabled', updated_at: attempt.endedAt })
			.where('status', '=', 'active')
			.executeTakeFirst();
		if (disabled.numUpdatedRows > 0n) await failPending(queries).where('endpoint_id', '=', id).execute();
	} else if (isSuccess(attempt)) {
		await update
			.set({
				last_success_at: attempt.endedAt,
				failing_since: null,
				failing_noticed: 0,
				notice: sql`case when notice = 'failing' then null else notice end`
			})
			.where((where) =>
				where.or([
					where('failing_since', 'is not', null),
					where('last_success_at', 'is', null),
					where('last_success_at', '<', attempt.endedAt - SUCCESS_NOTED_MS)
				])
			)
			.execute();
	} else if (delivery.type !== TEST_TYPE) {
		// Of concurrent failures the earliest counts, whichever ends first.
		await update
			.set({ failing_since: attempt.startedAt })
			.where((where) =>
				where.or([where('failing_since', 'is', null), where('failing_since', '>', attempt.startedAt)])
			)
			.execute();
	}
}

export interface FailedAttempt {
	/** Attempts so far, including this one. */
	tries: number;
	/** When it ended. */
	now: number;
	statusCode: number | null;
	retryAfter: string | null;
}

/** @returns when to try again, or null after the last attempt. @param random from 0 to below 1 */
export function computeNextAttempt({ tries, now, statusCode, retryAfter }: FailedAttempt, random: number) {
	const delay = RETRY_DELAYS_MS[tries - 1];
	if (delay === undefined) return null;
	const jittered = now + Math.round(delay * (1 - JITTER + 2 * JITTER * random));
	const isHeeded = statusCode !== null && HEEDED_STATUSES.includes(statusCode);
	const asked = isHeeded ? parseRetryAfter(retryAfter, now) : null;
	return asked === null ? jittered : Math.max(jittered, Math.min(asked, now + MAX_RETRY_AFTER_MS));
}

/** Seconds, or an HTTP-date (RFC 9110, 10.2.3). */
function parseRetryAfter(text: string | null, now: number): number | null {
	if (text === null) return null;
	if (/^\d{1,9}$/.test(text.trim())) return now + Number(text) * SECOND_MS;
	const date = Date.parse(text);
	return Number.isNaN(date) ? null : date;
}

export const createWebhookSecret = (): string => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/**
 * Returns `webhook-signature` of Standard Webhooks 1.0.0: one signature per secret, in order.
 * @param signed `webhook-id`, `webhook-timestamp` in seconds since the epoch, and the body as sent
 */
export function signWebhook(
	{ id, timestamp, body }: { id: string; timestamp: number; body: string },
	secrets: readonly string[]
): string {
	return secrets
		.map((secret) => {
			const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
			return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
		})
		.join(' ');
}

export const formatSecretContext = (endpoint: Pick<EndpointRow, 'account_id' | 'address'>) =>
	`webhook:${endpoint.account_id}:${endpoint.address}`;

/** All headers of an attempt except for the signature. */
export const formatHeaders = (eventId: string, timestamp: number) => ({
	'content-type': 'application/json',
	'user-agent': USER_AGENT,
	'webhook-id': eventId,
	'webhook-timestamp': String(timestamp)
});

export const formatBodyContext = (endpointId: number, eventId: string) =>
	`webhook-body:${endpointId}:${eventId}`;

/** Decoding drops a byte order mark, so a truncated text may be 3 bytes shorter. */
const CUT_FROM_BYTES = KEPT_RESPONSE_BYTES - 3;
/** A beginning of a secret counts as a leak from this length on. */
const LEAST_BEGUN = 6;

/**
 * Redacts a response before it is stored, because a receiver may echo the request. Replaces NUL, which PostgreSQL
 * cannot store.
 * @param secrets signing secrets of the request; removed everywhere
 */
export function redactResponse(text: string, secrets: readonly string[] = []): string {
	const isCut = Buffer.byteLength(text) >= CUT_FROM_BYTES;
	let known = text.replaceAll('\0', '\uFFFD');
	for (const secret of secrets) known = redactSecret(known, secret.replace(/^whsec_/, ''), isCut);
	return isCut ? redactCut(known) : redact(known);
}

/** Removes a secret, and its beginning at the end of a truncated text. */
function redactSecret(text: string, secret: string, isCut: boolean): string {
	const rest = redactKnown(text, secret);
	if (!isCut) return rest;
	for (let length = secret.length - 1; length >= LEAST_BEGUN; length -= 1) {
		if (rest.endsWith(secret.slice(0, length))) return `${rest.slice(0, -length)}…`;
	}
	return rest;
}

export const redactBody = (body: string): string =>
	body.replace(/"phone":"(\+\d+)"/g, (_, phone: string) => `"phone":"${maskPhone(phone)}"`);

/** Pending deliveries stay in the log and can be replayed; their jobs find nothing to send. Add which. */
export const failPending = (queries: Queries) =>
	queries
		.updateTable('webhook_deliveries')
		.set({ status: 'failed', next_attempt_at: null, last_failure: ENDPOINT_DISABLED })
		.where(sql<boolean>`status = 'pending'`);

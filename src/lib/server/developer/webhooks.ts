import { lockById, lockName } from '#lib/server/db/locks.ts';
import type { Updateable } from 'kysely';
import type { Base } from '#lib/server/base.ts';
import {
	TEST_MESSAGE,
	MAX_ENDPOINTS,
	type WebhookBody,
	type WebhookRegistrationBody
} from '#lib/server/contract/webhooks.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import {
	findById,
	countRows,
	retryUniqueViolation,
	withoutNulls,
	findNewestFirst,
	type NewestFirst,
	insertRow
} from '#lib/server/db/queries.ts';
import type { Schema } from '#lib/server/db/schema.ts';
import { eventBody } from '#lib/server/events.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { eventId } from '#lib/server/platform/secrets.ts';
import {
	formatBodyContext,
	createWebhookSecret,
	DELIVERY_JOB,
	type DeliveryRow,
	type EndpointRow,
	failPending,
	formatHeaders,
	insertDelivery,
	redactBody,
	formatSecretContext
} from './webhook-delivery.ts';
import { checkWebhookUrl, type UrlRules } from './webhook-transport.ts';
import { Refused } from '#lib/server/platform/errors.ts';

/** Endpoints of webhooks (Standard Webhooks 1.0) and their log. Every function finds only the account's own endpoints. */

export interface Webhooks extends Pick<Base, 'database' | 'clock' | 'secrets' | 'jobs'> {
	rules: UrlRules;
}

export const OLD_SECRET_MS = 24 * 60 * 60 * 1000;
const MAX_ATTEMPTS = 5;

const HEALTHY = {
	status: 'active',
	disabled_reason: null,
	failing_since: null,
	failing_noticed: 0,
	notice: null,
	notice_lease_until: null
} as const;

/**
 * Registers a URL and sends nothing to it. A known URL of the account gets the new events and is enabled again. Its
 * secret stays and is not shown.
 * @param from the host of this request, and whether it came from this machine
 * @param remember stores the idempotent response in the transaction of its effect
 * @throws Refused `webhook_url_not_allowed | webhook_limit_reached`
 */
export async function registerWebhook(
	context: Webhooks,
	{ accountId }: { accountId: number },
	wanted: WebhookRegistrationBody,
	from: { host: string; isLocal: boolean } | null,
	remember?: (trx: Tx, body: WebhookBody, status: 200 | 201) => Promise<void>
): Promise<{ created: boolean; body: WebhookBody }> {
	const { database, rules } = context;
	const ownHosts = [...rules.ownHosts, ...(from === null ? [] : [from.host])];
	// Whoever is on this machine can call its services anyway; others must not reach them through us.
	const allowThisMachine = rules.allowThisMachine === true && from?.isLocal === true;
	const refusal = checkWebhookUrl(wanted.url, { ...rules, ownHosts, allowThisMachine });
	if (refusal !== null) throw new Refused('webhook_url_not_allowed', refusal);
	// A taken idempotency key fails every time.
	return retryUniqueViolation(database, MAX_ATTEMPTS, () =>
		database.transact(async (trx) => {
			const result = await insertOrEnable(trx, context, accountId, wanted);
			await remember?.(trx, result.body, result.created ? 201 : 200);
			return result;
		})
	);
}

async function insertOrEnable(
	trx: Tx,
	{ clock, secrets }: Webhooks,
	accountId: number,
	{ url, events }: WebhookRegistrationBody
) {
	await lockName(trx, `webhooks of ${accountId}`);
	const now = clock.now();
	const address = normaliseAddress(url);
	const columns = { url, events: JSON.stringify(events), updated_at: now };
	const own = trx.selectFrom('webhook_endpoints').where('account_id', '=', accountId);
	const known = await own.select('id').where('address', '=', address).executeTakeFirst();
	if (known) {
		const row = await changeEndpoint(trx, known.id, { ...HEALTHY, ...columns });
		return { created: false, body: formatWebhook(row, null) };
	}
	if ((await countRows(own)) >= MAX_ENDPOINTS) {
		throw new Refused('webhook_limit_reached', `An account may have ${MAX_ENDPOINTS} webhooks.`);
	}
	const secret = createWebhookSecret();
	const row = await insertRow(trx, 'webhook_endpoints', {
		...columns,
		account_id: accountId,
		address,
		status: 'active',
		secret_sealed: secrets.encrypt(secret, formatSecretContext({ account_id: accountId, address })),
		created_at: now
	});
	return { created: true, body: formatWebhook(row, secret) };
}

/** Normalises a URL, so that a receiver does not get events twice. */
function normaliseAddress(text: string): string {
	const url = new URL(text);
	url.hostname = url.hostname.replace(/\.$/, '');
	return url.href;
}

/** Newest first. */
export async function listWebhooks({ database: { db }, clock }: Webhooks, accountId: number) {
	const rows = await selectEndpoints(db, accountId).orderBy('id', 'desc').execute();
	return rows.map((row) => describeEndpoint(row, clock.now()));
}

/** Lists them as the API shows them, newest first, without secrets. */
export async function listWebhookPage(
	{ database: { db } }: Webhooks,
	{ accountId }: { accountId: number },
	page: NewestFirst
) {
	const { rows, next } = await findNewestFirst(selectEndpoints(db, accountId), page);
	return { data: rows.map((row) => formatWebhook(row, null)), next };
}

export async function findWebhook({ database: { db }, clock }: Webhooks, accountId: number, id: number) {
	const row = await findEndpoint(db, accountId, id);
	return row && describeEndpoint(row, clock.now());
}

/** Deletes an endpoint with its log, and returns it as the API shows it; null without an endpoint. */
export const deleteWebhook = ({ database }: Webhooks, accountId: number, id: number) =>
	database.transact(async (trx) => {
		const row = await lockEndpoint(trx, accountId, id);
		if (!row) return null;
		await trx.deleteFrom('webhook_endpoints').where('id', '=', id).execute();
		return formatWebhook(row, null);
	});

/** Returns the new secret, or null without an endpoint. The old one also signs for 24 hours. */
export async function rotateWebhookSecret(
	{ database, clock, secrets }: Webhooks,
	accountId: number,
	id: number
) {
	const secret = createWebhookSecret();
	const now = clock.now();
	return database.transact(async (trx) => {
		const row = await lockEndpoint(trx, accountId, id);
		if (!row) return null;
		await changeEndpoint(trx, id, {
			secret_sealed: secrets.encrypt(secret, formatSecretContext(row)),
			old_secret_sealed: row.secret_sealed,
			old_secret_until: now + OLD_SECRET_MS,
			updated_at: now
		});
		return secret;
	});
}

/** Disabling gives up pending deliveries, which can be replayed. @returns false without an endpoint */
export async function setWebhookStatus(
	{ database, clock }: Webhooks,
	accountId: number,
	id: number,
	status: EndpointRow['status']
) {
	return database.transact(async (trx) => {
		const row = await lockEndpoint(trx, accountId, id);
		if (!row) return false;
		if (row.status === status) return true;
		const to = status === 'active' ? HEALTHY : ({ status, disabled_reason: 'manual' } as const);
		await changeEndpoint(trx, id, { ...to, updated_at: clock.now() });
		if (status === 'disabled') await failPending(trx).where('endpoint_id', '=', id).execute();
		return true;
	});
}

/** Sends `webhook.test` once. @returns the delivery's id, or null without an active endpoint */
export async function sendTestWebhook(
	{ database, clock, secrets, jobs }: Webhooks,
	accountId: number,
	id: number
) {
	const endpoint = await findEndpoint(database.db, accountId, id);
	if (endpoint?.status !== 'active') return null;
	const event = {
		id: eventId(),
		type: 'webhook.test',
		createdAt: clock.now(),
		data: { message: TEST_MESSAGE }
	};
	const test = { endpointId: id, status: endpoint.status, event, body: JSON.stringify(eventBody(event)) };
	return database.transact((trx) => insertDelivery({ secrets, jobs }, trx, test));
}

interface DeliveryPage {
	/** The last id of the previous page. */
	before: number | null;
	limit: number;
	status?: DeliveryRow['status'] | null;
}

/** Newest first. Empty without an endpoint. */
export async function listDeliveries(
	{ database: { db } }: Webhooks,
	accountId: number,
	endpointId: number,
	{ before, limit, status }: DeliveryPage
) {
	if (!(await findEndpoint(db, accountId, endpointId))) return [];
	const rows = await db
		.selectFrom('webhook_deliveries')
		.selectAll()
		.where(({ and }) => and({ endpoint_id: endpointId, ...withoutNulls({ status }) }))
		.where('id', '<', before ?? Number.MAX_SAFE_INTEGER)
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();
	return rows.map(describeDelivery);
}

/** Finds a delivery with its last or next request and its attempts, oldest first. @returns null without a delivery */
export async function findDelivery({ database: { db }, secrets }: Webhooks, accountId: number, id: number) {
	const row = await findDeliveryRow(db, accountId, id);
	if (!row) return null;
	const body = secrets.decrypt(row.body_sealed, formatBodyContext(row.endpoint_id, row.event_id));
	const sentAt = row.last_attempt_at ?? row.created_at;
	const log = await db
		.selectFrom('webhook_attempts')
		.select(['started_at as startedAt', 'duration_ms as durationMs', 'status_code as statusCode'])
		.select(['failure', 'response'])
		.where('delivery_id', '=', id)
		.orderBy('started_at')
		.orderBy('id')
		.execute();
	return {
		...describeDelivery(row),
		/** Masks phone numbers and omits the signature. */
		request: {
			url: row.address,
			headers: formatHeaders(row.event_id, Math.floor(sentAt / 1000)),
			body: redactBody(body)
		},
		/** `response`: the first kilobyte, redacted; null without a response. */
		log
	};
}

/** Sends a delivery again now, with the same id. @returns false without one, or if its endpoint is disabled */
export async function replayDelivery(context: Webhooks, accountId: number, id: number) {
	const row = await findDeliveryRow(context.database.db, accountId, id);
	if (row?.endpoint_status !== 'active') return false;
	await makeDue(context, row.endpoint_id, { id });
	return true;
}

/** Replays failed deliveries created at or after a moment. @returns their number */
export async function replayFailedDeliveries(
	context: Webhooks,
	accountId: number,
	endpointId: number,
	failedSince: number
) {
	const endpoint = await findEndpoint(context.database.db, accountId, endpointId);
	return endpoint?.status === 'active' ? makeDue(context, endpointId, { failedSince }) : 0;
}

/** Makes deliveries of an endpoint due now: one, whatever its state, or those that failed since a moment. @returns their number */
async function makeDue(
	{ database, clock, jobs }: Webhooks,
	endpointId: number,
	which: { id: number } | { failedSince: number }
): Promise<number> {
	const now = clock.now();
	return database.transact(async (trx) => {
		const all = trx
			.updateTable('webhook_deliveries')
			.set({ status: 'pending', tries: 0, next_attempt_at: now, updated_at: now })
			.where('endpoint_id', '=', endpointId);
		const chosen =
			'id' in which
				? all.where('id', '=', which.id)
				: all.where('status', '=', 'failed').where('created_at', '>=', which.failedSince);
		const ids = (await chosen.returning('id').execute()).map(({ id }) => id);
		const job = { kind: DELIVERY_JOB, groupId: endpointId, runAt: now };
		await jobs.scheduleAll(
			trx,
			ids.map((subjectId) => ({ ...job, subjectId }))
		);
		return ids.length;
	});
}

/** The body of the API. */
const formatWebhook = (row: EndpointRow, secret: string | null): WebhookBody => ({
	id: row.id,
	url: row.url,
	events: JSON.parse(row.events) as string[],
	status: row.status,
	secret,
	created_at: isoTime(row.created_at),
	updated_at: isoTime(row.updated_at)
});

const describeEndpoint = (row: EndpointRow, now: number) => ({
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

const describeDelivery = (row: DeliveryRow) => ({
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
	/** A Failure of webhook-transport.ts, or `endpoint_disabled`; null after a response. */
	lastFailure: row.last_failure
});

const selectEndpoints = (queries: Queries, accountId: number) =>
	queries.selectFrom('webhook_endpoints').selectAll().where('account_id', '=', accountId);

async function findEndpoint(queries: Queries, accountId: number, id: number): Promise<EndpointRow | null> {
	const row = await findById(queries, 'webhook_endpoints', id);
	return row?.account_id === accountId ? row : null;
}

async function lockEndpoint(trx: Tx, accountId: number, id: number): Promise<EndpointRow | null> {
	const row = await lockById(trx, 'webhook_endpoints', id);
	return row?.account_id === accountId ? row : null;
}

const changeEndpoint = (queries: Queries, id: number, to: Updateable<Schema['webhook_endpoints']>) =>
	queries
		.updateTable('webhook_endpoints')
		.set(to)
		.where('id', '=', id)
		.returningAll()
		.executeTakeFirstOrThrow();

async function findDeliveryRow(queries: Queries, accountId: number, id: number) {
	if (!Number.isSafeInteger(id)) return undefined;
	return queries
		.selectFrom('webhook_deliveries')
		.innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'webhook_deliveries.endpoint_id')
		.selectAll('webhook_deliveries')
		.select(['webhook_endpoints.address', 'webhook_endpoints.status as endpoint_status'])
		.where('webhook_deliveries.id', '=', id)
		.where('webhook_endpoints.account_id', '=', accountId)
		.executeTakeFirst();
}

import type { Base } from '#lib/server/base.ts';
import { TEST_MESSAGE, type WebhookBody } from '#lib/server/contract/webhooks.ts';
import type { NewestFirst } from '#lib/server/db/queries.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { eventId } from '#lib/server/platform/ids.ts';
import { headersOf, secretContext } from './delivery.ts';
import { eventBody } from '#lib/server/events/events.ts';
import { bodyContext, insertDelivery } from './fan-out.ts';
import { redactBody } from './redact.ts';
import { register, webhookBody } from './register.ts';
import { newSecret } from './signature.ts';
import * as store from './store.ts';
import type { UrlRules } from './transport/url-rules.ts';

export interface WebhooksContext extends Pick<Base, 'database' | 'clock' | 'secrets' | 'jobs'> {
	rules: UrlRules;
}

export const OLD_SECRET_MS = 24 * 60 * 60 * 1000;

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Manages webhooks (Standard Webhooks 1.0). Every function finds only the account's own endpoints. */
export function createWebhooks(context: WebhooksContext) {
	const { clock, database } = context;
	const { db } = database;
	const bind = binder(context);
	return {
		register: bind(register),
		/** Newest first. */
		list: async (accountId: number) =>
			(await store.list(db, accountId)).map((row) => endpointView(row, clock.now())),
		async find(accountId: number, id: number) {
			const row = await store.find(db, accountId, id);
			return row && endpointView(row, clock.now());
		},
		/** As the API shows them, newest first, without secrets. */
		async listPage({ accountId }: { accountId: number }, page: NewestFirst) {
			const { rows, next } = await store.newestPage(db, accountId, page);
			return { data: rows.map((row) => webhookBody(row, null)), next };
		},
		delete: bind(deleteEndpoint),
		rotateSecret: bind(rotateSecret),
		setStatus: bind(setStatus),
		/** Also deletes the log. @returns false without an endpoint */
		remove: (accountId: number, id: number) => database.transact((trx) => store.remove(trx, accountId, id)),
		sendTest: bind(sendTest),
		/** Newest first. `before` is the last id of the previous page. Empty without an endpoint. */
		async deliveries(accountId: number, endpointId: number, page: store.DeliveryPage) {
			if (!(await store.find(db, accountId, endpointId))) return [];
			return (await store.deliveries(db, endpointId, page)).map(deliveryView);
		},
		delivery: bind(readDelivery),
		replay: bind(replay),
		replayFailed: bind(replayFailed)
	};
}

const endpointView = (row: store.EndpointRow, now: number) => ({
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

const deliveryView = (row: store.DeliveryRow) => ({
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

/** Deletes an endpoint with its log, and returns it. @throws AppError `webhook_not_found` */
const deleteEndpoint = (
	{ database }: WebhooksContext,
	{ accountId }: { accountId: number },
	id: number
): Promise<WebhookBody> =>
	database.transact(async (trx) => {
		const row = await store.find(trx, accountId, id);
		if (!row) throw new AppError('webhook_not_found');
		await store.remove(trx, accountId, id);
		return webhookBody(row, null);
	});

/** Returns the new secret, or null without an endpoint. The old one also signs for 24 hours. */
async function rotateSecret({ database, clock, secrets }: WebhooksContext, accountId: number, id: number) {
	const secret = newSecret();
	const now = clock.now();
	return database.transact(async (trx) => {
		const row = await store.find(trx, accountId, id);
		if (!row) return null;
		await store.change(trx, id, {
			secret_sealed: secrets.encrypt(secret, secretContext(row)),
			old_secret_sealed: row.secret_sealed,
			old_secret_until: now + OLD_SECRET_MS,
			updated_at: now
		});
		return secret;
	});
}

/** Disabling gives up pending deliveries, which can be replayed. @returns false without an endpoint */
async function setStatus(
	{ database, clock }: WebhooksContext,
	accountId: number,
	id: number,
	status: store.EndpointRow['status']
) {
	return database.transact(async (trx) => {
		const row = await store.find(trx, accountId, id);
		if (!row) return false;
		if (row.status === status) return true;
		const to = status === 'active' ? store.HEALTHY : ({ status, disabled_reason: 'manual' } as const);
		await store.change(trx, id, { ...to, updated_at: clock.now() });
		if (status === 'disabled') await store.failPending(trx).where('endpoint_id', '=', id).execute();
		return true;
	});
}

/** Sends `webhook.test` once. @returns the delivery's id, or null without an active endpoint */
async function sendTest({ database, clock, secrets, jobs }: WebhooksContext, accountId: number, id: number) {
	const endpoint = await store.find(database.db, accountId, id);
	if (endpoint?.status !== 'active') return null;
	const event = {
		id: eventId(),
		type: 'webhook.test',
		createdAt: clock.now(),
		data: { message: TEST_MESSAGE }
	};
	const test = { endpointId: id, status: endpoint.status, event, body: JSON.stringify(eventBody(event)) };
	return database.transact((trx) => insertDelivery(trx, test, { secrets, jobs }));
}

/** Reads a delivery with its last or next request and its attempts, oldest first. @returns null without a delivery */
async function readDelivery({ database: { db }, secrets }: WebhooksContext, accountId: number, id: number) {
	const row = await store.findDelivery(db, accountId, id);
	if (!row) return null;
	const body = secrets.decrypt(row.body_sealed, bodyContext(row.endpoint_id, row.event_id));
	const sentAt = row.last_attempt_at ?? row.created_at;
	return {
		...deliveryView(row),
		/** Masks phone numbers and omits the signature. */
		request: {
			url: row.address,
			headers: headersOf(row.event_id, Math.floor(sentAt / 1000)),
			body: redactBody(body)
		},
		log: await store.attempts(db, id)
	};
}

/** Sends a delivery again now, with the same id. @returns false without one, or if its endpoint is disabled */
async function replay(context: WebhooksContext, accountId: number, id: number) {
	const row = await store.findDelivery(context.database.db, accountId, id);
	if (row?.endpoint_status !== 'active') return false;
	await makeDue(context, row.endpoint_id, { id });
	return true;
}

/** Replays failed deliveries created at or after a moment. @returns their number */
async function replayFailed(
	context: WebhooksContext,
	accountId: number,
	endpointId: number,
	failedSince: number
) {
	const endpoint = await store.find(context.database.db, accountId, endpointId);
	return endpoint?.status === 'active' ? makeDue(context, endpointId, { failedSince }) : 0;
}

async function makeDue(
	{ database, clock, jobs }: WebhooksContext,
	endpointId: number,
	which: Parameters<typeof store.replay>[2]
) {
	const now = clock.now();
	return database.transact(async (trx) => {
		const ids = await store.replay(trx, endpointId, which, now);
		await jobs.scheduleInGroup(trx, store.DELIVERY_JOB, endpointId, ids, now);
		return ids.length;
	});
}

import type { Caller } from '../api-keys/api-keys.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import { TEST_MESSAGE } from '#lib/server/api/contract/events.ts';
import type { WebhookBody, WebhookRegistrationBody } from '#lib/server/api/contract/schemas.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { eventId } from '#lib/server/platform/ids.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { headersOf, secretContext } from './delivery.ts';
import { bodyContext, eventBody, insertDelivery } from './fan-out.ts';
import { redactBody } from './redact.ts';
import { newSecret } from './signature.ts';
import * as store from './store.ts';
import { urlRefusal, type UrlRules } from './transport/url-rules.ts';
import {
	attemptView,
	deliveryView,
	endpointView,
	webhookBody,
	type Delivery,
	type DeliveryDetail,
	type DeliveryPage,
	type WebhookEndpoint
} from './views.ts';

export type { Delivery, DeliveryAttempt, DeliveryDetail, DeliveryPage, WebhookEndpoint } from './views.ts';

/**
 * Management of webhooks by their account (Standard Webhooks 1.0): registration, secrets, delivery log, replay.
 * fan-out.ts creates deliveries, delivery.ts sends them, upkeep.ts maintains endpoints. Every function finds only the
 * account's own endpoints.
 */
export interface Webhooks {
	/**
	 * Registers a URL; nothing is sent to it. A URL that the account has registered before gets the new events and is
	 * enabled again; its secret stays and is not shown.
	 * @param ownHost the host of this request
	 * @param remember stores the response in the transaction of the effect
	 * @throws AppError `webhook_url_not_allowed | webhook_limit_reached`
	 */
	register(
		caller: Pick<Caller, 'accountId'>,
		registration: WebhookRegistrationBody,
		ownHost: string | null,
		remember?: RememberRegistration
	): Promise<{ created: boolean; body: WebhookBody }>;
	/** Newest first. */
	list(accountId: number): Promise<WebhookEndpoint[]>;
	find(accountId: number, id: number): Promise<WebhookEndpoint | null>;
	/** Creates a secret, shown once; the old one also signs for 24 hours. @returns null if there is no endpoint */
	rotateSecret(accountId: number, id: number): Promise<string | null>;
	/** Disabling gives up pending deliveries; they can be replayed. @returns false if there is no endpoint */
	setStatus(accountId: number, id: number, status: WebhookEndpoint['status']): Promise<boolean>;
	/** Deletes the endpoint with its log. @returns false if there is no endpoint */
	remove(accountId: number, id: number): Promise<boolean>;
	/** Sends `webhook.test` once. @returns the delivery's id, or null if there is no active endpoint */
	sendTest(accountId: number, id: number): Promise<number | null>;
	/** Newest first; `before` is the id of the previous page's last one. Empty if there is no endpoint. */
	deliveries(accountId: number, endpointId: number, page: DeliveryPage): Promise<Delivery[]>;
	delivery(accountId: number, deliveryId: number): Promise<DeliveryDetail | null>;
	/** Sends a delivery again now, with the same id. @returns false if there is none, or its endpoint is disabled */
	replay(accountId: number, deliveryId: number): Promise<boolean>;
	/** Replays all failed deliveries that are not older than `since`. @returns how many */
	replayFailed(accountId: number, endpointId: number, since: number): Promise<number>;
}

export type RememberRegistration = (trx: Tx, body: WebhookBody, status: 200 | 201) => Promise<void>;

export interface WebhooksDependencies {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	jobs: Jobs;
	rules: UrlRules;
}

export const MAX_ENDPOINTS = 16;
export const OLD_SECRET_MS = 24 * 60 * 60 * 1000;
const MAX_REGISTER_ATTEMPTS = 5;

/** Columns of a working endpoint. */
const HEALTHY = {
	status: 'active',
	disabled_reason: null,
	failing_since: null,
	failing_noticed: 0,
	notice: null,
	notice_lease_until: null
} as const;

/** Normalises a URL, so that a receiver does not get everything twice. */
function addressOf(text: string): string {
	const url = new URL(text);
	url.hostname = url.hostname.replace(/\.$/, '');
	return url.href;
}

export function createWebhooks({ database, clock, secrets, jobs, rules }: WebhooksDependencies): Webhooks {
	const { db } = database;

	/** Registers in the caller's transaction. */
	async function registerIn(
		trx: Tx,
		accountId: number,
		{ url, address, events, secret }: { url: string; address: string; events: string; secret: string }
	): Promise<{ created: boolean; body: WebhookBody }> {
		const now = clock.now();
		const known = await store.findByAddress(trx, accountId, address);
		if (known) {
			const row = await store.change(trx, accountId, known.id, { ...HEALTHY, url, events, updated_at: now });
			return { created: false, body: webhookBody(row ?? known, null) };
		}
		if ((await store.count(trx, accountId)) >= MAX_ENDPOINTS) {
			throw new AppError('webhook_limit_reached', `An account may have ${MAX_ENDPOINTS} webhooks.`);
		}
		const row = await store.insert(trx, {
			account_id: accountId,
			url,
			address,
			events,
			status: 'active',
			secret_sealed: secrets.encrypt(secret, secretContext({ account_id: accountId, address })),
			created_at: now,
			updated_at: now
		});
		return { created: true, body: webhookBody(row, secret) };
	}

	return {
		async register({ accountId }, { url, events }, ownHost, remember) {
			const ownHosts = [...rules.ownHosts, ...(ownHost === null ? [] : [ownHost])];
			const refusal = urlRefusal(url, { ...rules, ownHosts });
			if (refusal !== null) throw new AppError('webhook_url_not_allowed', refusal);
			const wanted = {
				url,
				address: addressOf(url),
				events: JSON.stringify(events),
				secret: newSecret()
			};
			for (let attempt = 1; ; attempt += 1) {
				try {
					return await database.transact(async (trx) => {
						const result = await registerIn(trx, accountId, wanted);
						await remember?.(trx, result.body, result.created ? 201 : 200);
						return result;
					});
				} catch (error) {
					// Two registrations at once: the index admitted one, and the other finds it next time. (If the key of an
					// idempotent request is taken, the transaction fails every time.)
					if (!database.isUniqueViolation(error) || attempt === MAX_REGISTER_ATTEMPTS) throw error;
				}
			}
		},
		async list(accountId) {
			return (await store.list(db, accountId)).map((row) => endpointView(row, clock.now()));
		},
		async find(accountId, id) {
			const row = await store.find(db, accountId, id);
			return row && endpointView(row, clock.now());
		},
		async rotateSecret(accountId, id) {
			const secret = newSecret();
			const now = clock.now();
			const rotated = await database.transact(async (trx) => {
				const row = await store.find(trx, accountId, id);
				if (!row) return false;
				await store.change(trx, accountId, id, {
					secret_sealed: secrets.encrypt(secret, secretContext(row)),
					old_secret_sealed: row.secret_sealed,
					old_secret_until: now + OLD_SECRET_MS,
					updated_at: now
				});
				return true;
			});
			return rotated ? secret : null;
		},
		async setStatus(accountId, id, status) {
			return database.transact(async (trx) => {
				const row = await store.find(trx, accountId, id);
				if (!row) return false;
				if (row.status === status) return true;
				const to = status === 'active' ? HEALTHY : ({ status, disabled_reason: 'manual' } as const);
				await store.change(trx, accountId, id, { ...to, updated_at: clock.now() });
				if (status === 'disabled') await store.failPending(trx, id);
				return true;
			});
		},
		remove: (accountId, id) => database.transact((trx) => store.remove(trx, accountId, id)),
		async sendTest(accountId, id) {
			const endpoint = await store.find(db, accountId, id);
			if (endpoint?.status !== 'active') return null;
			const event = {
				id: eventId(),
				type: 'webhook.test',
				createdAt: clock.now(),
				data: { message: TEST_MESSAGE }
			};
			const test = { endpointId: id, status: endpoint.status, event, body: eventBody(event) };
			const deliveryId = await database.transact((trx) => insertDelivery(trx, test, { secrets, jobs }));
			jobs.nudge();
			return deliveryId;
		},
		async deliveries(accountId, endpointId, page) {
			if (!(await store.find(db, accountId, endpointId))) return [];
			return (await store.deliveries(db, endpointId, page)).map(deliveryView);
		},
		async delivery(accountId, deliveryId) {
			const row = await store.findDelivery(db, accountId, deliveryId);
			const endpoint = row && (await store.find(db, accountId, row.endpoint_id));
			if (!endpoint) return null;
			const body = secrets.decrypt(row.body_sealed, bodyContext(endpoint.id, row.event_id));
			const sentAt = row.last_attempt_at ?? row.created_at;
			return {
				...deliveryView(row),
				request: {
					url: endpoint.address,
					headers: headersOf(row.event_id, Math.floor(sentAt / 1000)),
					body: redactBody(body)
				},
				log: (await store.attempts(db, deliveryId)).map(attemptView)
			};
		},
		async replay(accountId, deliveryId) {
			const row = await store.findDelivery(db, accountId, deliveryId);
			const endpoint = row && (await store.find(db, accountId, row.endpoint_id));
			if (endpoint?.status !== 'active') return false;
			const now = clock.now();
			await database.transact(async (trx) => {
				await store.replay(trx, deliveryId, now);
				await jobs.scheduleInGroup(trx, store.DELIVERY_JOB, endpoint.id, [deliveryId], now);
			});
			jobs.nudge();
			return true;
		},
		async replayFailed(accountId, endpointId, since) {
			const endpoint = await store.find(db, accountId, endpointId);
			if (endpoint?.status !== 'active') return 0;
			const now = clock.now();
			const count = await database.transact(async (trx) => {
				const ids = await store.replayFailed(trx, endpointId, { since, now });
				await jobs.scheduleInGroup(trx, store.DELIVERY_JOB, endpointId, ids, now);
				return ids.length;
			});
			jobs.nudge();
			return count;
		}
	};
}

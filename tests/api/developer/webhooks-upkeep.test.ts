/** Accounts get an email about failing webhooks. Deliveries are deleted after a month. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import { createLog } from '#lib/server/platform/log.ts';
import type { EndpointRow } from '#lib/server/developer/webhook-delivery.ts';
import { keepWebhooks } from '#lib/server/developer/webhook-upkeep.ts';
import { createDatabaseOn } from '../../support/database/postgres.ts';
import { DATABASES } from '../../support/server/fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const start = Date.parse('2026-11-21T09:00:00.000Z');

describe.each(DATABASES)('on %s', (kind) => {
	let folder: string;
	let database: Database;
	let now: number;
	let told: EndpointRow[];
	let isMailDown: boolean;
	let sweep: () => Promise<number>;
	let accountId: number;

	beforeEach(async () => {
		folder = mkdtempSync(path.join(tmpdir(), 'airtill-upkeep-'));
		const url =
			kind === 'sqlite' ? `file:${path.join(folder, 'a.db')}` : await createDatabaseOn(inject('postgresUrl'));
		database = await openDatabase(url, { poolSize: 3 });
		now = start;
		told = [];
		isMailDown = false;
		sweep = newSweep();
		const account = await database.db
			.insertInto('accounts')
			.values({ email: 'a@tests.invalid', role: 'app', plan: 'default', status: 'active', created_at: now })
			.returning('id')
			.executeTakeFirstOrThrow();
		accountId = account.id;
	});
	afterEach(async () => {
		await database.close();
		rmSync(folder, { recursive: true, force: true });
	});

	const newSweep = () =>
		keepWebhooks.bind(null, {
			database,
			clock: { now: () => now },
			log: createLog('silent'),
			notify: async (endpoint) => {
				if (isMailDown) throw new Error('no mail today');
				told.push(endpoint);
			}
		});

	/** An endpoint that has failed since `failingSince`, so many times. */
	async function failing(failingSince: number | null, failures: number): Promise<number> {
		const { id } = await database.db
			.insertInto('webhook_endpoints')
			.values({
				account_id: accountId,
				url: `https://app.example.com/${randomUUID()}`,
				address: `https://app.example.com/${randomUUID()}`,
				events: '["session.created"]',
				status: 'active',
				secret_sealed: 'x',
				failing_since: failingSince,
				created_at: start,
				updated_at: start
			})
			.returning('id')
			.executeTakeFirstOrThrow();
		const delivery = await deliveryOf(id, { status: 'pending', next_attempt_at: start + 9 * day });
		for (let count = 0; count < failures; count += 1)
			await attemptOf(delivery, (failingSince ?? start) + count);
		return id;
	}

	async function deliveryOf(endpointId: number, values: object = {}): Promise<number> {
		const { id } = await database.db
			.insertInto('webhook_deliveries')
			.values({
				endpoint_id: endpointId,
				event_id: `evt_${randomUUID()}`,
				type: 'session.created',
				body_sealed: 'x',
				status: 'delivered',
				created_at: now,
				updated_at: now,
				...values
			})
			.returning('id')
			.executeTakeFirstOrThrow();
		return id;
	}

	async function attemptOf(deliveryId: number, startedAt: number): Promise<void> {
		await database.db
			.insertInto('webhook_attempts')
			.values({ delivery_id: deliveryId, started_at: startedAt, duration_ms: 5, status_code: 500 })
			.execute();
	}

	const endpoint = (id: number) =>
		database.db.selectFrom('webhook_endpoints').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
	const counted = async (table: 'webhook_deliveries' | 'webhook_attempts') =>
		(await database.db.selectFrom(table).select('id').execute()).length;

	it('notifies the account on the third day, once, and again when the endpoint is disabled on the fifth', async () => {
		const id = await failing(start, 12);
		now = start + 3 * day - minute;
		await sweep();
		expect(told).toEqual([]);
		now = start + 3 * day;
		await sweep();
		const { url } = await endpoint(id);
		const about = { id, account_id: accountId, url, failing_since: start };
		expect(told).toMatchObject([{ ...about, notice: 'failing', disabled_reason: null }]);
		now = start + 5 * day - minute;
		await sweep();
		expect((await endpoint(id)).status).toBe('active');
		expect(told).toHaveLength(1);
		now = start + 5 * day;
		await sweep();
		expect(told.slice(1)).toMatchObject([{ ...about, notice: 'disabled', disabled_reason: 'failing' }]);
		expect(await endpoint(id)).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
		const [delivery] = await database.db.selectFrom('webhook_deliveries').selectAll().execute();
		expect(delivery).toMatchObject({ status: 'failed', last_failure: 'endpoint_disabled' });
		now = start + 9 * day;
		await sweep();
		expect(told).toHaveLength(2);
	});

	it('nine failures in five days do not disable an endpoint; ten do', async () => {
		const [nine, ten] = [await failing(start, 9), await failing(start, 10)];
		now = start + 5 * day;
		await sweep();
		expect([(await endpoint(nine)).status, (await endpoint(ten)).status]).toEqual(['active', 'disabled']);
	});

	it('failures before the last success do not count, nor do those of tests', async () => {
		const id = await failing(start, 9);
		const old = await deliveryOf(id);
		for (let count = 0; count < 20; count += 1) await attemptOf(old, start - hour);
		const test = await deliveryOf(id, { type: 'webhook.test' });
		for (let count = 0; count < 20; count += 1) await attemptOf(test, start + hour);
		now = start + 6 * day;
		await sweep();
		expect((await endpoint(id)).status).toBe('active');
	});

	it('sends a failed notification later, by one of several processes', async () => {
		const id = await failing(start, 12);
		isMailDown = true;
		now = start + 3 * day;
		await sweep();
		expect((await endpoint(id)).notice).toBe('failing');
		isMailDown = false;
		now += hour;
		await Promise.all([sweep(), newSweep()(), newSweep()()]);
		expect(told).toHaveLength(1);
		expect((await endpoint(id)).notice).toBeNull();
	});

	it('keeps deliveries and attempts for thirty days', async () => {
		const id = await failing(null, 0);
		const old = await deliveryOf(id, { updated_at: start });
		await attemptOf(old, start);
		// Replayed later: the delivery stays as long as its last attempt.
		const replayed = await deliveryOf(id, { updated_at: start + 10 * day });
		await attemptOf(replayed, start);
		await attemptOf(replayed, start + 10 * day);
		now = start + 30 * day;
		await sweep();
		expect([await counted('webhook_deliveries'), await counted('webhook_attempts')]).toEqual([3, 3]);
		now += minute;
		await sweep();
		// What still waits is not old.
		expect([await counted('webhook_deliveries'), await counted('webhook_attempts')]).toEqual([2, 1]);
		now = start + 40 * day + minute;
		await sweep();
		expect([await counted('webhook_deliveries'), await counted('webhook_attempts')]).toEqual([1, 0]);
	});

	it('deletes an old secret when it expires', async () => {
		const id = await failing(null, 0);
		await database.db
			.updateTable('webhook_endpoints')
			.set({ old_secret_sealed: 'old', old_secret_until: start + day })
			.execute();
		now = start + day - 1;
		await sweep();
		expect((await endpoint(id)).old_secret_sealed).toBe('old');
		now = start + day + minute;
		await sweep();
		expect(await endpoint(id)).toMatchObject({ old_secret_sealed: null, old_secret_until: null });
	});
});

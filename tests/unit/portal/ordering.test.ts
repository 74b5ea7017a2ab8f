import { Refused } from '#lib/server/platform/errors.ts';
import { sql } from 'kysely';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import { systemClock } from '#lib/server/platform/clock.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { createSecrets, purchaseToken } from '#lib/server/platform/secrets.ts';
import type { ApiClient } from '#lib/server/portal/api-client.ts';
import { buyTime } from '#lib/server/portal/ordering.ts';
import { createPurchases, parsePaymentIds } from '#lib/server/portal/purchases.ts';
import { createRateLimits } from '#lib/server/rate-limits.ts';
import path from 'node:path';

const form = {
	...{ routerId: 1, duration: '1h', offerId: null, paymentMethod: 'mtn_momo', phone: '0772123456' },
	...{ amount: 1_000, currency: 'UGX' }
};
const openOn = (database: Database) =>
	createPurchases({
		database,
		clock: systemClock,
		secrets: createSecrets('x'.repeat(32)),
		rateLimits: createRateLimits(database, systemClock, createLog('silent')),
		region: 'UG',
		readInExtraTime: () => Promise.resolve(null),
		findOutages: () => Promise.resolve(null)
	});

let folder: string;
let database: Database;

beforeEach(async () => {
	folder = mkdtempSync(path.join(tmpdir(), 'airtill-ordering-'));
	database = await openDatabase(`file:${path.join(folder, 'airtill.db')}`, { poolSize: 1 });
});

afterEach(async () => {
	await database.close();
	rmSync(folder, { recursive: true });
});

it('keeps a purchase whose payment was started and could not be stored', async () => {
	const purchases = openOn(database);
	const startPayment = vi.fn(async () => ({ id: 7 }));
	const api = { createSession: async () => ({ id: 3 }), startPayment } as unknown as ApiClient;
	const token = purchaseToken();
	await sql`create trigger refuse before update on purchases when new.payment_ids <> old.payment_ids
		begin select raise(abort, 'no disk'); end`.execute(database.db);
	await expect(buyTime(purchases, api, token, form)).rejects.toThrow('no disk');
	await sql`drop trigger refuse`.execute(database.db);

	expect(await buyTime(purchases, api, token, form)).toBe(token);
	const rows = await database.db.selectFrom('purchases').selectAll().execute();
	expect(rows.map(parsePaymentIds)).toEqual([[7]]);
	const keys = startPayment.mock.calls.map((call: unknown[]) => call[1]);
	expect(new Set(keys).size).toBe(1);
	expect(keys).toHaveLength(2);
});

it('a refused order deletes its purchase, unless another process has ordered its session', async () => {
	const purchases = openOn(database);
	const refusal = new Refused<string>('router_offline', 'The router is offline.');
	const rows = () => database.db.selectFrom('purchases').select('session_id').execute();
	let createSession = async (): Promise<unknown> => Promise.reject(refusal);
	const api = { createSession: () => createSession() } as unknown as ApiClient;
	await expect(buyTime(purchases, api, purchaseToken(), form)).rejects.toBe(refusal);
	expect(await rows()).toEqual([]);

	createSession = async () => {
		await database.db.updateTable('purchases').set({ session_id: 3 }).execute();
		throw refusal;
	};
	await expect(buyTime(purchases, api, purchaseToken(), form)).rejects.toBe(refusal);
	expect(await rows()).toEqual([{ session_id: 3 }]);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/lib/server/db/database.ts';
import type { ApiClient } from '../../src/lib/server/portal/api-client.ts';
import { createOrdering } from '../../src/lib/server/portal/purchases/ordering.ts';
import { paymentIds } from '../../src/lib/server/portal/purchases/store.ts';
import { purchaseToken } from '../../src/lib/server/platform/ids.ts';

it('keeps a purchase whose payment was started and could not be stored', async () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-ordering-'));
	const database = await openDatabase(`file:${path.join(folder, 'airtill.db')}`, { poolSize: 1 });
	const codes = { columns: () => ({}), of: async () => '', open: async () => null };
	const ordering = createOrdering(database, { now: () => Date.now() }, codes as never);
	const startPayment = vi.fn(async () => ({ id: 7 }));
	const api = { createSession: async () => ({ id: 3 }), startPayment } as unknown as ApiClient;
	const form = {
		...{ routerId: 1, duration: '1h', paymentMethod: 'mtn_momo', phone: '0772123456' },
		...{ amount: 1_000, currency: 'UGX' }
	};
	const token = purchaseToken();
	await sql`create trigger refuse before update on purchases when new.payment_ids <> old.payment_ids
		begin select raise(abort, 'no disk'); end`.execute(database.db);
	await expect(ordering.buy(api, token, form)).rejects.toThrow('no disk');
	await sql`drop trigger refuse`.execute(database.db);

	expect(await ordering.buy(api, token, form)).toBe(token);
	const rows = await database.db.selectFrom('purchases').selectAll().execute();
	expect(rows.map(paymentIds)).toEqual([[7]]);
	const keys = startPayment.mock.calls.map((call: unknown[]) => call[1]);
	expect(new Set(keys).size).toBe(1);
	expect(keys).toHaveLength(2);

	await database.close();
	rmSync(folder, { recursive: true });
});

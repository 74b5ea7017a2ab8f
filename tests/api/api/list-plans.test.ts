/** The queries behind the lists of an account: one range of an index, so that each page costs the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql, type CompiledQuery, type Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import * as payments from '../../../src/lib/server/billing/payments/store.ts';
import * as sessions from '../../../src/lib/server/billing/sessions/store.ts';
import { openDatabase, type Database } from '../../../src/lib/server/db/database.ts';
import type { Schema } from '../../../src/lib/server/db/schema.ts';
import { createEvents } from '../../../src/lib/server/events/events.ts';
import { BOTH_DATABASES } from '../../support/server/fixture.ts';
import { noting } from '../../support/server/noting.ts';
import { createDatabaseOn } from '../../support/server/postgres.ts';

const page = { createdAfter: 1, createdBefore: 9_000, limit: 3 };
const after = [5_000, 7] as const;

const NUMBERS = 'with recursive n (i) as (select 1 union all select i + 1 from n where i < 6000)';
/** Rows of three accounts, of which few are in the state that is asked for. */
const ROWS = [
	`insert into sessions (account_id, router_id, status, duration, duration_seconds, payment_method, phone,
			amount_minor, currency, ssid, payment_due_at, created_at, updated_at)
		select 1 + i % 3, 1, case i % 20 when 0 then 'cancelled' else 'ended' end, '1h', 3600, 'mtn_momo', '+256',
			500, 'UGX', 'x', 0, i, i`,
	`insert into payments (session_id, account_id, operator, payment_method, reference, amount_minor, currency, phone,
			status, submit_state, commission_basis_points, expires_at, created_at, updated_at)
		select i, 1 + i % 3, 'sandbox', 'mtn_momo', 'reference-' || i, 500, 'UGX', '+256',
			case i % 20 when 0 then 'failed' else 'success' end, 'accepted', 0, 0, i, i`,
	`insert into events (id, type, account_id, router_id, session_id, data, created_at)
		select 'evt_' || i, 'session.created', 1 + i % 3, 1, 1, '{"id":1}', i`
];

describe.each(BOTH_DATABASES)('on %s', (kind) => {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-lists-'));
	const ran: CompiledQuery[] = [];
	let database: Database;
	let noted: Kysely<Schema>;

	beforeAll(async () => {
		const url =
			kind === 'sqlite' ? `file:${folder}/airtill.db` : await createDatabaseOn(inject('postgresUrl'));
		database = await openDatabase(url, { poolSize: 1 });
		noted = noting(kind, url, ran);
		await sql
			.raw(kind === 'sqlite' ? 'pragma foreign_keys = off' : "set session_replication_role = 'replica'")
			.execute(noted);
		for (const insert of ROWS) await sql.raw(`${NUMBERS} ${insert} from n`).execute(noted);
		// SQLite has no statistics in an installation either.
		if (kind === 'postgres') await sql`analyze`.execute(noted);
	});

	afterAll(async () => {
		await noted.destroy();
		await database.close();
		rmSync(folder, { recursive: true });
	});

	it.each([
		['sessions', 'sessions_account_created', () => sessions.ofAccount(noted, 1, { ...page, after })],
		[
			'sessions in a state',
			'sessions_account_status',
			() => sessions.ofAccount(noted, 1, { ...page, after, status: 'cancelled' })
		],
		['payments', 'payments_account_created', () => payments.ofAccount(noted, 1, { ...page, after })],
		[
			'payments in a state',
			'payments_account_status',
			() => payments.ofAccount(noted, 1, { ...page, after, status: 'failed' })
		],
		[
			'events',
			'events_account',
			() => {
				const clock = { now: () => 0 };
				const events = createEvents({ database: { ...database, db: noted }, clock } as never, async () => {});
				return events.list({ accountId: 1 }, { ...page, after: [5_000, 'evt_7'] });
			}
		]
	])('%s are one range of the index %s, without a sort', async (_what, index, read) => {
		ran.length = 0;
		await read();
		const [query] = ran.splice(0);
		if (!query) throw new Error('No query ran');
		const explain = kind === 'sqlite' ? 'explain query plan' : 'explain';
		const { rows } = await noted.executeQuery({ ...query, sql: `${explain} ${query.sql}` });
		const plan = JSON.stringify(rows);
		expect(plan).toMatch(
			kind === 'sqlite'
				? new RegExp(`INDEX ${index} \\([^"]*created_at>\\? AND [(]?created_at[<,]`)
				: new RegExp(`Index (Only )?Scan( Backward)? using ${index} .*Index Cond[^}]*ROW\\(created_at`)
		);
		expect(plan).not.toMatch(/sort|TEMP B-TREE/i);
	});
});

/** Calls are logged in batches, after their answers, and a call never waits for its log. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDatabase, type Database } from '#lib/server/db/database.ts';
import { createLog } from '#lib/server/platform/log.ts';
import {
	KEPT_CALLS,
	type NewEntry,
	type RequestLog,
	startRequestLog,
	noteCall,
	listRecentCalls,
	stopRequestLog
} from '#lib/server/developer/request-log.ts';
import { anEntry } from '../../support/api/request-log.ts';
import { createDatabaseOn } from '../../support/database/postgres.ts';
import { DATABASES, eventually, insertKey, useFixture, type Fixture } from '../../support/server/fixture.ts';
import { openSql, type Row } from '../../support/database/sql.ts';

const minute = 60_000;

const logged = (fixture: Fixture, accountId: number) =>
	fixture.sql.all('select * from request_log where account_id = ? order by id', accountId);

/** The account's log once it has that many rows. */
async function rowsOf(fixture: Fixture, accountId: number, count: number): Promise<Row[]> {
	return eventually(`${count} calls are logged`, async () => {
		const rows = await logged(fixture, accountId);
		return rows.length >= count && rows;
	});
}

describe.each(DATABASES)('on %s', (database) => {
	describe('the calls of a server', () => {
		const fixture = useFixture({ database, env: { RATE_LIMIT_DEFAULT: '3' } });

		it('are noted with method, path, status, error code, duration, request id and key, whatever the answer', async () => {
			const { accountId, api } = await fixture().newKey({ role: 'app' });
			const answers = [
				await api.send('GET', '/v1/routers/1?secret=in-the-query'),
				await api.send('GET', '/v1/routers/999999'),
				await api.send('POST', '/v1/sessions', { body: { phone: 'none' } }),
				await api.send('GET', '/v1/owner/users'),
				await api.send('DELETE', '/v1/nothing/here'),
				await api.send('GET', `/v1/${'long/'.repeat(200)}`)
			];
			const rows = await rowsOf(fixture(), accountId, answers.length);
			expect(
				rows.map(({ method, path: at, status, error_code }) => [method, at, status, error_code])
			).toEqual([
				['GET', '/v1/routers/1', 200, null],
				['GET', '/v1/routers/999999', 404, 'router_not_found'],
				['POST', '/v1/sessions', 400, 'validation_failed'],
				['GET', '/v1/owner/users', 403, 'owner_role_required'],
				['DELETE', '/v1/nothing/here', 404, 'route_not_found'],
				['GET', expect.stringMatching(/^.{1,200}$/), 404, 'route_not_found']
			]);
			expect(rows.map((row) => row['request_id'])).toEqual(
				answers.map(({ headers }) => headers.get('x-request-id'))
			);
			const keyId = await fixture().sql.count('select id from api_keys where account_id = ?', accountId);
			for (const row of rows) {
				expect(row).toMatchObject({ key_id: keyId });
				expect(Math.abs(Number(row['at']) - Date.now())).toBeLessThan(minute);
				expect(Number(row['duration_ms'])).toBeLessThan(minute);
			}
		});

		it('are noted when the limit or a suspension refuses them, and not without an account', async () => {
			const limited = await fixture().newKey({ plan: 'default' });
			for (let call = 0; call < 4; call += 1) await limited.api.send('GET', '/v1/routers/1');
			const suspended = await fixture().newKey({ status: 'suspended' });
			await suspended.api.send('GET', '/v1/routers/1');
			const before = await fixture().sql.count('select count(*) from request_log');
			await fixture().nobody.send('GET', '/v1/routers/1');

			const statuses = (rows: Row[]) => rows.map(({ status }) => status);
			expect(statuses(await rowsOf(fixture(), limited.accountId, 4))).toEqual([200, 200, 200, 429]);
			expect(statuses(await rowsOf(fixture(), suspended.accountId, 1))).toEqual([403]);
			const { accountId, api } = await fixture().newKey();
			await api.getRouter(1);
			await rowsOf(fixture(), accountId, 1);
			const after = await fixture().sql.count('select count(*) from request_log');
			expect(after - before).toBeLessThanOrEqual(6);
			expect(await fixture().sql.count('select count(*) from request_log where key_id = 0')).toBe(0);
		});

		it('are written when the server ends in an orderly way', async () => {
			const { accountId, api } = await fixture().newKey();
			await api.getRouter(1);
			await fixture().server.kill('SIGTERM');
			expect(await logged(fixture(), accountId)).toHaveLength(1);
			await fixture().server.restart();
		});
	});

	describe('the log', () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'airtill-log-'));
		let url: string;
		let open: Database;
		let log: RequestLog;
		const now = Date.UTC(2030, 0, 1, 12, 0, 30);
		const silent = createLog('silent');
		const clock = { now: () => now };
		let account: { accountId: number; keyId: number };

		beforeAll(async () => {
			url = database === 'sqlite' ? `file:${folder}/a.db` : await createDatabaseOn(inject('postgresUrl'));
			open = await openDatabase(url, { poolSize: 4 });
			log = startRequestLog({ database: open, clock, log: silent });
			account = await newAccount();
		});
		afterAll(async () => {
			await stopRequestLog(log);
			await open.close();
			rmSync(folder, { recursive: true, force: true });
		});

		async function newAccount() {
			const look = await openSql(url);
			const { accountId } = await insertKey(look);
			const keyId = await look.count('select id from api_keys where account_id = ?', accountId);
			await look.close();
			return { accountId, keyId };
		}

		const entry = (number: number, more: Partial<NewEntry> = {}): NewEntry => ({
			...anEntry,
			...account,
			pathname: `/v1/routers/${number}`,
			requestId: `req_${number}`,
			...more
		});
		const numbers = (entries: { requestId: string }[]) =>
			entries.map(({ requestId }) => Number(requestId.slice('req_'.length)));

		it('keeps the last 1,000 calls of each account, and no more of another’s account', async () => {
			const quiet = await newAccount();
			account = await newAccount();
			noteCall(log, entry(1, quiet));
			for (let number = 1; number <= KEPT_CALLS + 4_000; number += 1) {
				noteCall(log, entry(number));
				if (number % 200 === 0) await listRecentCalls(log, account.accountId, { before: null, limit: 1 });
			}
			const found = await listRecentCalls(log, account.accountId, { before: null, limit: 5_000 });
			expect(numbers(found)).toEqual(
				Array.from({ length: KEPT_CALLS }, (_, index) => KEPT_CALLS + 4_000 - index)
			);
			expect(await listRecentCalls(log, quiet.accountId, { before: null, limit: 10 })).toHaveLength(1);
			const look = await openSql(url);
			const rows = await look.count(
				'select count(*) from request_log where account_id = ?',
				account.accountId
			);
			expect(rows).toBeLessThan(KEPT_CALLS + 1_000);
			await look.close();
		});

		it('of several processes loses nothing', async () => {
			account = await newAccount();
			const others = [await openDatabase(url, { poolSize: 2 }), await openDatabase(url, { poolSize: 2 })];
			const logs = others.map((other) => startRequestLog({ database: other, clock, log: silent }));
			for (let round = 0; round < 10; round += 1) {
				for (const one of [log, ...logs]) for (let call = 0; call < 10; call += 1) noteCall(one, entry(call));
				await Promise.all(
					logs.map((one) => listRecentCalls(one, account.accountId, { before: null, limit: 1 }))
				);
			}
			await eventually('all calls are written', async () => {
				for (const one of logs) await listRecentCalls(one, account.accountId, { before: null, limit: 1 });
				return (await listRecentCalls(log, account.accountId, { before: null, limit: 999 })).length >= 300;
			});
			expect(await listRecentCalls(log, account.accountId, { before: null, limit: 999 })).toHaveLength(300);
			await Promise.all(logs.map((one) => stopRequestLog(one)));
			await Promise.all(others.map((other) => other.close()));
		});

		it('takes no call’s time and does not fail when more calls come than there is room for', async () => {
			account = await newAccount();
			const started = performance.now();
			for (let number = 1; number <= 50_000; number += 1) {
				noteCall(log, entry(number, { accountId: 1_000_000 + (number % 40_000) }));
			}
			expect((performance.now() - started) / 50_000).toBeLessThan(0.2);
			expect(await listRecentCalls(log, 1_000_000 + 9_999, { before: null, limit: 10 })).toHaveLength(1);
		});
	});
});

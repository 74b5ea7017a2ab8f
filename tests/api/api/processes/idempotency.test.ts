/** Idempotency-Key at two processes that share a database. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi, numberEnding, orderOf, type Api } from '../../../support/api/api.ts';
import {
	codeOf,
	essence,
	isReplayed,
	newKey,
	PAYMENTS,
	paymentFor,
	post,
	race,
	SESSIONS
} from '../../../support/api/repeats.ts';
import { openSql } from '../../../support/database/sql.ts';
import { eventually, SECRET, useFixture } from '../../../support/server/fixture.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';

const REFUSE = `create function refuse() returns trigger language plpgsql
	as $$ begin raise exception 'refused by the test'; end $$`;

const fixture = useFixture({ database: 'postgres' });
let second: TestServer;
let apis: Api[];
beforeAll(async () => {
	second = await startServer({
		database: fixture().server.databaseUrl,
		env: { AIRTILL_SECRET: SECRET, AIRTILL_DEMO: 'off' }
	});
	const { key } = await fixture().newKey();
	apis = [createApi(fixture().server.url, key), createApi(second.url, key)];
});
afterAll(() => second?.stop());

function order() {
	const body = orderOf();
	const made = () => fixture().sql.count('select count(*) from sessions where phone = ?', body.phone);
	return { body, made };
}

it('of ten equal orders at once make one session', async () => {
	for (let round = 0; round < 10; round += 1) {
		const { body, made } = order();
		await race(apis, SESSIONS, newKey(), body);
		expect(await made()).toBe(1);
	}
});

// Before any payment: jobs that wait for the lock would take the connections of the process.
it('a repeated request during the first one is refused in the same process, and waits in another', async () => {
	const [one, two] = apis;
	if (!one || !two) throw new Error('no callers');
	const { body, made } = order();
	const key = newKey();
	const holder = await openSql(fixture().server.databaseUrl);
	await holder.run('begin');
	await holder.run('lock table sessions in exclusive mode');
	const first = post(one, key, SESSIONS, body);
	await eventually('the first one waits for the lock', async () => {
		const waiting = `select count(*) from pg_locks where not granted and relation = 'sessions'::regclass`;
		return holder.count(waiting);
	});
	const refused = await post(one, key, SESSIONS, body);
	expect([refused.status, codeOf(refused)]).toEqual([400, 'idempotency_key_in_use']);
	const waits = post(two, key, SESSIONS, body);
	await holder.run('commit');
	await holder.close();
	const answers = await Promise.all([first, waits]);
	expect(answers.map(({ status }) => status)).toEqual([201, 201]);
	expect(answers.filter(isReplayed)).toHaveLength(1);
	expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
	expect(await made()).toBe(1);
});

it('of ten equal payments at once make one, and none conflicts with itself', async () => {
	const [one] = apis;
	if (!one) throw new Error('no callers');
	for (let round = 0; round < 10; round += 1) {
		const session = await one.createSession({ phone: numberEnding(round % 2 === 0 ? '003' : '008') });
		await race(apis, PAYMENTS, newKey(), paymentFor(session));
		expect(await fixture().sql.count('select count(*) from payments where session_id = ?', session.id)).toBe(
			1
		);
	}
});

it('one answers from memory what the other has done', async () => {
	const [one, two] = apis;
	if (!one || !two) throw new Error('no callers');
	const { body } = order();
	const key = newKey();
	const first = await post(one, key, SESSIONS, body);
	const again = await post(two, key, SESSIONS, body);
	expect([isReplayed(again), essence(again)]).toEqual([true, essence(first)]);
	await two.refused('400 idempotency_key_reused', 'POST', SESSIONS, {
		body: { ...body, duration: '2h' },
		headers: { 'idempotency-key': key }
	});
});

it('logs no error', () => {
	expect(fixture().server.stderr() + second.stderr()).toBe('');
});

it('an answer is not kept when its effect fails in the last moment', async () => {
	const [one] = apis;
	if (!one) throw new Error('no callers');
	const { sql } = fixture();
	const { body, made } = order();
	const key = newKey();
	const headers = { 'idempotency-key': key };
	await sql.run(REFUSE);
	await sql.run(`create constraint trigger refuse_sessions after insert on sessions
		deferrable initially deferred for each row execute function refuse()`);
	try {
		await one.refused('500 internal_error', 'POST', SESSIONS, { body, headers });
	} finally {
		await sql.run('drop trigger refuse_sessions on sessions');
		await sql.run('drop function refuse');
	}
	expect(await sql.count('select count(*) from idempotent_answers where key = ?', key)).toBe(0);
	const answer = await post(one, key, SESSIONS, body);
	expect([answer.status, isReplayed(answer), await made()]).toEqual([201, false, 1]);
});

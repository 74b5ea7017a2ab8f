/** Idempotency-Key (section 6): a request that is repeated has one effect, and the same answer byte for byte. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
	createApi,
	numberEnding,
	orderOf,
	type Answer,
	type Api,
	type Session
} from '../../support/api/api.ts';
import { isAll } from '../../support/all.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { openSql } from '../../support/database/sql.ts';
import { REGISTER } from '../../support/api/webhooks.ts';
import {
	BOTH_DATABASES,
	eventually,
	recorded,
	runsAllOn,
	SECRET,
	useFixture,
	type Fixture
} from '../../support/server/fixture.ts';

const minute = 60_000;
const hour = 60 * minute;
const atOnce = 10;

const SESSIONS = '/v1/sessions';
const PAYMENTS = '/v1/payments/mobile-money';

let keys = 0;
/** A key that no test has used. */
function newKey(): string {
	keys += 1;
	return `key-${keys}`;
}

const post = (api: Api, key: string, path: string, body: unknown): Promise<Answer> =>
	api.send('POST', path, { body, headers: { 'idempotency-key': key } });

const paymentFor = ({ amount, phone, id }: Session) => ({ amount, phone, session_id: id });

/** The part that is the same in every answer to the same request. */
const essence = ({ status, headers, text }: Answer) => ({
	status,
	text,
	location: headers.get('location'),
	type: headers.get('content-type')
});

const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
const codeOf = ({ body }: Answer) => (Object(body) as { code?: string }).code;
const idOf = ({ body }: Answer) => (body as { id: number }).id;

/** The same request with another number, and with one that is none. */
const variants = <T extends object>(body: T) => ({
	other: { ...body, phone: numberEnding('123') },
	bad: { ...body, phone: 5 }
});

/**
 * A request on each of the paths that take a key, and the number of rows that it has made; with `other`, a request
 * for something else, and `bad`, which is none.
 */
const REQUESTS = [
	[
		SESSIONS,
		async ({ sql }: Fixture) => {
			const body = orderOf();
			const made = () => sql.count('select count(*) from sessions where phone = ?', body.phone);
			return { body, made, ...variants(body) };
		}
	],
	[
		PAYMENTS,
		async ({ api, sql }: Fixture) => {
			const body = paymentFor(await api.createSession({ phone: numberEnding('003') }));
			const made = () => sql.count('select count(*) from payments where phone = ?', body.phone);
			return { body, made, ...variants(body) };
		}
	],
	[
		REGISTER,
		async ({ sql }: Fixture) => {
			// An account may have 16.
			await sql.run('delete from webhook_endpoints');
			const body = { url: `https://app.example.com/${newKey()}`, events: ['payment.success'] };
			const made = () => sql.count('select count(*) from webhook_endpoints where url = ?', body.url);
			return { body, made, other: { ...body, events: ['session.ended'] }, bad: { ...body, url: 5 } };
		}
	]
] as const;

/** Statements that make the database refuse every answer, and those that undo it. */
const SQLITE_REFUSAL = [
	[
		`create trigger refuse_answers before insert on idempotent_answers
			begin select raise(abort, 'refused by the test'); end`
	],
	['drop trigger refuse_answers']
] as const;
const REFUSE = `create function refuse() returns trigger language plpgsql
	as $$ begin raise exception 'refused by the test'; end $$`;
const POSTGRES_REFUSAL = [
	[REFUSE, 'create trigger refuse_answers before insert on idempotent_answers execute function refuse()'],
	['drop trigger refuse_answers on idempotent_answers', 'drop function refuse']
] as const;

/** Sends the same request `atOnce` times in parallel; the answers must be those to one request. */
async function race(apis: Api[], path: string, key: string, body: unknown): Promise<Answer[]> {
	const answers = await Promise.all(
		Array.from({ length: atOnce }, async (_, index) => {
			const api = apis[index % apis.length];
			if (!api) throw new Error('no callers');
			return post(api, key, path, body);
		})
	);
	const done = answers.filter(({ status }) => status === 201);
	expect(done.length).toBeGreaterThan(0);
	for (const answer of done) expect(essence(answer)).toEqual(done[0] && essence(done[0]));
	expect(done.filter((answer) => !isReplayed(answer)).length).toBe(1);
	for (const answer of answers.filter(({ status }) => status !== 201)) {
		expect([answer.status, codeOf(answer), answer.headers.get('retry-after')]).toEqual([
			400,
			'idempotency_key_in_use',
			'1'
		]);
	}
	return answers;
}

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	const stored = (key: string) =>
		fixture().sql.count('select count(*) from idempotent_answers where key = ?', key);

	describe.each(REQUESTS)('POST %s', (path, prepare) => {
		it('with the same key and body gives the same answer, and has one effect', async () => {
			const { api } = fixture();
			const { body, made } = await prepare(fixture());
			const key = newKey();
			const first = await post(api, key, path, body);
			expect([first.status, isReplayed(first)]).toEqual([201, false]);
			for (let repeat = 0; repeat < 3; repeat += 1) {
				const again = await post(api, key, path, body);
				expect(isReplayed(again)).toBe(true);
				expect(essence(again)).toEqual(essence(first));
				expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
			}
			expect([await made(), await stored(key)]).toEqual([1, 1]);
		});

		it('gives the answer of then, whatever has become of its object', async () => {
			const { api, server } = fixture();
			const { body } = await prepare(fixture());
			const key = newKey();
			const first = await post(api, key, path, body);
			await server.advance(hour);
			expect(essence(await post(api, key, path, body))).toEqual(essence(first));
		});

		it('of ten at once has one effect; the others get the same answer or a request to retry', async () => {
			for (let round = 0; round < 5; round += 1) {
				const { body, made } = await prepare(fixture());
				const key = newKey();
				await race([fixture().api], path, key, body);
				expect([await made(), await stored(key)]).toEqual([1, 1]);
			}
		});

		it('of ten at once with a key and ten bodies carries out one', async () => {
			const { api } = fixture();
			const { body, made } = await prepare(fixture());
			const key = newKey();
			const answers = await Promise.all(
				Array.from({ length: atOnce }, (_, index) =>
					post(api, key, path, JSON.stringify(body) + ' '.repeat(index))
				)
			);
			expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
			for (const answer of answers.filter(({ status }) => status !== 201)) {
				expect(['idempotency_key_reused', 'idempotency_key_in_use']).toContain(codeOf(answer));
			}
			expect(await made()).toBe(1);
		});

		it('that was answered long ago is repeated by ten at once without any of them waiting', async () => {
			const { api } = fixture();
			const { body } = await prepare(fixture());
			const key = newKey();
			const first = await post(api, key, path, body);
			const answers = await Promise.all(Array.from({ length: atOnce }, () => post(api, key, path, body)));
			for (const answer of answers) expect(essence(answer)).toEqual(essence(first));
		});

		it('refuses a key with another body, and changes nothing', async () => {
			const { api } = fixture();
			const { body, other } = await prepare(fixture());
			const key = newKey();
			await post(api, key, path, body);
			const before = await recorded(fixture());
			const headers = { 'idempotency-key': key };
			for (const changed of [
				other,
				// The same fields: what counts are the bytes.
				JSON.stringify(body, null, 1),
				JSON.stringify(Object.fromEntries(Object.entries(body).reverse()))
			]) {
				await api.refused('400 idempotency_key_reused', 'POST', path, { body: changed, headers });
			}
			expect(await recorded(fixture())).toEqual(before);
		});

		it('checks key and body before it looks anything up', async () => {
			const { api } = fixture();
			const { body, bad } = await prepare(fixture());
			const key = newKey();
			await post(api, key, path, body);
			const headers = { 'idempotency-key': key };
			await api.refused('400 validation_failed', 'POST', path, { body: bad, headers });
			await api.refused('400 invalid_json', 'POST', path, { body: '{', headers });
		});
	});

	it('gives the same answer after a restart, on each path', async () => {
		const { api, server } = fixture();
		const sent = [];
		for (const [path, prepare] of REQUESTS) {
			const { body, made } = await prepare(fixture());
			const key = newKey();
			sent.push({ path, key, body, made, first: await post(api, key, path, body) });
		}
		await server.restart();
		for (const { path, key, body, made, first } of sent) {
			const again = await post(api, key, path, body);
			expect(isReplayed(again)).toBe(true);
			expect(essence(again)).toEqual(essence(first));
			expect(await made()).toBe(1);
		}
	});

	it('a quoted key is the bare one', async () => {
		const { api } = fixture();
		const body = orderOf();
		const key = newKey();
		const first = await post(api, `"${key}"`, SESSIONS, body);
		for (const same of [key, ` ${key} `, `"${key}"`]) {
			const again = await post(api, same, SESSIONS, body);
			expect([isReplayed(again), essence(again)]).toEqual([true, essence(first)]);
		}
		expect(await stored(key)).toBe(1);
	});

	it.each(['a', '0', 'Order_17:retry-2.b', 'x'.repeat(255), '8e03978e-40d5-43dd-bc93-6894a57f9324', '...'])(
		'takes the key %s',
		async (key) => {
			const body = orderOf();
			const first = await post(fixture().api, key, SESSIONS, body);
			expect(first.status).toBe(201);
			expect(isReplayed(await post(fixture().api, key, SESSIONS, body))).toBe(true);
		}
	);

	// Nothing is asked of the database before.
	if (runsAllOn(database)) {
		it.each([
			...['', '""', '"', 'a b', 'a,b', 'a, b', 'a/b', 'a"b', '"a', 'a"', '""a""', "'a'", 'a;q=1', 'a=b', 'ä'],
			...['a%20b', '{a}', 'x'.repeat(256), `"${'x'.repeat(256)}"`, 'a\tb']
		])('refuses the key %j, and does nothing', async (key) => {
			const { api } = fixture();
			const before = await recorded(fixture());
			for (const [path, body] of [
				[SESSIONS, orderOf()],
				[PAYMENTS, { amount: 500, phone: '0772123456', session_id: 1 }]
			] as const) {
				const request = { body, headers: { 'idempotency-key': key } };
				const { errors } = await api.refused('400 validation_failed', 'POST', path, request);
				expect(errors).toMatchObject([{ in: 'header', pointer: '/Idempotency-Key', code: 'invalid_format' }]);
			}
			expect(await recorded(fixture())).toEqual(before);
		});
	}

	it('no other request has a use for a key, not even for a bad one', async () => {
		const { api } = fixture();
		const headers = { 'idempotency-key': 'not a key' };
		const { id } = await api.createSession();
		for (const [method, path] of [
			['GET', `/v1/sessions/${id}`],
			['DELETE', `/v1/sessions/${id}`],
			['GET', '/v1/routers/1']
		] as const) {
			expect((await api.send(method, path, { headers })).status).toBe(200);
		}
	});

	describe('a refusal is not kept', () => {
		it('an order at an offline router succeeds under the same key when the router is back', async () => {
			const { api, sql } = fixture();
			const body = orderOf();
			const key = newKey();
			const headers = { 'idempotency-key': key };
			await sql.run(`update routers set status = 'offline' where id = 3`);
			try {
				await api.refused('400 router_unavailable', 'POST', SESSIONS, { body, headers });
			} finally {
				await sql.run(`update routers set status = 'online' where id = 3`);
			}
			expect(await stored(key)).toBe(0);
			const answer = await post(api, key, SESSIONS, body);
			expect([answer.status, isReplayed(answer)]).toEqual([201, false]);
			expect(isReplayed(await post(api, key, SESSIONS, body))).toBe(true);
		});

		it('a payment succeeds under the same key when the one before it has ended', async () => {
			const { api, server } = fixture();
			const session = await api.createSession({ phone: numberEnding('003') });
			const payment = await api.pay(session);
			const { id } = payment;
			await fixture().asked(payment);
			const key = newKey();
			const request = { body: paymentFor(session), headers: { 'idempotency-key': key } };
			await api.refused('400 payment_in_progress', 'POST', PAYMENTS, request);
			await server.advance(10 * minute);
			expect((await api.getPayment(id, 20)).status).toBe('expired');
			const answer = await post(api, key, PAYMENTS, request.body);
			expect([answer.status, isReplayed(answer)]).toEqual([201, false]);
			expect(idOf(answer)).not.toBe(id);
		});

		it('a body that was wrong may be put right under the same key', async () => {
			const { api } = fixture();
			const key = newKey();
			const body = orderOf();
			const headers = { 'idempotency-key': key };
			await api.refused('400 validation_failed', 'POST', SESSIONS, { body: {}, headers });
			await api.refused('400 duration_not_allowed', 'POST', SESSIONS, {
				body: { ...body, duration: '40w' },
				headers
			});
			expect((await post(api, key, SESSIONS, body)).status).toBe(201);
		});

		it('nor is a failure of ours', async () => {
			const { api, sql } = fixture();
			const key = newKey();
			const body = orderOf();
			await api.getRouter(1);
			await sql.run('alter table sessions rename to sessions_gone');
			try {
				const headers = { 'idempotency-key': key };
				await api.refused('500 internal_error', 'POST', SESSIONS, { body, headers });
			} finally {
				await sql.run('alter table sessions_gone rename to sessions');
			}
			const answer = await post(api, key, SESSIONS, body);
			expect([answer.status, isReplayed(answer)]).toEqual([201, false]);
		});
	});

	describe('a key belongs', () => {
		it('to its account: another one has its own effect, and does not see this one’s answer', async () => {
			const { api, other } = fixture();
			const key = newKey();
			const body = orderOf();
			const mine = await post(api, key, SESSIONS, body);
			const theirs = await post(other, key, SESSIONS, body);
			expect([theirs.status, isReplayed(theirs)]).toEqual([201, false]);
			expect(idOf(theirs)).not.toBe(idOf(mine));
			expect(essence(await post(other, key, SESSIONS, body))).toEqual(essence(theirs));
			expect(essence(await post(api, key, SESSIONS, body))).toEqual(essence(mine));
		});

		it('to all API keys of the account', async () => {
			const { accountId, api: one } = await fixture().newKey();
			const { api: two } = await fixture().newKey({ accountId });
			const key = newKey();
			const body = orderOf();
			const first = await post(one, key, SESSIONS, body);
			const again = await post(two, key, SESSIONS, body);
			expect([isReplayed(again), essence(again)]).toEqual([true, essence(first)]);
		});

		it('to its path, however that is written', async () => {
			const { api } = fixture();
			const key = newKey();
			const order = orderOf({ phone: numberEnding('003') });
			const created = await post(api, key, SESSIONS, order);
			const payment = await post(api, key, PAYMENTS, paymentFor(created.body as Session));
			expect([payment.status, isReplayed(payment)]).toEqual([201, false]);
			for (const path of ['/v1//sessions', '/v1/sessions/', '/v1/sessions?x=1']) {
				expect(essence(await post(api, key, path, order))).toEqual(essence(created));
			}
		});

		it('to callers with the scope: others get 403, not the answer', async () => {
			const { accountId, api: full } = await fixture().newKey();
			const { api: narrow } = await fixture().newKey({ accountId, scopes: ['sessions:read'] });
			const key = newKey();
			const body = orderOf();
			await post(full, key, SESSIONS, body);
			const headers = { 'idempotency-key': key };
			await narrow.refused('403 insufficient_scope', 'POST', SESSIONS, { body, headers });
			await fixture().nobody.refused('401 missing_api_key', 'POST', SESSIONS, { body, headers });
		});
	});

	it('is known for 24 hours, then forgotten and removed', async () => {
		const { api, server, sql } = fixture();
		const [key, unused] = [newKey(), newKey()];
		const body = orderOf();
		const first = await post(api, key, SESSIONS, body);
		await post(api, unused, SESSIONS, orderOf());
		await server.advance(24 * hour - 5_000);
		expect(isReplayed(await post(api, key, SESSIONS, body))).toBe(true);
		await server.advance(5_000);
		const second = await post(api, key, SESSIONS, body);
		expect([second.status, isReplayed(second)]).toEqual([201, false]);
		expect(idOf(second)).not.toBe(idOf(first));
		expect(await sql.count('select count(*) from sessions where phone = ?', body.phone)).toBe(2);
		// The new answer is known from now on; another body may use a forgotten key.
		expect(essence(await post(api, key, SESSIONS, body))).toEqual(essence(second));
		expect(await stored(key)).toBe(1);
		await server.advance(24 * hour + 10 * minute);
		expect((await post(api, key, SESSIONS, orderOf())).status).toBe(201);
		await eventually('the others are removed', async () => {
			return (await sql.count('select count(*) from idempotent_answers')) === 1;
		});
		expect(await stored(unused)).toBe(0);
	});

	it('lies sealed in the database, and cannot be moved to another key', async () => {
		const { api, sql } = fixture();
		const [mine, theirs] = [newKey(), newKey()];
		const [body, otherBody] = [orderOf(), orderOf()];
		const { body: session } = await post(api, mine, SESSIONS, body);
		await post(api, theirs, SESSIONS, otherBody);
		const rows = await sql.all('select * from idempotent_answers where key in (?, ?)', mine, theirs);
		expect(rows).toHaveLength(2);
		const text = JSON.stringify(rows);
		for (const secret of [body.phone, body.phone.slice(-9), (session as Session).ssid, 'pending_payment']) {
			expect(text).not.toContain(secret);
		}
		const [sealed] = await sql.all('select body, fingerprint from idempotent_answers where key = ?', theirs);
		await sql.run(
			'update idempotent_answers set body = ?, fingerprint = ? where key = ?',
			String(sealed?.['body']),
			String(sealed?.['fingerprint']),
			mine
		);
		const headers = { 'idempotency-key': mine };
		await api.refused('500 internal_error', 'POST', SESSIONS, { body: otherBody, headers });
	});

	it('effect and answer share one transaction: if the answer cannot be stored, nothing is done', async () => {
		const { api, sql } = fixture();
		const body = orderOf();
		const key = newKey();
		const headers = { 'idempotency-key': key };
		const [refuse, allow] = database === 'sqlite' ? SQLITE_REFUSAL : POSTGRES_REFUSAL;
		const before = await recorded(fixture());
		for (const statement of refuse) await sql.run(statement);
		try {
			await api.refused('500 internal_error', 'POST', SESSIONS, { body, headers });
		} finally {
			for (const statement of allow) await sql.run(statement);
		}
		expect(await recorded(fixture())).toEqual(before);
		expect((await post(api, key, SESSIONS, body)).status).toBe(201);
	});

	it('kill -9 at any moment: effect and answer are both there, or neither', async () => {
		const { api, server, sql } = fixture();
		for (const delayMs of isAll ? [0, 1, 2, 3, 5, 8, 13] : [0, 5]) {
			const body = orderOf();
			const key = newKey();
			const lost = post(api, key, SESSIONS, body).catch(() => null);
			await sleep(delayMs);
			await server.kill('SIGKILL');
			const first = await lost;
			const made = await sql.count('select count(*) from sessions where phone = ?', body.phone);
			expect(await stored(key)).toBe(made);
			if (first) expect(made).toBe(1);
			await server.restart();
			const again = await post(api, key, SESSIONS, body);
			expect([again.status, isReplayed(again)]).toEqual([201, made === 1]);
			if (first) expect(essence(again)).toEqual(essence(first));
			expect(await sql.count('select count(*) from sessions where phone = ?', body.phone)).toBe(1);
		}
	});
});

describe('two processes on one PostgreSQL', () => {
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

	const [[, prepareSession]] = REQUESTS;

	it('of ten equal orders at once make one session', async () => {
		for (let round = 0; round < 10; round += 1) {
			const { body, made } = await prepareSession(fixture());
			await race(apis, SESSIONS, newKey(), body);
			expect(await made()).toBe(1);
		}
	});

	// Before any payment: jobs that wait for the lock would take the connections of the process.
	it('a repeated request during the first one is refused in the same process, and waits in another', async () => {
		const [one, two] = apis;
		if (!one || !two) throw new Error('no callers');
		const { body, made } = await prepareSession(fixture());
		const key = newKey();
		const holder = await openSql(fixture().server.databaseUrl);
		await holder.run('begin');
		await holder.run('lock table sessions in exclusive mode');
		const first = post(one, key, SESSIONS, body);
		await eventually('the first one waits for the lock', async () => {
			const waiting = `select count(*) from pg_locks where not granted and relation = 'sessions'::regclass`;
			return holder.count(waiting);
		});
		const told = await post(one, key, SESSIONS, body);
		expect([told.status, codeOf(told)]).toEqual([400, 'idempotency_key_in_use']);
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
			expect(
				await fixture().sql.count('select count(*) from payments where session_id = ?', session.id)
			).toBe(1);
		}
	});

	it('one answers from memory what the other has done', async () => {
		const [one, two] = apis;
		if (!one || !two) throw new Error('no callers');
		const { body } = await prepareSession(fixture());
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
		const { body, made } = await prepareSession(fixture());
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
});

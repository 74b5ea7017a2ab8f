/** The form and the owner of an Idempotency-Key, and how its answer is stored. */
import { describe, expect, it } from 'vitest';
import { numberEnding, orderOf, type Session } from '../../support/api/api.ts';
import {
	essence,
	idOf,
	isReplayed,
	newKey,
	PAYMENTS,
	paymentFor,
	post,
	SESSIONS
} from '../../support/api/repeats.ts';
import { recorded, useFixture } from '../../support/server/fixture.ts';

const fixture = useFixture({ database: 'sqlite' });

it('a quoted key is the bare one', async () => {
	const { api } = fixture();
	const body = orderOf();
	const key = newKey();
	const first = await post(api, `"${key}"`, SESSIONS, body);
	for (const same of [key, ` ${key} `, `"${key}"`]) {
		const again = await post(api, same, SESSIONS, body);
		expect([isReplayed(again), essence(again)]).toEqual([true, essence(first)]);
	}
	expect(await fixture().sql.count('select count(*) from idempotent_answers where key = ?', key)).toBe(1);
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

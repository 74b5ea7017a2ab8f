/** Idempotency-Key (section 6): a request that is repeated has one effect, and the same answer byte for byte. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { numberEnding, orderOf } from '../../support/api/api.ts';
import { isAll } from '../../support/all.ts';
import {
	atOnce,
	codeOf,
	essence,
	idOf,
	isReplayed,
	keyed,
	newKey,
	PAYMENTS,
	paymentFor,
	post,
	race,
	SESSIONS
} from '../../support/api/repeats.ts';
import { REGISTER } from '../../support/api/webhooks.ts';
import {
	BOTH_DATABASES,
	eventually,
	recorded,
	useFixture,
	type Fixture
} from '../../support/server/fixture.ts';

const minute = 60_000;
const hour = 60 * minute;

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

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	const stored = (key: string) =>
		fixture().sql.count('select count(*) from idempotent_answers where key = ?', key);
	const sessionsOf = (phone: string) =>
		fixture().sql.count('select count(*) from sessions where phone = ?', phone);

	describe.each(REQUESTS)('POST %s', (path, prepare) => {
		it('with the same key and body gives the same answer, and has one effect', async () => {
			const { api, server } = fixture();
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
			// Whatever has become of its object, and without waiting for each other.
			await server.advance(hour);
			const late = await Promise.all(Array.from({ length: atOnce }, () => post(api, key, path, body)));
			for (const answer of late) expect(essence(answer)).toEqual(essence(first));
			expect([await made(), await stored(key)]).toEqual([1, 1]);
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

		it('refuses a key with another body, and changes nothing', async () => {
			const { api } = fixture();
			const [key, { body, other }] = [newKey(), await prepare(fixture())];
			await post(api, key, path, body);
			const before = await recorded(fixture());
			for (const changed of [
				other,
				// The same fields: what counts are the bytes.
				JSON.stringify(body, null, 1),
				JSON.stringify(Object.fromEntries(Object.entries(body).reverse()))
			]) {
				await api.refused('400 idempotency_key_reused', 'POST', path, keyed(key, changed));
			}
			expect(await recorded(fixture())).toEqual(before);
		});

		it('checks key and body before it looks anything up', async () => {
			const { api } = fixture();
			const [key, { body, bad }] = [newKey(), await prepare(fixture())];
			await post(api, key, path, body);
			await api.refused('400 validation_failed', 'POST', path, keyed(key, bad));
			await api.refused('400 invalid_json', 'POST', path, keyed(key, '{'));
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

	describe('a refusal is not kept', () => {
		it('an order at an offline router succeeds under the same key when the router is back', async () => {
			const { api, sql } = fixture();
			const [key, body] = [newKey(), orderOf()];
			await sql.run(`update routers set status = 'offline' where id = 3`);
			try {
				await api.refused('400 router_unavailable', 'POST', SESSIONS, keyed(key, body));
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
			const request = keyed(key, paymentFor(session));
			await api.refused('400 payment_in_progress', 'POST', PAYMENTS, request);
			await server.advance(10 * minute);
			expect((await api.getPayment(id, 20)).status).toBe('expired');
			const answer = await post(api, key, PAYMENTS, request.body);
			expect([answer.status, isReplayed(answer)]).toEqual([201, false]);
			expect(idOf(answer)).not.toBe(id);
		});

		it('a body that was wrong may be put right under the same key', async () => {
			const { api } = fixture();
			const [key, body] = [newKey(), orderOf()];
			await api.refused('400 validation_failed', 'POST', SESSIONS, keyed(key, {}));
			await api.refused(
				'400 duration_not_allowed',
				'POST',
				SESSIONS,
				keyed(key, { ...body, duration: '40w' })
			);
			expect((await post(api, key, SESSIONS, body)).status).toBe(201);
		});

		it('nor is a failure of ours', async () => {
			const { api, sql } = fixture();
			const [key, body] = [newKey(), orderOf()];
			await api.getRouter(1);
			await sql.run('alter table sessions rename to sessions_gone');
			try {
				await api.refused('500 internal_error', 'POST', SESSIONS, keyed(key, body));
			} finally {
				await sql.run('alter table sessions_gone rename to sessions');
			}
			const answer = await post(api, key, SESSIONS, body);
			expect([answer.status, isReplayed(answer)]).toEqual([201, false]);
		});
	});

	it('is known for 24 hours, then forgotten and removed', async () => {
		const { api, server, sql } = fixture();
		const [key, unused] = [newKey(), newKey()];
		const body = orderOf();
		const first = await post(api, key, SESSIONS, body);
		await post(api, unused, SESSIONS, orderOf());
		await server.advance(24 * hour - minute);
		expect(isReplayed(await post(api, key, SESSIONS, body))).toBe(true);
		await server.advance(minute);
		const second = await post(api, key, SESSIONS, body);
		expect([second.status, isReplayed(second)]).toEqual([201, false]);
		expect(idOf(second)).not.toBe(idOf(first));
		expect(await sessionsOf(body.phone)).toBe(2);
		// The new answer is known from now on; another body may use a forgotten key.
		expect(essence(await post(api, key, SESSIONS, body))).toEqual(essence(second));
		expect(await stored(key)).toBe(1);
		await server.advance(24 * hour + 10 * minute);
		expect((await post(api, key, SESSIONS, orderOf())).status).toBe(201);
		await eventually(
			'the others are removed',
			async () => (await sql.count('select count(*) from idempotent_answers')) === 1
		);
		expect(await stored(unused)).toBe(0);
	});

	it('effect and answer share one transaction: if the answer cannot be stored, nothing is done', async () => {
		const { api, sql } = fixture();
		const [key, body] = [newKey(), orderOf()];
		const [refuse, allow] = database === 'sqlite' ? SQLITE_REFUSAL : POSTGRES_REFUSAL;
		const before = await recorded(fixture());
		for (const statement of refuse) await sql.run(statement);
		try {
			await api.refused('500 internal_error', 'POST', SESSIONS, keyed(key, body));
		} finally {
			for (const statement of allow) await sql.run(statement);
		}
		expect(await recorded(fixture())).toEqual(before);
		expect((await post(api, key, SESSIONS, body)).status).toBe(201);
	});

	it('kill -9 at any moment: effect and answer are both there, or neither', async () => {
		const { api, server } = fixture();
		for (const delayMs of isAll ? [0, 1, 2, 3, 5, 8, 13] : [0, 5]) {
			const [key, body] = [newKey(), orderOf()];
			const lost = post(api, key, SESSIONS, body).catch(() => null);
			await sleep(delayMs);
			await server.kill('SIGKILL');
			const first = await lost;
			const made = await sessionsOf(body.phone);
			expect(await stored(key)).toBe(made);
			if (first) expect(made).toBe(1);
			await server.restart();
			const again = await post(api, key, SESSIONS, body);
			expect([again.status, isReplayed(again)]).toEqual([201, made === 1]);
			if (first) expect(essence(again)).toEqual(essence(first));
			expect(await sessionsOf(body.phone)).toBe(1);
		}
	});
});

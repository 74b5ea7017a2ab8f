/** The limits of section 4: per key and minute, exact, on every answer; and per address without a good key. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, createApi, orderOf, type Api } from '../../support/api/api.ts';
import { DEFAULTS, admitted, ask, limitsOf, moveClock, remaining } from '../../support/api/rates.ts';
import { useFixture, type NewKey, DATABASES } from '../../support/server/fixture.ts';
import { MAX_ACTIVE_KEYS } from '#lib/server/developer/api-keys.ts';

const minute = 60_000;
/** On PostgreSQL a request counts until its second has left the window. */
const counted = minute + 1_000;

/** A key's limit. The default of 100 would be ten thousand requests, more than a busy machine answers in a minute. */
const KEY = 20;
const ENTERPRISE = 10 * KEY;
const FAILED_KEYS = 300;
const LIMITS = { ...DEFAULTS, RATE_LIMIT_DEFAULT: String(KEY), RATE_LIMIT_ENTERPRISE: String(ENTERPRISE) };

/** The body of a 429. */
const refusalOf = ({ headers }: Answer, wait: number, policy: string, detail: string) => ({
	type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
	title: 'Rate limit exceeded',
	status: 429,
	detail,
	code: 'rate_limit_exceeded',
	request_id: headers.get('x-request-id'),
	retry_after: wait,
	'violated-policies': [policy]
});

/** Any of the requests of an address. */
const from = (address: string) => ({ headers: { 'x-client-address': address } });

/** Starts a server with these limits, and makes a key for each test. */
function useRates(database: string) {
	const fixture = useFixture({ database, env: { ...LIMITS, ADDRESS_HEADER: 'x-client-address' } });
	let caller: NewKey;
	let moveDatabase = async (_ms: number) => {};
	if (database === 'postgres') {
		beforeAll(async () => {
			moveDatabase = await moveClock(fixture().sql);
			await fixture().server.restart();
		});
	}
	beforeEach(async () => {
		caller = await fixture().newKey({ plan: 'default' });
	});

	/** Lets time pass for the limits, which go by the server's clock or by PostgreSQL's. */
	async function pass(ms: number): Promise<void> {
		await moveDatabase(ms);
		await fixture().server.advance(ms);
	}

	return { fixture, caller: () => caller, pass };
}

describe.each(DATABASES)('on %s', (database) => {
	const { fixture, caller, pass } = useRates(database);

	/** As many requests as it takes until none is left. */
	const exhaust = async (api: Api, limit = KEY) => expect(admitted(await ask([api], limit))).toBe(limit);

	describe('a key', () => {
		it('counts down from its limit, and one request more within 60 s is refused', async () => {
			const first = await caller().api.send('GET', '/v1/routers/1');
			expect(limitsOf(first).slice(0, 4)).toEqual([
				`"default";q=${KEY};w=60`,
				`"default";r=${KEY - 1};t=60`,
				String(KEY),
				String(KEY - 1)
			]);
			for (let left = KEY - 2; left >= 0; left -= 1) {
				const answer = await caller().api.send('GET', '/v1/routers/1');
				expect({ status: answer.status, left: remaining(answer) }).toEqual({ status: 200, left });
			}
			await caller().api.refused('429 rate_limit_exceeded', 'GET', '/v1/routers/1');
		});

		it('says in the refusal what was exceeded and when to come back', async () => {
			await exhaust(caller().api);
			await pass(40_000);
			const answer = await caller().api.send('GET', '/v1/routers/1');
			const body = answer.body as { retry_after: number; request_id: string };
			const wait = body.retry_after;
			expect(wait).toBeGreaterThan(10);
			expect(wait).toBeLessThanOrEqual(21);
			expect(answer).toMatchObject({ status: 429 });
			expect(body).toEqual(
				refusalOf(
					answer,
					wait,
					'default',
					`${KEY} requests per minute are allowed for this API key. Retry in ${wait} s.`
				)
			);
			expect(answer.headers.get('retry-after')).toBe(String(wait));
			expect(limitsOf(answer)).toEqual([
				`"default";q=${KEY};w=60`,
				`"default";r=0;t=${wait}`,
				String(KEY),
				'0',
				expect.any(String)
			]);
			expect(answer.headers.get('content-type')).toBe('application/problem+json');
		});

		it('names in X-RateLimit-Reset the second in which its oldest request stops counting', async () => {
			const { server } = fixture();
			const before = server.now();
			const answer = await caller().api.send('GET', '/v1/routers/1');
			const after = server.now();
			const reset = Number(answer.headers.get('x-ratelimit-reset'));
			// PostgreSQL counts by its own clock, whose milliseconds are not the server's.
			expect(reset).toBeGreaterThanOrEqual(Math.floor((before + minute) / 1000));
			expect(reset).toBeLessThanOrEqual(Math.ceil((after + counted) / 1000) + 1);
		});

		it('is admitted again 60 s after its first request, one by one as they were', async () => {
			const [most, rest] = [0.6 * KEY, 0.4 * KEY];
			await exhaust(caller().api, most);
			await pass(counted / 2);
			expect(admitted(await ask([caller().api], most))).toBe(rest);
			// The first ones stop counting, those of half a minute ago do not.
			await pass(counted / 2);
			expect(admitted(await ask([caller().api], 0.8 * KEY))).toBe(most);
			await pass(counted / 2);
			expect(admitted(await ask([caller().api], most))).toBe(rest);
			await pass(counted);
			expect(remaining(await caller().api.send('GET', '/v1/routers/1'))).toBe(KEY - 1);
		});

		it('is not punished for asking on: refusals do not count', async () => {
			await exhaust(caller().api);
			await pass(50_000);
			expect(admitted(await ask([caller().api], 1.2 * KEY))).toBe(0);
			await pass(counted - 50_000);
			expect(admitted(await ask([caller().api], KEY + 1))).toBe(KEY);
		});

		it('pays for every answer it gets: 201, 400, 403, 404 and unknown routes alike', async () => {
			const { api } = await fixture().newKey({ plan: 'default', scopes: ['sessions:write'] });
			const calls = [
				[201, 'POST', '/v1/sessions', { body: orderOf() }],
				[400, 'POST', '/v1/sessions', { body: '{' }],
				[400, 'POST', '/v1/sessions', { body: {}, headers: { 'content-type': 'text/plain' } }],
				[403, 'GET', '/v1/routers/1', {}],
				[403, 'GET', '/v1/owner/earnings', {}],
				[404, 'DELETE', '/v1/sessions/999999', {}],
				[404, 'GET', '/v1/nothing', {}],
				[404, 'PATCH', '/v1/sessions', {}],
				[404, 'HEAD', '/v1/nothing', {}],
				[400, 'GET', '/v1/%FF', {}]
			] as const;
			for (const [index, [status, method, path, request]] of calls.entries()) {
				const answer = await api.send(method, path, request);
				expect([answer.status, remaining(answer)], `${method} ${path}`).toEqual([status, KEY - 1 - index]);
			}
		});

		it('has a limit of its own: another key of the account is not held up', async () => {
			const second = await fixture().newKey({ accountId: caller().accountId });
			await exhaust(caller().api);
			await caller().api.refused('429 rate_limit_exceeded', 'GET', '/v1/routers/1');
			expect(remaining(await second.api.send('GET', '/v1/routers/1'))).toBe(KEY - 1);
			await exhaust(second.api, KEY - 1);
		});

		it('has all of its own limit beside as many others as an account may have; all together have no more', async () => {
			const keys = await Promise.all(
				Array.from({ length: MAX_ACTIVE_KEYS - 1 }, () => fixture().newKey({ accountId: caller().accountId }))
			);
			for (const { api } of keys) await exhaust(api);
			const last = await fixture().newKey({ accountId: caller().accountId });
			await exhaust(last.api);
			// One key more than an account may have, as after revoking one.
			const problem = await caller().api.refused('429 rate_limit_exceeded', 'GET', '/v1/routers/1');
			expect(problem['violated-policies']).toEqual(['account']);
			expect(problem.detail).toContain(
				`${MAX_ACTIVE_KEYS * KEY} requests per minute are allowed for all API keys of this account`
			);
			const other = await fixture().newKey({ plan: 'default' });
			expect(remaining(await other.api.send('GET', '/v1/routers/1'))).toBe(KEY - 1);
			await pass(counted);
			expect(remaining(await caller().api.send('GET', '/v1/routers/1'))).toBe(KEY - 1);
		});

		it('beyond its limit is refused before any other check, and nothing is done', async () => {
			const narrow = await fixture().newKey({ plan: 'default', status: 'suspended' });
			for (const { api } of [caller(), narrow]) await exhaust(api);
			const sessions = () => fixture().sql.count('select count(*) from sessions');
			const before = await sessions();
			for (const { api } of [caller(), narrow]) {
				for (const [method, path, body] of [
					['GET', '/v1/nothing', undefined],
					['PATCH', '/v1/routers', undefined],
					['GET', '/v1/owner/earnings', undefined],
					['GET', '/v1/sessions/abc', undefined],
					['GET', '/v1/sessions/999999', undefined],
					['GET', '/v1/%FF', undefined],
					['POST', '/v1/sessions', '{'],
					['POST', '/v1/sessions', orderOf()]
				] as const) {
					await api.refused('429 rate_limit_exceeded', method, path, { body });
				}
			}
			expect(await sessions()).toBe(before);
		});
	});

	it('the enterprise plan has its own limit, exactly', async () => {
		const { api } = await fixture().newKey({ plan: 'enterprise' });
		const answers = await ask([api], ENTERPRISE + 10);
		expect(answers[0]?.headers.get('ratelimit-policy')).toBe(`"enterprise";q=${ENTERPRISE};w=60`);
		expect(admitted(answers)).toBe(ENTERPRISE);
		const problem = await api.refused('429 rate_limit_exceeded', 'GET', '/v1/routers/1');
		expect(problem['violated-policies']).toEqual(['enterprise']);
		expect(problem.detail).toContain(`${ENTERPRISE} requests per minute`);
	});

	it('a plan that grows helps at once, a plan that shrinks holds within a minute', async () => {
		const { sql, server } = fixture();
		const setRatePlan = async (plan: string) => {
			await sql.run('update accounts set plan = ? where id = ?', plan, caller().accountId);
			// What a process knows of a key is at most five seconds old.
			await server.advance(5_000);
		};
		await exhaust(caller().api, KEY / 2);
		await pass(10_000);
		await exhaust(caller().api, KEY / 2);
		await caller().api.refused('429 rate_limit_exceeded', 'GET', '/v1/routers/1');
		await setRatePlan('enterprise');
		const answers = await ask([caller().api], 3 * KEY);
		expect(admitted(answers)).toBe(3 * KEY);
		await setRatePlan('default');
		await pass(counted);
		expect(admitted(await ask([caller().api], 1.3 * KEY))).toBe(KEY);
		await pass(30_000);
		expect(admitted(await ask([caller().api], 10))).toBe(0);
		await pass(counted - 30_000);
		expect(admitted(await ask([caller().api], 1.3 * KEY))).toBe(KEY);
	});

	it('the pages buy without a limit that a person would meet', async () => {
		const { server, sql } = fixture();
		for (let seen = 0; seen < 30; seen += 1) {
			expect((await fetch(`${server.url}/?lat=0.3377&lon=32.5878`, from('192.0.2.50'))).status).toBe(200);
		}
		expect(await sql.count(`select count(*) from accounts where plan = 'portal'`)).toBe(1);
	});

	/** The limit of requests without a valid key (section 4): per address, whoever else is there. */
	describe('an address without a good key', () => {
		const failed = (address: string) => fixture().nobody.send('GET', '/v1/routers/1', from(address));
		const failOften = (count: number, addressOf: (index: number) => string) =>
			Promise.all(Array.from({ length: count }, async (_, index) => (await failed(addressOf(index))).status));

		it('that the proxy did not name is refused like any other', async () => {
			await fixture().nobody.refused('401 missing_api_key', 'GET', '/v1/routers/1');
		});

		it('gets 401 as often as the limit, then 429', async () => {
			const statuses = await failOften(FAILED_KEYS + 1, () => '192.0.2.1');
			expect(statuses.filter((status) => status === 401)).toHaveLength(FAILED_KEYS);
			expect(statuses.filter((status) => status === 429)).toHaveLength(1);
			const answer = await failed('192.0.2.1');
			const wait = Number(answer.headers.get('retry-after'));
			expect(answer.body).toEqual(
				refusalOf(
					answer,
					wait,
					'failed-keys',
					`Too many requests without a valid API key. Retry in ${wait} s.`
				)
			);
			// A wrong key counts as a missing one does, on any path.
			const wrong = createApi(fixture().server.url, `${caller().key.slice(0, -1)}!`);
			await wrong.refused('429 rate_limit_exceeded', 'POST', '/v1/nothing', from('192.0.2.1'));
			await pass(counted);
			expect((await failed('192.0.2.1')).status).toBe(401);
		});

		it('does not hold up other addresses, nor a good key at the same one', async () => {
			await failOften(FAILED_KEYS + 1, () => '192.0.2.2');
			expect((await failed('192.0.2.2')).status).toBe(429);
			expect((await failed('192.0.2.3')).status).toBe(401);
			const good = await caller().api.send('GET', '/v1/routers/1', from('192.0.2.2'));
			expect([good.status, remaining(good)]).toEqual([200, KEY - 1]);
		});

		it('is not used up by a good key', async () => {
			const { api } = await fixture().newKey({ plan: 'enterprise' });
			await Promise.all(
				Array.from({ length: FAILED_KEYS + 10 }, () => api.send('GET', '/v1/x', from('192.0.2.4')))
			);
			expect((await failed('192.0.2.4')).status).toBe(401);
		});

		it('is a whole /64 of IPv6, and an IPv4 address however it is written', async () => {
			const statuses = await failOften(FAILED_KEYS + 1, (index) =>
				index % 2 === 0 ? `2001:db8:0:7::${index.toString(16)}` : `"[2001:DB8:0:7::1]:${51_234 + index}"`
			);
			expect(statuses.filter((status) => status === 429)).toHaveLength(1);
			expect((await failed('2001:db8:0:7:ffff::1')).status).toBe(429);
			expect((await failed('2001:db8:0:8::1')).status).toBe(401);
			await failOften(FAILED_KEYS, (index) =>
				index % 2 === 0 ? `192.0.2.5:${51_234 + index}` : '::ffff:192.0.2.5'
			);
			expect((await failed('192.0.2.5')).status).toBe(429);
		});
	});
});

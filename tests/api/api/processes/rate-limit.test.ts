/** The limits at two processes, which share their counts in PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi } from '../../../support/api/api.ts';
import { admitted, ask, DEFAULTS, limitsOf, remaining } from '../../../support/api/rates.ts';
import { SECRET, useFixture } from '../../../support/server/fixture.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';

const minute = 60_000;

const fixture = useFixture({ database: 'postgres', env: DEFAULTS });
let second: TestServer;
beforeAll(async () => {
	second = await startServer({
		database: fixture().server.databaseUrl,
		env: { ...DEFAULTS, AIRTILL_SECRET: SECRET, AIRTILL_DEMO: 'off' }
	});
});
afterAll(() => second?.stop());

it('share the counts: of 300 requests at once with two keys over both at most 100 per key are admitted, and few less', async () => {
	const { server, newKey } = fixture();
	const callers = await Promise.all([1, 2].map(() => newKey({ plan: 'default' })));
	const places = [server.url, second.url].flatMap((url, at) => [0, 1].map((key) => ({ url, key: key ^ at })));
	const apis = places.map(({ url, key }) => createApi(url, callers[key]?.key ?? ''));
	const answers = await ask(apis, 300, '/v1/routers/1', 150);
	for (const index of [0, 1]) {
		const ofKey = answers.filter((_, sent) => places[sent % places.length]?.key === index);
		expect(admitted(ofKey)).toBeLessThanOrEqual(100);
		expect(admitted(ofKey)).toBeGreaterThan(80);
		expect(ofKey.filter(({ status }) => status === 200).every((answer) => remaining(answer) >= 0)).toBe(true);
	}
});

it('count by the database’s clock: a process whose clock is wrong changes nothing', async () => {
	const { key, api } = await fixture().newKey({ plan: 'default' });
	await second.advance(-10 * minute);
	const both = [api, createApi(second.url, key)];
	const first = admitted(await ask(both, 130));
	await second.advance(20 * minute);
	expect(first + admitted(await ask(both, 30))).toBeLessThanOrEqual(100);
	expect(first).toBeGreaterThan(80);
});

it('forget nothing when one of them starts again', async () => {
	const { key, api } = await fixture().newKey({ plan: 'default' });
	expect(admitted(await ask([api], 100))).toBe(100);
	await second.restart();
	await createApi(second.url, key).refused('429 rate_limit_exceeded', 'GET', '/v1/routers/1');
});

it('forget callers who have not asked for a while, so that a flood of addresses does not stay', async () => {
	const { newKey, server, sql } = fixture();
	const idle = await newKey();
	await idle.api.getRouter(1);
	await sql.run(`update rate_counts set asked_at = asked_at - interval '1 hour'`);
	await server.advance(10 * minute);
	const { api } = await newKey();
	await api.getRouter(1);
	expect(await sql.count('select count(*) from rate_counts')).toBe(2);
	expect(remaining(await idle.api.send('GET', '/v1/routers/1'))).toBe(999);
});

it('let requests pass when counting fails, rather than stop a purchase', async () => {
	const { api } = await fixture().newKey({ plan: 'default' });
	await fixture().sql.run('alter table rate_counts rename to rate_counts_gone');
	try {
		const answer = await api.send('GET', '/v1/routers/1');
		expect(answer.status).toBe(200);
		expect(limitsOf(answer).slice(0, 2)).toEqual(['"default";q=100;w=60', '"default";r=100;t=0']);
	} finally {
		await fixture().sql.run('alter table rate_counts_gone rename to rate_counts');
	}
	expect(remaining(await api.send('GET', '/v1/routers/1'))).toBe(99);
	expect(fixture().server.stderr()).toContain('rate limit not counted');
});

it('admit by default 1000 requests of an enterprise key, and 300 without a good key', async () => {
	const { newKey, nobody } = fixture();
	const answer = await (await newKey()).api.send('GET', '/v1/routers/1');
	expect(limitsOf(answer).slice(0, 1)).toEqual(['"enterprise";q=1000;w=60']);
	expect(remaining(answer)).toBe(999);
	const statuses = await Promise.all(
		Array.from({ length: 301 }, async () => (await nobody.send('GET', '/v1/routers/1')).status)
	);
	expect(statuses.filter((status) => status === 401)).toHaveLength(300);
});

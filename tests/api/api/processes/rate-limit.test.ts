/** The limits at two processes, which share their counts in PostgreSQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi } from '../../../support/api/api.ts';
import { admitted, ask, DEFAULTS, limitsOf, remaining } from '../../../support/api/rates.ts';
import { openSql, type Sql } from '../../../support/database/sql.ts';
import { random } from '../../../support/random.ts';
import { eventually, SECRET, useFixture } from '../../../support/server/fixture.ts';
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

it('share the counts: of 300 requests at once with two keys over both exactly 100 per key are admitted', async () => {
	const { server, newKey } = fixture();
	const callers = await Promise.all([1, 2].map(() => newKey({ plan: 'default' })));
	// Each process gets the keys in another order, and may not wait for the other's locks.
	const places = [server.url, second.url].flatMap((url, at) => [0, 1].map((key) => ({ url, key: key ^ at })));
	const apis = places.map(({ url, key }) => createApi(url, callers[key]?.key ?? ''));
	const answers = await ask(apis, 300, '/v1/routers/1', 150);
	for (const [index, { key }] of callers.entries()) {
		const ofKey = answers.filter((_, sent) => places[sent % places.length]?.key === index);
		const left = ofKey.filter(({ status }) => status === 200).map(remaining);
		expect(left.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, at) => at));
		for (const url of [server.url, second.url]) {
			await createApi(url, key).refused('429 rate_limit_exceeded', 'GET', '/v1/routers/1');
		}
	}
});

it('do not wait for each other with the same keys in another order', async () => {
	const [one, other] = await Promise.all([1, 2].map(() => openSql(fixture().server.databaseUrl)));
	if (!one || !other) throw new Error('no connections');
	const take = (client: Sql, first: string, second: string) =>
		client.all(
			`select admitted from take_rates(array[1, 2], array['${first}', '${second}'], array[9, 9], array[1000, 1000])`
		);
	await take(one, 'x', 'y');
	await one.run('begin');
	await one.run(`select 1 from rate_heads where subject = 'y' for update`);
	const taken = take(other, 'x', 'y');
	const waiting =
		"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
	await eventually('the other waits', () => fixture().sql.count(waiting));
	await one.run(`select 1 from rate_heads where subject = 'x' for update nowait`);
	await one.run('commit');
	expect(await taken).toEqual([{ admitted: true }, { admitted: true }]);
	await Promise.all([one.close(), other.close()]);
});

it('decide as a log of all admitted requests does, with limits that change', async () => {
	const { sql } = fixture();
	for (let seed = 1; seed <= 4; seed += 1) {
		const next = random(seed);
		const subject = `test:${seed}`;
		let ages: number[] = [];
		let limit = 1 + next(4);
		for (let step = 0; step < 40; step += 1) {
			if (next(8) === 0) limit = 1 + next(6);
			if (next(4) === 0) {
				const seconds = 25 * (1 + next(3));
				ages = ages.map((age) => age + seconds).filter((age) => age < 60);
				await sql.run(
					`update rate_hits set at = at - make_interval(secs => ${seconds}) where subject = '${subject}'`
				);
			}
			const admits = ages.length < limit;
			if (admits) ages.push(0);
			const [row] = await sql.all(
				`select admitted, remaining from take_rate('${subject}', ${limit}, interval '60 s')`
			);
			const expected = { admitted: admits, remaining: Math.max(limit - ages.length, 0) };
			expect(row, `seed ${seed}, step ${step}`).toEqual(expected);
		}
	}
});

it('count by the database’s clock: a process whose clock is wrong changes nothing', async () => {
	const { key, api } = await fixture().newKey({ plan: 'default' });
	await second.advance(-10 * minute);
	expect(admitted(await ask([api, createApi(second.url, key)], 110))).toBe(100);
	await second.advance(20 * minute);
	expect(admitted(await ask([api, createApi(second.url, key)], 10))).toBe(0);
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
	await sql.run(`update rate_heads set asked_at = asked_at - interval '1 hour'`);
	await server.advance(10 * minute);
	const { api } = await newKey();
	await api.getRouter(1);
	expect(await sql.all('select count(*) as hits from rate_hits')).toEqual([{ hits: 2 }]);
	expect(await sql.all('select count(*) as heads from rate_heads')).toEqual([{ heads: 2 }]);
	expect(remaining(await idle.api.send('GET', '/v1/routers/1'))).toBe(999);
});

it('let requests pass when counting fails, rather than stop a purchase', async () => {
	const { api } = await fixture().newKey({ plan: 'default' });
	await fixture().sql.run('alter table rate_hits rename to rate_hits_gone');
	try {
		const answer = await api.send('GET', '/v1/routers/1');
		expect(answer.status).toBe(200);
		expect(limitsOf(answer).slice(0, 2)).toEqual(['"default";q=100;w=60', '"default";r=100;t=0']);
	} finally {
		await fixture().sql.run('alter table rate_hits_gone rename to rate_hits');
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

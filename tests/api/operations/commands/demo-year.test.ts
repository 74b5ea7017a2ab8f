/** `demo --year`: the same trade each time, in a sandbox only, whose figures are the sums of its payments. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { cli } from '../../../support/server/cli.ts';
import { DATABASES, SECRET, useFixture } from '../../../support/server/fixture.ts';

const YEAR = ['demo', '--year', '--routers', '5', '--sessions', '700'];
/** The trade depends on the clock: at some hours no session of so few runs. */
const AT = Date.parse('2030-06-03T12:00:00Z');
const folder = mkdtempSync(path.join(tmpdir(), 'airtill-year-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({
		database,
		env: { AIRTILL_TEST_CLOCK_OFFSET_MS: String(AT - Date.now()) }
	});

	it('adds routers with a year of sessions once, and the running ones end', async () => {
		const { sql, server } = fixture();
		expect((await cli(YEAR, server)).code).toBe(0);
		const count = (what: string) => sql.count(`select count(*) from ${what}`);
		expect(await count("routers where external_id like 'year-%'")).toBe(5);
		expect(await count('sessions')).toBe(700);
		expect(await count('payments join sessions on sessions.id = payments.session_id')).toBe(700);
		expect(await count("sessions where status = 'active' and pass_id is null")).toBe(0);
		const running = await count("sessions where status = 'active'");
		expect(running).toBeGreaterThan(0);
		expect(await count("jobs where kind = 'session.settle'")).toBe(running);
		expect(await count("refunds where status = 'succeeded'")).toBe(
			await count('payments where refunded_at is not null')
		);
		const again = await cli(YEAR, server);
		expect([again.code, again.stderr]).toEqual([
			1,
			'This database has a demo year already. Use a new one.\n'
		]);
		expect(await count('sessions')).toBe(700);
	});

	it('its payments are those of the earnings', async () => {
		const { sql, owner } = fixture();
		const from = new Date(AT - 400 * 86_400_000).toISOString().slice(0, 10);
		const { body } = await owner.send('GET', `/v1/owner/earnings?period=monthly&from=${from}`);
		const [sold] = await sql.all(
			`select count(*) as sessions, sum(amount_minor) as gross,
				sum(case when refunded_at is not null then amount_minor else 0 end) as refunds
				from payments where applied = 1`
		);
		// PostgreSQL sums to a type that arrives as text.
		const { sessions, gross, refunds } = (body as { total: Record<string, number> }).total;
		expect([sessions, gross, refunds]).toEqual(
			['sessions', 'gross', 'refunds'].map((name) => Number(sold?.[name]))
		);
	});
});

it.each([
	['live mode', { AIRTILL_MODE: 'live' }],
	['a sandbox without demo data', { AIRTILL_DEMO: 'off' }]
])('refuses %s', async (_what, env) => {
	const settings = { DATABASE_URL: `file:${folder}/airtill.db`, DATA_DIR: folder };
	const { code, stderr } = await cli(YEAR, { env: { ...settings, AIRTILL_SECRET: SECRET, ...env } });
	expect([code, stderr]).toEqual([1, 'Demo data needs a sandbox with AIRTILL_DEMO=on.\n']);
});

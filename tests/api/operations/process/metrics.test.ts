/** /metrics: who may read it, what it counts, and that reading it costs buyers nothing. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as reviews from '#lib/server/billing/reviews.ts';
import * as jobs from '#lib/server/jobs.ts';
import * as monitoring from '#lib/server/monitoring.ts';
import { numberEnding } from '../../../support/api/api.ts';
import { DATABASES, eventually, useFixture } from '../../../support/server/fixture.ts';
import { PLANNERS, useQueryPlans } from '../../../support/database/query-plans.ts';
import { startServer } from '../../../support/server/server.ts';

const METRICS_TOKEN = 'a token of the tests, not a secret';
/** Longer than a reading is kept. */
const nextReadingMs = 6_000;

const get = (url: string, authorization?: string) =>
	fetch(`${url}/metrics`, authorization === undefined ? {} : { headers: { authorization } });

it('without METRICS_TOKEN there is no such page, whatever is sent', async () => {
	const server = await startServer();
	try {
		for (const authorization of [undefined, 'Bearer ', 'Bearer null', `Bearer ${METRICS_TOKEN}`]) {
			expect((await get(server.url, authorization)).status).toBe(404);
		}
	} finally {
		await server.stop();
	}
});

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: { METRICS_TOKEN } });

	/** Lines by name and labels, as in the text. */
	async function read(): Promise<{ text: string; values: Map<string, number> }> {
		await fixture().server.advance(nextReadingMs);
		const response = await get(fixture().server.url, `Bearer ${METRICS_TOKEN}`);
		expect(response.status).toBe(200);
		expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
		const text = await response.text();
		const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
		const values = lines.map((line): [string, number] => {
			const end = line.lastIndexOf(' ');
			return [line.slice(0, end), Number(line.slice(end))];
		});
		return { text, values: new Map(values) };
	}

	it('only the token opens it: no key, no part of the token, no sign-in', async () => {
		const { key } = await fixture().newKey({ role: 'admin' });
		const wrong = [
			undefined,
			'',
			'Bearer ',
			METRICS_TOKEN,
			`Bearer ${METRICS_TOKEN.slice(0, -1)}`,
			`Bearer ${key}`
		];
		for (const authorization of wrong) {
			const response = await get(fixture().server.url, authorization);
			expect(response.status, authorization).toBe(401);
			expect(await response.text()).not.toContain('airtill');
		}
	});

	it('requests have the pattern of their route, never an id, a number or what somebody typed', async () => {
		const { session, payment } = await fixture().buy({ phone: numberEnding('008') });
		const { url } = fixture().server;
		for (const typed of [`/v1/sessions/${session.id}/typed-secret`, '/typed-secret', '/v1/typed-secret']) {
			await fetch(url + typed);
		}
		await fixture()
			.api.getSession(987_654_321)
			.catch(() => null);
		await fetch(`${url}/r/987654321`);
		for (const method of ['PROPFIND', 'PURGE']) await fetch(`${url}/typed-secret`, { method });
		const { text, values } = await read();
		expect(values.get('airtill_http_requests_total{method="POST",route="/v1/sessions",status="201"}')).toBe(
			1
		);
		expect(
			values.get('airtill_http_requests_total{method="GET",route="/v1/sessions/:id",status="404"}')
		).toBeGreaterThan(0);
		expect(values.get('airtill_http_requests_total{method="GET",route="none",status="404"}')).toBeGreaterThan(
			0
		);
		expect(
			values.get('airtill_http_request_duration_seconds_count{method="POST",route="/v1/sessions"}')
		).toBe(1);
		expect(text).toContain('method="other"');
		for (const secret of [
			'PROPFIND',
			'PURGE',
			'typed',
			'987654321',
			session.phone,
			session.password ?? '-',
			payment.provider_reference
		]) {
			expect(text).not.toContain(secret);
		}
		expect(text).not.toMatch(/="[^"]*(\+?\d{7,}|atl_|evt_|req_)/);
	});

	it('a purchase counts once, however often its transactions are tried again', async () => {
		const paid = await Promise.all(Array.from({ length: 12 }, () => fixture().buy()));
		expect(paid).toHaveLength(12);
		const events = await fixture().sql.all('select type, count(*) as times from events group by type');
		const { values } = await read();
		for (const { type, times } of events) {
			const [stage, outcome] = String(type).split('.');
			expect(values.get(`airtill_purchases_total{stage="${stage}",outcome="${outcome}"}`), String(type)).toBe(
				times
			);
		}
		const call = 'operator="sandbox",call="submit",outcome="accepted"';
		expect(values.get(`airtill_operator_call_duration_seconds_count{${call}}`)).toBeGreaterThanOrEqual(12);
	});

	it('money that waits for a decision has its number and age', async () => {
		const before = await read();
		expect(before.values.get('airtill_money_waiting{for="review"}')).toBe(0);
		const payment = await fixture().api.pay(
			await fixture().api.createSession({ phone: numberEnding('009') })
		);
		await fixture().decided(payment);
		await eventually('a review is open', () =>
			fixture().sql.count('select count(*) from reviews where resolved_at is null')
		);
		await fixture().server.advance(60_000);
		const { values } = await read();
		expect(values.get('airtill_money_waiting{for="review"}')).toBe(1);
		expect(values.get('airtill_money_waiting_oldest_seconds{for="review"}')).toBeGreaterThan(59);
	});

	it('has every metric of the alert rules and the dashboard, and the guide explains every alert', async () => {
		const file = (name: string) => readFileSync(new URL(`../../../../${name}`, import.meta.url), 'utf8');
		const rules = file('src/docs/monitoring/prometheus-alerts.yml');
		const dashboard = file('src/docs/monitoring/grafana-dashboard.json');
		const { text } = await read();
		const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
		const used = [...(rules + dashboard).matchAll(/\b(?:airtill|nodejs|process)_\w+/g)].map(([name]) => name);
		expect(used.length).toBeGreaterThan(40);
		const missing = used.filter(
			(name) => !known.has(name) && !known.has(name.replace(/_(bucket|count|sum)$/, ''))
		);
		expect(missing).toEqual([]);

		// Pages and calls that wait for a payment take long, and are not slow.
		const unjudged = new RegExp(`^${/route!~"(.+?)"/.exec(rules)?.[1]}$`);
		const purchase = '/(portal)/s/[token]/[[device=device]]';
		expect(
			[purchase, `${purchase}/status`, '/v1/payments/:id/status'].filter((route) => !unjudged.test(route))
		).toEqual([]);
		expect('/(portal)/r/[router]').not.toMatch(unjudged);

		const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
		const explained = [...file('src/docs/monitoring.md').matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
		expect(explained.sort()).toEqual(alerts.sort());
	});

	it('gateways, failing webhooks, the database and the process are in it', async () => {
		const { sql, server } = fixture();
		// The health check would judge the gateways of this test.
		await sql.run(`delete from jobs where kind = 'gateways.check'`);
		await sql.run(
			`insert into webhook_endpoints (account_id, url, address, events, status, secret_sealed, failing_since, created_at, updated_at)
				values (1, 'https://typed.example', 'https://typed.example', '[]', 'active', '', ?, 0, 0)`,
			server.now() - 90_000
		);
		const seen = [
			['responding', 5, null],
			['silent', 5, 9],
			['unknown', null, null]
		] as const;
		for (const [name, seenAt, unresponsiveSince] of seen) {
			await sql.run(
				`insert into gateways (router_id, kind, name, key_hash, key_sealed, login_hosts, settings, seen_at,
						unresponsive_since, created_at, updated_at)
					values (1, 'opennds', ?, ?, '', '[]', '{}', ?, ?, 0, 0)`,
				...[name, name, seenAt, unresponsiveSince]
			);
		}
		const { values, text } = await read();
		for (const [state] of seen) expect(values.get(`airtill_gateways{state="${state}"}`)).toBe(1);
		expect(values.get('airtill_webhooks_failing')).toBe(1);
		expect(values.get('airtill_webhooks_failing_oldest_seconds')).toBeGreaterThan(89);
		expect(values.get('airtill_database_up')).toBe(1);
		expect(values.get('airtill_database_size_bytes')).toBeGreaterThan(100_000);
		expect(values.has('airtill_database_connections{state="busy"}')).toBe(database === 'postgres');
		for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']) {
			expect(values.get(name), name).toBeGreaterThan(0);
		}
		expect(text).not.toContain('typed');
	});
});

/** Of many rows, few are those that a reading counts. */
const ROWS = [
	`insert into jobs (kind, subject_id, run_at, created_at)
		select case when i % 500 = 0 then 'payment.refund' else 'sessions.end' end, i, i, i`,
	`insert into passes (id, router_id, access_kind, max_devices, activating_until, created_at, updated_at)
		select i, 1, 'shared_password', 1, case when i % 500 = 0 then i end, i, i`,
	`insert into reviews (subject, reason, opened_at, resolved_at, decision)
		select 'payment ' || i, 'contradiction', i, case when i % 500 > 0 then i end,
			case when i % 500 > 0 then 'dismiss' end`
];

describe.each(PLANNERS)('what a reading asks of %s', (kind) => {
	const plans = useQueryPlans(kind, ROWS);

	it.each([
		['refunds under way', () => monitoring.findRefunds(plans().db, 'payment.refund')],
		['passes without a gateway', () => monitoring.passes(plans().db)],
		['open reviews', () => reviews.countOpenReviews(plans().db)],
		['due jobs', () => jobs.dueKinds(plans().db, 50)]
	])('%s are read from an index', async (_what, read) => {
		const plan = await plans().planOf(read);
		expect(plan).toMatch(/INDEX|Index/);
		// SQLite may scan a sub-select, which is bounded.
		expect(plan).not.toMatch(/SCAN (?!due\b)\w+"|Seq Scan/);
	});
});

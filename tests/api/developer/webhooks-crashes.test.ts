/** Deliveries when a process is killed, stops, or shares its database with another one (wire format 5.2). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberEnding, type Session } from '../../support/api/api.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';
import { arrived, INSECURE, newPath, quiet, register, useWebhooks } from '../../support/api/webhooks.ts';
import { openSql } from '../../support/database/sql.ts';
import { DATABASES, eventually, SECRET, useFixture } from '../../support/server/fixture.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { findWebhook, replayFailedDeliveries } from '#lib/server/developer/webhooks.ts';

const hour = 60 * 60_000;
/** A dead process keeps its deliveries for so long. */
const leaseMs = 30_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: INSECURE });
	const hooks = useWebhooks(fixture);

	it('session.expired arrives once for each session, also after kill -9', async () => {
		const { receiver } = hooks();
		const { api, server, sql } = fixture();
		const path = newPath();
		const { id } = await register(api, receiver.url + path, ['session.expired']);
		const sessions: Session[] = [];
		for (let index = 0; index < 4; index += 1) sessions.push((await fixture().buy()).session);
		await server.kill('SIGKILL');
		await server.advance(hour + leaseMs);
		await server.restart();
		// Readers settle what is due too, at the same time as the job.
		await Promise.all(sessions.flatMap((one) => [api.getSession(one.id), api.getSession(one.id)]));
		await server.kill('SIGKILL');
		await server.restart();
		await server.advance(leaseMs + 1_000);
		// Sessions of the tests before are over too.
		const rows = await eventually('all deliveries', async () => {
			const found = await sql.all(
				`select d.event_id, d.status from webhook_deliveries d join events e on e.id = d.event_id
					where d.endpoint_id = ? and e.session_id >= ?`,
				id,
				sessions[0]?.id ?? 0
			);
			return found.length > 0 && found.every(({ status }) => status === 'delivered') && found;
		});
		expect(rows.map(({ status }) => status)).toEqual(sessions.map(() => 'delivered'));
		// What was sent and not noted before the kill comes again, with the same id.
		const ids = new Set(receiver.at(path).map(({ headers }) => headers['webhook-id']));
		for (const { event_id } of rows) expect(ids).toContain(event_id);
		for (const one of sessions) {
			expect((await fixture().events(one.id)).filter((type) => type === 'session.expired')).toHaveLength(1);
		}
	});

	// SQLite has no transaction that another one overtakes.
	if (database === 'postgres')
		it('an event that is stored just as its endpoint is disabled is kept, also if the endpoint is enabled at once', async () => {
			const { receiver, webhooks } = hooks();
			const { api, accountId } = await fixture().newKey();
			const path = newPath();
			const endpoint = await register(api, receiver.url + path, ['session.created']);
			receiver.reply(path, { status: 410 });
			const { sql, server } = fixture();
			const holder = await openSql(server.databaseUrl);
			await holder.run('begin');
			await holder.run('lock table idempotent_answers in exclusive mode');
			const body = {
				router_id: 3,
				duration: '1h',
				payment_method: 'mobile_money',
				phone: numberEnding('008')
			};
			const headers = { 'idempotency-key': newPath().slice(1) };
			const ordered = api.send('POST', '/v1/sessions', { body, headers });
			await eventually('its event is written, not committed', () =>
				sql.count(
					"select count(*) from pg_locks where not granted and relation = 'idempotent_answers'::regclass"
				)
			);
			await api.createSession();
			await eventually(
				'the endpoint is disabled',
				async () => (await findWebhook(webhooks, accountId, endpoint.id))?.status === 'disabled'
			);
			await holder.run('commit');
			await holder.close();
			expect((await ordered).status).toBe(201);
			await eventually('nothing will be sent', async () => {
				const jobs = await sql.count('select count(*) from jobs where group_id = ?', endpoint.id);
				return jobs === 0;
			});
			await register(api, endpoint.url, ['session.created']);
			expect(await replayFailedDeliveries(webhooks, accountId, endpoint.id, 0)).toBe(2);
		});

	it('kill -9 during a delivery: it arrives again with the same id and body', async () => {
		const { receiver } = hooks();
		const { api, server } = fixture();
		const path = newPath();
		const { id, secret } = await register(api, receiver.url + path, ['session.created']);
		receiver.reply(path, (_, index) => (index === 0 ? 'hang' : { status: 200 }));
		await api.createSession();
		await arrived(receiver, path);
		await server.kill('SIGKILL');
		await server.advance(leaseMs + 1_000);
		await server.restart();
		const [first, second] = await arrived(receiver, path, 2);
		expect(second?.raw).toBe(first?.raw);
		expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
		expect(JSON.parse(second?.raw ?? '')).toMatchObject({ type: 'session.created' });
		expect(secret).not.toBeNull();
		await quiet(fixture(), id);
	});

	it('if another process fails with it at the same time, it is tried again as that one planned', async () => {
		const { receiver } = hooks();
		const { api, server, sql } = fixture();
		const path = newPath();
		const { id } = await register(api, receiver.url + path, ['session.created']);
		const answer = Promise.withResolvers<null>();
		receiver.reply(path, { status: 200, after: answer.promise });
		await api.createSession();
		await arrived(receiver, path);
		const failed = `update webhook_deliveries set attempts = 1, tries = 1, next_attempt_at = ?,
			last_status_code = 500 where endpoint_id = ?`;
		await sql.run(failed, server.now() + 5_000, id);
		answer.resolve(null);
		await quiet(fixture(), id);
		await server.advance(6_000);
		await arrived(receiver, path, 2);
		await eventually('it is delivered', () =>
			sql.count("select count(*) from webhook_deliveries where endpoint_id = ? and status = 'delivered'", id)
		);
	});

	it('SIGTERM does not wait for a receiver that hangs, and the delivery is not lost', async () => {
		const { receiver } = hooks();
		const { api, server } = fixture();
		const path = newPath();
		await register(api, receiver.url + path, ['session.created']);
		receiver.reply(path, (_, index) => (index === 0 ? 'hang' : { status: 200 }));
		await api.createSession();
		await arrived(receiver, path);
		await server.kill('SIGTERM');
		await server.restart();
		await arrived(receiver, path, 2);
	});
});

describe('two processes on one PostgreSQL', () => {
	const fixture = useFixture({ database: 'postgres', env: INSECURE });
	let receiver: Receiver;
	let second: TestServer;
	beforeAll(async () => {
		receiver = await startReceiver();
		second = await startServer({
			database: fixture().server.databaseUrl,
			env: { AIRTILL_SECRET: SECRET, AIRTILL_DEMO: 'off', ...INSECURE }
		});
	});
	afterAll(async () => {
		await second?.stop();
		await receiver?.stop();
	});

	it('deliver every event once, and never more than five at once to an endpoint', async () => {
		const path = newPath();
		const { id } = await register(fixture().api, receiver.url + path, ['session.created']);
		receiver.reply(path, { status: 200, afterMs: 60 });
		const many = 60;
		await Promise.all(Array.from({ length: many }, () => fixture().api.createSession()));
		await arrived(receiver, path, many);
		await quiet(fixture(), id);
		const received = receiver.at(path);
		expect(received).toHaveLength(many);
		expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(many);
		const most = Math.max(...received.map(({ atOnce }) => atOnce));
		expect(most).toBeLessThanOrEqual(5);
		expect(most).toBeGreaterThan(2);
	});

	it('if one is killed, the other delivers when the lease ends', async () => {
		const path = newPath();
		await register(fixture().api, receiver.url + path, ['session.created']);
		receiver.reply(path, (_, index) => (index < 5 ? 'hang' : { status: 200 }));
		// The first process takes all five: an attempt of the second would end by its own time limit.
		await second.kill('SIGTERM');
		for (let index = 0; index < 5; index += 1) await fixture().api.createSession();
		await arrived(receiver, path, 5);
		await fixture().server.kill('SIGKILL');
		await second.restart();
		await second.advance(leaseMs + 1_000);
		await eventually('all five', async () => {
			const ids = receiver
				.at(path)
				.slice(5)
				.map(({ headers }) => headers['webhook-id']);
			return new Set(ids).size >= 5 || (await second.advance(1_000), false);
		});
		await fixture().server.restart();
	});
});

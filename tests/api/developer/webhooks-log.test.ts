/** The developer pages of webhooks: log, replay, tests and secrets. */
import { beforeEach, expect, it } from 'vitest';
import type { Api } from '../../support/api/api.ts';
import { WEBHOOK_SECRET } from '../../support/api/wire.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';
import {
	arrived,
	INSECURE,
	newPath,
	quiet,
	register,
	useWebhooks,
	verified,
	type Registered
} from '../../support/api/webhooks.ts';
import {
	findWebhook,
	deleteWebhook,
	rotateWebhookSecret,
	setWebhookStatus,
	sendTestWebhook,
	listDeliveries,
	findDelivery,
	replayDelivery,
	replayFailedDeliveries
} from '#lib/server/developer/webhooks.ts';

const hour = 60 * 60 * 1000;
const day = 24 * hour;
const page = { before: null, limit: 100 };

const fixture = useFixture({ database: 'sqlite', env: { ...INSECURE, AIRTILL_LOG_LEVEL: 'debug' } });
const hooks = useWebhooks(fixture);
let api: Api;
let accountId: number;
let path: string;
let endpoint: Registered;
beforeEach(async () => {
	({ api, accountId } = await fixture().newKey());
	path = newPath();
	endpoint = await register(api, hooks().receiver.url + path, ['session.created']);
});

const deliveries = () => listDeliveries(hooks().webhooks, accountId, endpoint.id, page);
const delivered = async (count: number) =>
	eventually(`${count} delivered`, async () => {
		const all = await deliveries();
		return all.length >= count && all.every(({ status }) => status !== 'pending') && all;
	});

it('the log has request and answer of each attempt, the number masked, the first kilobyte, no signature', async () => {
	const { webhooks, receiver } = hooks();
	receiver.reply(path, ({ raw }) => ({ status: 202, body: `${raw}${'x'.repeat(3_000)}` }));
	const session = await api.createSession();
	const [delivery] = await delivered(1);
	const [received] = receiver.at(path);
	const detail = await findDelivery(webhooks, accountId, delivery?.id ?? 0);
	expect(detail).toMatchObject({
		endpointId: endpoint.id,
		eventId: received?.headers['webhook-id'],
		type: 'session.created',
		status: 'delivered',
		attempts: 1,
		nextAttemptAt: null,
		lastStatusCode: 202,
		lastFailure: null,
		request: {
			url: endpoint.url,
			headers: {
				'content-type': 'application/json',
				'user-agent': 'Airtill-Webhooks/1.0',
				'webhook-id': received?.headers['webhook-id'],
				'webhook-timestamp': received?.headers['webhook-timestamp']
			}
		}
	});
	expect(Object.keys(detail?.request.headers ?? {})).not.toContain('webhook-signature');
	const masked = `${session.phone.slice(0, 4)}*****${session.phone.slice(-4)}`;
	expect(detail?.request.body).toBe(received?.raw.replace(session.phone, masked));
	const [attempt] = detail?.log ?? [];
	expect(attempt).toMatchObject({ statusCode: 202, failure: null });
	expect(attempt?.response?.length).toBeLessThanOrEqual(1_024);
	expect(attempt?.response).toContain('"type":"session.created"');
	expect(JSON.stringify(detail)).not.toContain(session.phone.slice(-9));
});

it('lists deliveries in pages, newest first, and filters by status', async () => {
	const { webhooks, receiver } = hooks();
	receiver.reply(path, (_, index) => ({ status: index === 2 ? 500 : 200 }));
	for (let count = 1; count <= 5; count += 1) {
		await api.createSession();
		await arrived(receiver, path, count);
	}
	await quiet(fixture(), endpoint.id);
	const all = await deliveries();
	expect(all.map(({ status }) => status)).toEqual([
		...['delivered', 'delivered', 'pending', 'delivered', 'delivered']
	]);
	const first = await listDeliveries(webhooks, accountId, endpoint.id, { before: null, limit: 2 });
	const rest = await listDeliveries(webhooks, accountId, endpoint.id, {
		before: first[1]?.id ?? 0,
		limit: 9
	});
	expect([...first, ...rest]).toEqual(all);
	const pending = { before: null, limit: 9, status: 'pending' } as const;
	expect(await listDeliveries(webhooks, accountId, endpoint.id, pending)).toEqual([all[2]]);
});

it('a delivery is replayed with the same id and body and a new timestamp, as one more attempt', async () => {
	const { webhooks, receiver } = hooks();
	await api.createSession();
	const [delivery] = await delivered(1);
	await fixture().server.advance(5_000);
	expect(await replayDelivery(webhooks, accountId, delivery?.id ?? 0)).toBe(true);
	const [first, second] = await arrived(receiver, path, 2);
	expect(verified(second, endpoint.secret)).toEqual(verified(first, endpoint.secret));
	expect(second?.raw).toBe(first?.raw);
	expect(second?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
	await quiet(fixture(), endpoint.id);
	expect(await deliveries()).toMatchObject([{ id: delivery?.id, attempts: 2, status: 'delivered' }]);
	expect((await findDelivery(webhooks, accountId, delivery?.id ?? 0))?.log).toHaveLength(2);
});

it.each([200, 500])(
	'a replay that is requested while an attempt is in flight is sent after it, whatever the attempt returns (%i)',
	async (status) => {
		const { webhooks, receiver } = hooks();
		const { promise: after, resolve: answer } = Promise.withResolvers<undefined>();
		receiver.reply(path, (_, index) =>
			index === 0 ? { status, after, body: 'first' } : { status: 200, body: 'second' }
		);
		await api.createSession();
		await arrived(receiver, path, 1);
		const [inFlight] = await deliveries();
		expect(inFlight).toMatchObject({ status: 'pending', attempts: 0 });
		expect(await replayDelivery(webhooks, accountId, inFlight?.id ?? 0)).toBe(true);
		const answered = performance.now();
		answer(undefined);
		const [, second] = await arrived(receiver, path, 2);
		// The schedule alone would wait for 5 s after a failure.
		expect((second?.at ?? 0) - answered).toBeLessThan(4_000);
		await delivered(1);
		const detail = await findDelivery(webhooks, accountId, inFlight?.id ?? 0);
		expect(detail).toMatchObject({ status: 'delivered', attempts: 2, nextAttemptAt: null });
		expect(detail?.log.map(({ response }) => response)).toEqual(['first', 'second']);
	}
);

it('replays all that failed since a time, and nothing else', async () => {
	const { webhooks, receiver } = hooks();
	const { sql, server } = fixture();
	receiver.reply(path, { status: 500 });
	await api.createSession();
	await arrived(receiver, path, 1);
	await server.advance(60_000);
	await arrived(receiver, path, 2);
	await quiet(fixture(), endpoint.id);
	const old = (await deliveries())[0];
	await api.createSession();
	await api.createSession();
	await arrived(receiver, path, 4);
	await quiet(fixture(), endpoint.id);
	await sql.run(
		`update webhook_deliveries set status = 'failed', next_attempt_at = null where endpoint_id = ?`,
		endpoint.id
	);
	receiver.reply(path, { status: 200 });
	await api.createSession();
	await arrived(receiver, path, 5);
	expect(await replayFailedDeliveries(webhooks, accountId, endpoint.id, (old?.createdAt ?? 0) + 1)).toBe(2);
	await arrived(receiver, path, 7);
	await quiet(fixture(), endpoint.id);
	expect((await deliveries()).map(({ status, attempts }) => `${status} ${attempts}`)).toEqual([
		...['delivered 1', 'delivered 2', 'delivered 2', 'failed 2']
	]);
	expect(await replayFailedDeliveries(webhooks, accountId, endpoint.id, 0)).toBe(1);
	await arrived(receiver, path, 8);
});

it('a replayed delivery that fails again is retried by the schedule', async () => {
	const { webhooks, receiver } = hooks();
	await api.createSession();
	const [delivery] = await delivered(1);
	receiver.reply(path, { status: 500 });
	await replayDelivery(webhooks, accountId, delivery?.id ?? 0);
	await arrived(receiver, path, 2);
	await quiet(fixture(), endpoint.id);
	await fixture().server.advance(6_000);
	await arrived(receiver, path, 3);
});

it('webhook.test goes to that endpoint only, once, whatever it is registered for', async () => {
	const { webhooks, receiver } = hooks();
	const other = newPath();
	await register(api, receiver.url + other, ['webhook.test', 'session.created']);
	receiver.reply(path, { status: 500 });
	const id = await sendTestWebhook(webhooks, accountId, endpoint.id);
	const [received] = await arrived(receiver, path);
	const body = verified(received, endpoint.secret);
	expect(body).toMatchObject({ type: 'webhook.test', data: { message: expect.any(String) } });
	await quiet(fixture(), endpoint.id);
	expect(await findDelivery(webhooks, accountId, id ?? 0)).toMatchObject({ status: 'failed', attempts: 1 });
	// A test says nothing about the endpoint's health.
	expect(await findWebhook(webhooks, accountId, endpoint.id)).toMatchObject({ failingSince: null });
	await fixture().server.advance(60_000);
	await api.createSession();
	await arrived(receiver, other);
	expect(receiver.at(other).map(({ raw }) => raw.includes('webhook.test'))).toEqual([false]);
	expect(receiver.at(path).filter(({ raw }) => raw.includes('webhook.test'))).toHaveLength(1);
});

it('a rotated secret: for 24 hours two signatures, the new one first; then one', async () => {
	const { webhooks, receiver } = hooks();
	const fresh = await rotateWebhookSecret(webhooks, accountId, endpoint.id);
	expect(fresh).toMatch(WEBHOOK_SECRET);
	expect(fresh).not.toBe(endpoint.secret);
	const until = (await findWebhook(webhooks, accountId, endpoint.id))?.hasOldSecretUntil ?? 0;
	await api.createSession();
	const [both] = await arrived(receiver, path);
	expect(String(both?.headers['webhook-signature']).split(' ')).toHaveLength(2);
	expect(verified(both, fresh)).toEqual(verified(both, endpoint.secret));

	await fixture().server.advance(day);
	expect(await findWebhook(webhooks, accountId, endpoint.id)).toMatchObject({ hasOldSecretUntil: null });
	await api.createSession();
	const [, one] = await arrived(receiver, path, 2);
	expect(String(one?.headers['webhook-signature'])).toMatch(/^v1,\S+$/);
	verified(one, fresh);
	expect(() => verified(one, endpoint.secret)).toThrow();
	expect(until).toBeGreaterThan(0);
});

it('a disabled endpoint gets no deliveries, replays or tests; enabled again, it does', async () => {
	const { webhooks, receiver } = hooks();
	await api.createSession();
	const [delivery] = await delivered(1);
	expect(await setWebhookStatus(webhooks, accountId, endpoint.id, 'disabled')).toBe(true);
	expect(await findWebhook(webhooks, accountId, endpoint.id)).toMatchObject({
		status: 'disabled',
		disabledReason: 'manual'
	});
	await api.createSession();
	expect(await replayDelivery(webhooks, accountId, delivery?.id ?? 0)).toBe(false);
	expect(await replayFailedDeliveries(webhooks, accountId, endpoint.id, 0)).toBe(0);
	expect(await sendTestWebhook(webhooks, accountId, endpoint.id)).toBeNull();
	expect(await setWebhookStatus(webhooks, accountId, endpoint.id, 'active')).toBe(true);
	const session = await api.createSession();
	await arrived(receiver, path, 2);
	const [, second] = receiver.at(path);
	expect(verified(second, endpoint.secret).data).toMatchObject({ id: session.id });
	expect((await delivered(3)).map(({ status }) => status)).toEqual(['delivered', 'failed', 'delivered']);
});

it('is deleted with its log, also during a delivery', async () => {
	const { webhooks, receiver } = hooks();
	const { sql } = fixture();
	receiver.reply(path, { status: 200, afterMs: 300 });
	await api.createSession();
	await arrived(receiver, path);
	expect(await deleteWebhook(webhooks, accountId, endpoint.id)).toMatchObject({ id: endpoint.id });
	expect(await findWebhook(webhooks, accountId, endpoint.id)).toBeNull();
	expect(await deleteWebhook(webhooks, accountId, endpoint.id)).toBeNull();
	await api.createSession();
	for (const text of [
		'select count(*) from webhook_deliveries where endpoint_id = ?',
		`select count(*) from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id
			where d.endpoint_id = ?`
	]) {
		expect(await sql.count(text, endpoint.id)).toBe(0);
	}
	// The same URL is a new endpoint with a new secret.
	const again = await register(api, endpoint.url, ['session.created']);
	expect(again.id).not.toBe(endpoint.id);
	expect(again.secret).toMatch(WEBHOOK_SECRET);
});

it('the data of an event is deleted after thirty days, and the event kept', async () => {
	const { sql, server } = fixture();
	await api.createSession();
	await server.advance(29 * day);
	await api.createSession();
	await server.advance(day + hour);
	const rows = await eventually('old data is deleted', async () => {
		const all = await sql.all('select data from events where account_id = ? order by created_at', accountId);
		return all[0]?.['data'] === '{}' && all;
	});
	expect(rows.at(-1)?.['data']).toContain('"phone"');
});

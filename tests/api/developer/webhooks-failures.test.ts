/** Webhooks whose receivers fail (wire format 5.4): retries, what ends them, and what others notice of it: nothing. */
import { beforeEach, describe, expect, it } from 'vitest';
import { isAll } from '../../support/all.ts';
import { numberEnding, type Api } from '../../support/api/api.ts';
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
	listDeliveries,
	findDelivery,
	replayFailedDeliveries
} from '#lib/server/developer/webhooks.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const table = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, day];

const fixture = useFixture({ database: 'sqlite', env: INSECURE });
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

/** The endpoint's newest delivery once so many attempts are noted. */
const after = (attempts: number) =>
	eventually(`${attempts} attempts`, async () => {
		const [delivery] = await listDeliveries(hooks().webhooks, accountId, endpoint.id, {
			before: null,
			limit: 1
		});
		return delivery?.attempts === attempts && delivery;
	});

it('are tried ten times by the schedule, with the same id and bytes and a new timestamp, then given up', async () => {
	const { receiver, webhooks } = hooks();
	receiver.reply(path, { status: 500, body: 'out of order' });
	await api.createSession();
	for (const [index, delay] of table.entries()) {
		const delivery = await after(index + 1);
		expect(delivery).toMatchObject({ status: 'pending', lastStatusCode: 500, lastFailure: null });
		const wait = (delivery.nextAttemptAt ?? 0) - (delivery.lastAttemptAt ?? 0);
		// The next one counts from the end of the one before.
		expect(wait).toBeGreaterThanOrEqual(delay * 0.9);
		expect(wait).toBeLessThanOrEqual(delay * 1.1 + 2 * second);
		await fixture().server.advance(wait);
	}
	const { id, ...given } = await after(10);
	expect(given).toMatchObject({ status: 'failed', nextAttemptAt: null, lastStatusCode: 500 });
	const received = receiver.at(path);
	expect(new Set(received.map(({ raw }) => raw)).size).toBe(1);
	expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
	expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(10);
	for (const one of received) verified(one, endpoint.secret);
	const { log } = (await findDelivery(webhooks, accountId, id)) ?? { log: [] };
	expect(log).toHaveLength(10);
	for (const attempt of log) {
		expect(attempt).toEqual({
			startedAt: expect.any(Number),
			durationMs: expect.any(Number),
			statusCode: 500,
			failure: null,
			response: 'out of order'
		});
		expect(attempt.durationMs).toBeLessThan(5_000);
	}
	await fixture().server.advance(2 * day);
	expect(await fixture().api.listRouters('lat=0.3476&lon=32.5825')).toBeTruthy();
	expect(receiver.at(path)).toHaveLength(10);
});

it('a receiver that recovers gets missed events', async () => {
	const { receiver, webhooks } = hooks();
	receiver.reply(path, (_, index) => ({ status: index === 0 ? 500 : 204 }));
	await api.createSession();
	await after(1);
	expect(await findWebhook(webhooks, accountId, endpoint.id)).toMatchObject({
		failingSince: expect.any(Number),
		lastSuccessAt: null
	});
	await fixture().server.advance(6 * second);
	expect(await after(2)).toMatchObject({ status: 'delivered', lastStatusCode: 204, nextAttemptAt: null });
	expect(await findWebhook(webhooks, accountId, endpoint.id)).toMatchObject({
		failingSince: null,
		lastSuccessAt: expect.any(Number)
	});
});

it.each([
	...[301, 308, 400, 599].map((status) => [status, 'pending'] as const),
	...[200, 299].map((status) => [status, 'delivered'] as const)
])('%i is a failure or a success: %s; no redirect is followed', async (code, status) => {
	const { receiver } = hooks();
	const target = newPath();
	receiver.reply(path, { status: code, headers: { location: receiver.url + target } });
	await api.createSession();
	expect(await after(1)).toMatchObject({ status, lastStatusCode: code });
	expect(receiver.at(target)).toEqual([]);
});

it('503 with Retry-After waits for it', async () => {
	hooks().receiver.reply(path, { status: 503, headers: { 'retry-after': '1800' } });
	await api.createSession();
	const { nextAttemptAt, lastAttemptAt } = await after(1);
	const waited = (nextAttemptAt ?? 0) - (lastAttemptAt ?? 0);
	expect(waited).toBeGreaterThanOrEqual(30 * minute);
	expect(waited).toBeLessThan(31 * minute);
});

it('410 disables the endpoint at once with its pending deliveries; later events are kept and not sent', async () => {
	const { receiver, webhooks } = hooks();
	receiver.reply(path, { status: 500 });
	await api.createSession();
	await after(1);
	receiver.reply(path, { status: 410 });
	await api.createSession();
	await eventually('it is disabled', async () => {
		const found = await findWebhook(webhooks, accountId, endpoint.id);
		return found?.status === 'disabled' && found.disabledReason === 'gone';
	});
	await quiet(fixture(), endpoint.id);
	await api.createSession();
	const page = { before: null, limit: 10 };
	const all = await listDeliveries(webhooks, accountId, endpoint.id, page);
	expect(all.map(({ status, lastFailure, attempts }) => [status, lastFailure, attempts])).toEqual([
		['failed', 'endpoint_disabled', 0],
		['failed', null, 1],
		['failed', 'endpoint_disabled', 1]
	]);
	await fixture().server.advance(hour);
	expect(receiver.at(path)).toHaveLength(2);

	// Registered again it is enabled, and what was kept may be replayed.
	receiver.reply(path, { status: 200 });
	expect(await replayFailedDeliveries(webhooks, accountId, endpoint.id, 0)).toBe(0);
	expect(await register(api, endpoint.url, ['session.created'])).toMatchObject({ status: 'active' });
	expect(receiver.at(path)).toHaveLength(2);
	expect(await replayFailedDeliveries(webhooks, accountId, endpoint.id, 0)).toBe(3);
	const received = await arrived(receiver, path, 5);
	expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
	expect(await listDeliveries(webhooks, accountId, endpoint.id, { ...page, status: 'failed' })).toEqual([]);
});

describe('a receiver that hangs, with sixty events waiting for it on each of sixteen URLs,', () => {
	it('delays nobody: not the account’s other URL, not another account, not a payment', async () => {
		const { receiver } = hooks();
		const slow = Array.from({ length: 15 }, newPath);
		for (const one of slow) {
			receiver.reply(one, 'hang');
			await register(api, receiver.url + one, ['session.created']);
		}
		const { api: other } = await fixture().newKey();
		const otherPath = newPath();
		await register(other, receiver.url + otherPath, ['session.created']);
		const events = 60;
		await Promise.all(Array.from({ length: events }, () => api.createSession()));
		await Promise.all(slow.map((one) => arrived(receiver, one, 5)));

		// The same account's URL that answers has everything, though it shares each event with those that hang.
		const asked = performance.now();
		await arrived(receiver, path, events);
		expect(performance.now() - asked).toBeLessThan(10_000);

		const bought = performance.now();
		await other.createSession();
		const [received] = await arrived(receiver, otherPath);
		expect((received?.at ?? Infinity) - bought).toBeLessThan(10_000);
		const { session } = await fixture().buy({ phone: numberEnding('008') });
		expect(session.status).toBe('active');
		expect(performance.now() - bought).toBeLessThan(10_000);

		for (const one of slow) {
			expect(Math.max(...receiver.at(one).map(({ atOnce }) => atOnce))).toBe(5);
		}
	});
});

/** Webhooks of several accounts whose receivers all hang: the places for attempts are not theirs alone. */
if (isAll)
	describe('hanging receivers of several accounts', () => {
		const fixture = useFixture({ database: 'sqlite', env: INSECURE });
		const hooks = useWebhooks(fixture);
		const times = <T>(count: number, make: (index: number) => T) =>
			Array.from({ length: count }, (_, index) => make(index));

		it('more hanging attempts than places delay no other account', async () => {
			const { receiver } = hooks();
			const { api } = await fixture().newKey();
			const path = newPath();
			await register(api, receiver.url + path, ['session.created']);

			const hanging: string[] = [];
			for (const owner of await Promise.all(times(3, () => fixture().newKey()))) {
				for (const one of times(16, newPath)) {
					hanging.push(one);
					receiver.reply(one, 'hang');
					await register(owner.api, receiver.url + one, ['session.created']);
				}
				await Promise.all(times(8, () => owner.api.createSession()));
			}
			// The limit of endpoints allows 240 at a time. They get half of the 200 places, and of the rest one each at most.
			const underWay = () => hanging.reduce((sum, one) => sum + receiver.at(one).length, 0);
			await eventually('their places are taken', async () => underWay() >= 100);

			const asked = performance.now();
			await Promise.all(times(5, () => api.createSession()));
			await arrived(receiver, path, 5);
			expect(performance.now() - asked).toBeLessThan(10_000);
			expect(underWay()).toBeLessThanOrEqual(100 + hanging.length);
		});
	});

/** Delivery by wire format 5: receivers, bodies, signatures, headers and repetitions. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import type { Received, Receiver } from '../../support/api/receiver.ts';
import { DATABASES, eventually, useFixture, type Fixture } from '../../support/server/fixture.ts';
import { arrived, INSECURE, newPath, register, useWebhooks, verified } from '../../support/api/webhooks.ts';

const minute = 60_000;
const hour = 60 * minute;
const ALL_EVENTS = [
	...['payment.success', 'payment.failed', 'payment.refunded', 'session.created', 'session.activated'],
	...['session.expired', 'session.ended', 'session.cancelled']
];

/** The one request of a type that came to a path. */
async function only(receiver: Receiver, path: string, type: string): Promise<Received> {
	const of = () => receiver.at(path).filter(({ raw }) => raw.includes(`"type":"${type}"`));
	const [received] = await eventually(`${type} at ${path}`, async () => of().length > 0 && of());
	if (!received) throw new Error('nothing came');
	expect(of()).toHaveLength(1);
	return received;
}

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database, env: INSECURE });
	const hooks = useWebhooks(fixture);

	describe('an event comes', () => {
		it('as a POST that verifies with the reference library, with the object as the API shows it', async () => {
			const { receiver } = hooks();
			const path = newPath();
			const { secret } = await register(fixture().api, receiver.url + path, ['payment.success']);
			const { session, payment } = await fixture().buy();
			const [received] = await arrived(receiver, path);
			const body = verified(received, secret);
			expect(body.data).toEqual({ ...payment, router_id: session.router_id });
			// With the clock as it is: the timestamp is current.
			if (secret === null || !received) throw new Error('no secret');
			new Webhook(secret).verify(received.raw, received.headers as Record<string, string>);
			expect(received.method).toBe('POST');
			expect(received?.headers).toMatchObject({
				'content-type': 'application/json',
				'user-agent': 'Airtill-Webhooks/1.0',
				'webhook-id': body.id,
				'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
				'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/)
			});
			for (const name of ['cookie', 'authorization', 'accept-encoding']) {
				expect(received?.headers[name]).toBeUndefined();
			}
		});

		it('in the order of members that the wire format shows', async () => {
			const { receiver } = hooks();
			const path = newPath();
			await register(fixture().api, receiver.url + path, ['payment.success', 'session.activated']);
			await fixture().buy();
			const payment = await only(receiver, path, 'payment.success');
			const session = await only(receiver, path, 'session.activated');
			const membersOf = ({ raw }: Received) => {
				const body = JSON.parse(raw) as { data: object };
				expect(Object.keys(body)).toEqual(['id', 'type', 'timestamp', 'api_version', 'data']);
				return Object.keys(body.data);
			};
			expect(membersOf(payment).filter((name) => !/^refund_|^operator_request$/.test(name))).toEqual([
				...['id', 'session_id', 'router_id', 'status', 'amount', 'currency', 'phone', 'payment_method'],
				...['applied', 'failure_code', 'failure_message', 'provider_reference', 'expires_at', 'paid_at'],
				...['refunded_at', 'created_at', 'updated_at']
			]);
			const added = [
				'extends_session_id',
				'pass_id',
				'access',
				'offer',
				'data_used_mb',
				'data_left_mb',
				'extra_seconds'
			];
			expect(membersOf(session).filter((name) => !added.includes(name))).toEqual([
				...['id', 'router_id', 'status', 'status_reason', 'duration', 'duration_seconds'],
				...['payment_method', 'phone', 'amount', 'currency', 'payment_id', 'ssid', 'payment_due_at'],
				...['starts_at', 'expires_at', 'ended_at', 'remaining_seconds', 'created_at', 'updated_at']
			]);
			expect(session.raw + payment.raw).not.toContain('"password"');
			expect(session.raw).toContain('"network_password":null');
		});

		it('for every change of state that was asked for, and for no other', async () => {
			const { receiver } = hooks();
			const { api, server } = fixture();
			const [path, few] = [newPath(), newPath()];
			const { id: endpointId, secret } = await register(api, receiver.url + path, ALL_EVENTS);
			await register(api, receiver.url + few, ['session.ended']);

			const { session: ended } = await fixture().buy();
			await api.endSession(ended.id);
			const cancelled = await api.createSession({ phone: numberEnding('003') });
			await api.endSession(cancelled.id);
			const refused = await api.createSession({ phone: numberEnding('001') });
			await fixture().decided(await api.pay(refused));
			const mismatched = await api.createSession({ phone: numberEnding('009') });
			const { id } = await fixture().decided(await api.pay(mismatched));
			await eventually('the refund', async () => {
				const { status } = await api.getPayment(id);
				if (status !== 'refunded') await server.advance(3_000);
				return status === 'refunded';
			});
			// What is not paid would be cancelled by the hour that passes now, sooner or later.
			for (const unpaid of [refused, mismatched]) await api.endSession(unpaid.id);
			const { session: expired } = await fixture().buy();
			// What is under way when an hour passes is taken for lost, and comes twice.
			await eventually('all of it has arrived', async () => {
				const waiting =
					"select count(*) from webhook_deliveries where endpoint_id = ? and status = 'pending'";
				return (await fixture().sql.count(waiting, endpointId)) === 0;
			});
			await server.advance(hour);
			expect(await api.getSession(expired.id)).toMatchObject({ status: 'expired' });

			const mine = [ended, cancelled, refused, mismatched, expired];
			/** Other tests' sessions go on meanwhile. */
			const heard = async () =>
				receiver.at(path).flatMap((one) => {
					const { type, data } = verified(one, secret);
					const sessionId = data['session_id'] ?? data['id'];
					const isMine = mine.some(({ id: own }) => own === sessionId);
					return isMine ? [`${type} ${String(sessionId)} ${String(data['status'])}`] : [];
				});
			const ofAll = mine.map((one) => `session.created ${one.id} pending_payment`);
			const expected = [
				...ofAll,
				`payment.success ${ended.id} success`,
				`session.activated ${ended.id} active`,
				`session.ended ${ended.id} ended`,
				...[cancelled, refused, mismatched].map(({ id: own }) => `session.cancelled ${own} cancelled`),
				`payment.failed ${refused.id} failed`,
				`payment.success ${mismatched.id} success`,
				`payment.refunded ${mismatched.id} refunded`,
				`payment.success ${expired.id} success`,
				`session.activated ${expired.id} active`,
				`session.expired ${expired.id} expired`
			];
			await eventually('all events', async () => (await heard()).length >= expected.length);
			expect((await heard()).sort()).toEqual(expected.sort());
			for (const { raw } of receiver.at(few)) expect(raw).toContain('"type":"session.ended"');
			expect(receiver.at(few)).toHaveLength(1);
		});

		it('also as payment.failed when a payment expires, with payer_timeout', async () => {
			const { receiver } = hooks();
			const { api, server } = fixture();
			const path = newPath();
			const { secret } = await register(api, receiver.url + path, ['payment.failed']);
			const session = await api.createSession({ phone: numberEnding('003') });
			await fixture().asked(await api.pay(session));
			await server.advance(10 * minute);
			const mine = `"session_id":${session.id},`;
			const received = await eventually('its failure', async () =>
				receiver.at(path).find(({ raw }) => raw.includes(mine))
			);
			expect(verified(received, secret).data).toMatchObject({
				status: 'expired',
				failure_code: 'payer_timeout'
			});
		});
	});

	describe('it goes', () => {
		it('to the creator with the number, to the router’s owner with a mask, to nobody else', async () => {
			const { receiver } = hooks();
			const { api, owner, other, admin } = fixture();
			const [mine, theirs, strange, administrators] = [newPath(), newPath(), newPath(), newPath()];
			const events = ['session.activated', 'payment.success'];
			const { secret } = await register(api, receiver.url + mine, events);
			const { secret: ownerSecret } = await register(owner, receiver.url + theirs, events);
			await register(other, receiver.url + strange, events);
			await register(admin, receiver.url + administrators, events);
			const { session, payment } = await fixture().buy();
			const masked = `${session.phone.slice(0, 4)}*****${session.phone.slice(-4)}`;
			for (const type of events) {
				const whole = verified(await only(receiver, mine, type), secret);
				const cut = verified(await only(receiver, theirs, type), ownerSecret);
				expect(whole.data).toMatchObject({ phone: session.phone });
				const { phone, ...rest } = whole.data;
				expect(cut).toEqual({ ...whole, data: { ...rest, phone_masked: masked } });
				expect(phone).toBe(session.phone);
				// In the place where the number stands.
				const place = (body: object) => Object.keys(body).findIndex((name) => name.startsWith('phone'));
				expect(place(cut.data)).toBe(place(whole.data));
			}
			for (const { raw } of receiver.at(theirs)) {
				expect(raw).not.toContain(session.phone.slice(-9));
				expect(raw).not.toContain(session.password ?? 'no password');
			}
			// The same event has the same id everywhere.
			expect((await only(receiver, mine, 'payment.success')).headers['webhook-id']).toBe(
				(await only(receiver, theirs, 'payment.success')).headers['webhook-id']
			);
			expect(payment.applied).toBe(true);
			expect([receiver.at(strange), receiver.at(administrators)]).toEqual([[], []]);
		});

		it('once, with the number, to an owner who buys at an own router', async () => {
			const { receiver } = hooks();
			const { owner } = fixture();
			const path = newPath();
			const { id, secret } = await register(owner, receiver.url + path, ['session.created']);
			const session = await owner.createSession();
			const body = verified(await only(receiver, path, 'session.created'), secret);
			expect(body.data).toMatchObject({ id: session.id, phone: session.phone });
			expect(
				await fixture().sql.count('select count(*) from webhook_deliveries where endpoint_id = ?', id)
			).toBe(1);
		});

		it('to every endpoint of an account, each signed with its own secret', async () => {
			const { receiver } = hooks();
			const { api } = await fixture().newKey();
			const one = { path: newPath() };
			const two = { path: newPath() };
			const first = await register(api, receiver.url + one.path, ['session.created']);
			const second = await register(api, receiver.url + two.path, ['session.created']);
			await api.createSession();
			const [a] = await arrived(receiver, one.path);
			const [b] = await arrived(receiver, two.path);
			expect(verified(a, first.secret)).toEqual(verified(b, second.secret));
			expect(() => verified(a, second.secret)).toThrow();
		});
	});

	it('a failed call leaves no event: nothing is delivered after a rollback', async () => {
		const { receiver } = hooks();
		const { api, sql } = fixture();
		const path = newPath();
		const { id } = await register(api, receiver.url + path, ['session.created']);
		const count = () => sql.count('select count(*) from webhook_deliveries where endpoint_id = ?', id);
		await api.refused('400 router_unavailable', 'POST', '/v1/sessions', {
			body: await offlineOrder(fixture())
		});
		expect(await count()).toBe(0);
	});
});

async function offlineOrder({ sql }: Fixture) {
	const [router] = await sql.all(`select id from routers where status = 'offline' limit 1`);
	return {
		router_id: Number(router?.['id']),
		duration: '1h',
		payment_method: 'mobile_money',
		phone: numberEnding('123')
	};
}

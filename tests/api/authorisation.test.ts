/** Object-level authorisation (wire format 3.5): what each kind of caller gets for another's objects. */
import { beforeEach, describe, expect, it } from 'vitest';
import { numberEnding, type Answer, type Payment, type Session } from '../support/api.ts';
import { PASSWORD } from '../support/wire.ts';
import { DATABASES, recorded, useWorld } from '../support/world.ts';

describe.each(DATABASES)('on %s', (database) => {
	const world = useWorld({ database });
	let session: Session;
	let payment: Payment;

	beforeEach(async () => ({ session, payment } = await world().buy()));

	const withoutIds = ({ status, body }: Answer) => ({ status, body: { ...Object(body), request_id: null } });

	it('a router is read by everybody', async () => {
		const { api, owner, other, admin } = world();
		const read = await Promise.all([api, owner, other, admin].map((caller) => caller.getRouter(3)));
		for (const body of read) expect(body).toEqual(read[0]);
	});

	it('a session is read by its creator, with password and number', async () => {
		const read = await world().api.getSession(session.id);
		expect(read).toMatchObject({ password: expect.stringMatching(PASSWORD), phone: session.phone });
	});

	it('a session is read by an admin without its password', async () => {
		const read = await world().admin.getSession(session.id);
		expect(read).toEqual({ ...session, password: null, remaining_seconds: read.remaining_seconds });
	});

	it('a session, its end and its payment are 404 for router owner and strangers, as if absent', async () => {
		const before = await recorded(world());
		for (const caller of [world().owner, world().other]) {
			for (const [method, path, absent] of [
				['GET', `/v1/sessions/${session.id}`, '/v1/sessions/999999'],
				['DELETE', `/v1/sessions/${session.id}`, '/v1/sessions/999999'],
				['GET', `/v1/payments/${payment.id}/status`, '/v1/payments/999999/status']
			] as const) {
				const answer = await caller.send(method, path);
				expect(answer.status).toBe(404);
				expect(withoutIds(answer)).toEqual(withoutIds(await caller.send(method, absent)));
			}
		}
		expect(await recorded(world())).toEqual(before);
	});

	it('a session is paid by its creator only: 404 for owner, stranger and admin', async () => {
		const open = await world().api.createSession({ phone: numberEnding('003') });
		const before = await recorded(world());
		const body = { amount: open.amount, phone: open.phone, session_id: open.id };
		for (const caller of [world().owner, world().other, world().admin]) {
			await caller.refused('404 session_not_found', 'POST', '/v1/payments/mobile-money', { body });
			// Not even the right amount is told to those who may not see it.
			const wrong = { ...body, amount: 1 };
			await caller.refused('404 session_not_found', 'POST', '/v1/payments/mobile-money', { body: wrong });
		}
		expect(await recorded(world())).toEqual(before);
		expect(await world().api.pay(open)).toMatchObject({ status: 'pending' });
	});

	it('a session is ended by an admin, who is named as the reason', async () => {
		expect(await world().admin.endSession(session.id)).toMatchObject({
			status: 'ended',
			status_reason: 'admin_ended',
			password: null
		});
	});

	it('a payment is read by its creator and by an admin', async () => {
		for (const caller of [world().api, world().admin]) {
			expect(await caller.getPayment(payment.id)).toEqual(payment);
		}
	});

	it('another key of the same account may do what the first one may', async () => {
		const { accountId, api: first } = await world().newKey();
		const { api: second } = await world().newKey({ accountId });
		const { id } = await first.createSession();
		expect(await second.endSession(id)).toMatchObject({ status_reason: 'client_cancelled' });
	});

	it('an owner or admin who creates a session has it as its creator', async () => {
		for (const caller of [world().owner, world().admin]) {
			const own = await caller.createSession({ phone: numberEnding('003') });
			expect(await caller.pay(own)).toMatchObject({ session_id: own.id });
			expect(await caller.endSession(own.id)).toMatchObject({ status_reason: 'client_cancelled' });
		}
	});

	it('a key is as strong as the weaker of its own role and its account’s', async () => {
		for (const roles of [
			{ role: 'admin', accountRole: 'app' },
			{ role: 'app', accountRole: 'admin' },
			{ role: 'owner', accountRole: 'admin' }
		] as const) {
			const { api } = await world().newKey(roles);
			await api.refused('404 session_not_found', 'GET', `/v1/sessions/${session.id}`);
			await api.refused('404 payment_not_found', 'GET', `/v1/payments/${payment.id}/status`);
		}
	});
});

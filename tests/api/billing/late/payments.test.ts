/** Money that comes when nobody expects it any more: it buys the time that is still owed, or goes back. */
import { describe, expect, it } from 'vitest';
import { WEEKDAYS } from '../../../../src/lib/domain/opening-hours.ts';
import { numberEnding, type Payment, type Session } from '../../../support/api/api.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';
import { askedAgainMs, minute, useLate } from './use-late.ts';

describe.each(DATABASES)('on %s', (database) => {
	const { fixture, settledAs, start, expired, refundedBecause } = useLate(database);

	/** An order whose last payment was started so late that the order is cancelled before it expires. */
	async function cancelledWithLatePayment(routerId = 3): Promise<{ session: Session; payment: Payment }> {
		const { api, server } = fixture();
		const session = await api.createSession({ router_id: routerId });
		await server.advance(25 * minute);
		const payment = await expired(session);
		const cancelled = await api.getSession(session.id);
		expect(cancelled).toMatchObject({ status: 'cancelled', status_reason: 'payment_timeout' });
		return { session: cancelled, payment };
	}

	it('a late success within 30 minutes after the cancellation still buys the time', async () => {
		const { api, events, server } = fixture();
		const { session, payment } = await cancelledWithLatePayment();
		await server.advance(28 * minute);
		expect(await settledAs(payment, 'success')).toMatchObject({ applied: true });
		const active = await api.getSession(session.id);
		expect(active).toMatchObject({
			status: 'active',
			status_reason: null,
			ended_at: null,
			payment_id: payment.id
		});
		expect(Date.parse(active.starts_at ?? '')).toBeGreaterThan(
			Date.parse(session.ended_at ?? '') + 27 * minute
		);
		expect(await events(session.id)).toEqual([
			...['payment.failed', 'payment.success', 'session.activated', 'session.cancelled', 'session.created']
		]);
	});

	it('is refunded if another order replaced it: session_cancelled', async () => {
		const { api, events, server } = fixture();
		const { session, payment } = await cancelledWithLatePayment();
		const giveUp = () => api.endSession(session.id, 'pending_payment');
		expect(await giveUp()).toMatchObject({ status: 'cancelled', status_reason: 'client_cancelled' });
		await expect(giveUp()).rejects.toThrow('session_not_active');
		await server.advance(askedAgainMs);
		await refundedBecause(payment, 'session_cancelled');
		expect((await events(session.id)).filter((type) => type === 'session.cancelled')).toHaveLength(1);
	});

	it('is refunded later: late_payment', async () => {
		const { session, payment } = await cancelledWithLatePayment();
		await fixture().server.advance(30 * minute + 1_000);
		await refundedBecause(payment, 'late_payment');
		expect(await fixture().api.getSession(session.id)).toEqual(session);
	});

	const inThreeDays = WEEKDAYS[(new Date().getUTCDay() + 2) % 7];

	it.each([
		['offline', 1, "update routers set status = 'offline' where id = 1"],
		[
			'outside its opening hours',
			5,
			`update routers set opening_hours = '${inThreeDays} 00:00-00:01' where id = 5`
		]
	])('is refunded if the router is %s by then', async (_what, routerId, statement) => {
		const { session, payment } = await cancelledWithLatePayment(routerId);
		await fixture().sql.run(statement);
		await fixture().server.advance(askedAgainMs);
		await refundedBecause(payment, 'late_payment');
		expect(await fixture().api.getSession(session.id)).toEqual(session);
	});

	it('is refunded hours after the time limits, even if no process cancelled the order', async () => {
		const { api, server } = fixture();
		const session = await api.createSession();
		const payment = await start(session, '004');
		await server.kill();
		await server.advance(3 * 60 * minute);
		await server.restart();
		await refundedBecause(payment, 'late_payment');
		expect(await api.getSession(session.id)).toMatchObject({ status: 'cancelled' });
	});

	it('a success after the DELETE of an unpaid session is refunded: session_cancelled', async () => {
		const { api, decided } = fixture();
		const session = await api.createSession();
		const payment = await start(session, '007');
		const cancelled = await api.endSession(session.id);
		expect(await api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
		await decided(payment);
		await refundedBecause(payment, 'session_cancelled');
		expect(await api.getSession(session.id)).toEqual(cancelled);
	});

	it('a DELETE before the request is sent stops the prompt, and nothing is charged', async () => {
		const { api, sql } = fixture();
		const session = await api.createSession();
		const payment = await api.pay(session, numberEnding('008'));
		await api.endSession(session.id);
		const { status } = await fixture().api.getPayment(payment.id, 20);
		const prompts = await sql.count(
			'select count(*) from sandbox_charges c join payments p on p.reference = c.reference where p.id = ?',
			payment.id
		);
		// Either the outbox was faster (then the money goes back, see above) or the payer was never asked.
		expect(prompts).toBe(status === 'failed' ? 0 : 1);
	});

	it('after a DELETE while the operator is down the payer gets no prompt', async () => {
		const { api, server, sql } = fixture();
		const session = await api.createSession();
		const payment = await api.pay(session, numberEnding('006'));
		const state = async (wanted: string) =>
			sql.count('select count(*) from payments where id = ? and submit_state = ?', payment.id, wanted);
		await eventually('the operator was called in vain', () => state('uncertain'));
		await api.endSession(session.id);
		await server.advance(35_000);
		await eventually('the operator, up again, does not know the payment', () =>
			sql.count(
				"select count(*) from operator_messages where payment_id = ? and outcome = 'not_found'",
				payment.id
			)
		);
		await server.advance(10 * minute);
		expect(await settledAs(payment, 'expired')).toMatchObject({ applied: false });
		const [charge] = await sql.all('select queued_at from sandbox_charges where phone = ?', payment.phone);
		expect(charge).toEqual({ queued_at: null });
	});

	it('a request that returned to the outbox is still watched: the operator may have received it', async () => {
		const { api, server, sql } = fixture();
		const session = await api.createSession();
		const payment = await start(session, '007');
		await api.endSession(session.id);
		// As after a read to which the operator, lagging behind, answered that it does not know the payment.
		await sql.run("update payments set submit_state = 'created' where id = ?", payment.id);
		await sql.run(
			"insert into jobs (kind, subject_id, run_at, created_at) values ('payment.submit', ?, 0, 0)",
			payment.id
		);
		await eventually('the outbox sees it', () =>
			sql.count("select count(*) from payments where id = ? and submit_state = 'uncertain'", payment.id)
		);
		await server.advance(6_000);
		await refundedBecause(payment, 'session_cancelled');
	});

	it('of two successes the first buys the time and the second is refunded: duplicate_payment', async () => {
		const { api, events, server } = fixture();
		const session = await api.createSession();
		const first = await expired(session);
		const second = await start(session, '008');
		expect(await settledAs(second, 'success')).toMatchObject({ applied: true });
		await server.advance(askedAgainMs);
		await refundedBecause(first, 'duplicate_payment');
		expect(await api.getPayment(second.id)).toMatchObject({ status: 'success', applied: true });
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: second.id });
		expect((await events(session.id)).filter((type) => type === 'session.activated')).toHaveLength(1);
	});

	it('an expired payment that succeeds while a new one is open buys the time, and the new one is refunded', async () => {
		const { api, server } = fixture();
		const session = await api.createSession();
		const first = await expired(session);
		const second = await start(session, '004');
		await server.advance(askedAgainMs);
		expect(await settledAs(first, 'success')).toMatchObject({ applied: true });
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: first.id });
		expect(await api.getPayment(second.id)).toMatchObject({ status: 'pending' });
		const body = { amount: session.amount, phone: session.phone, session_id: session.id };
		await api.refused('400 session_already_paid', 'POST', '/v1/payments/mobile-money', { body });

		await server.advance(4 * minute);
		await settledAs(second, 'expired');
		await server.advance(askedAgainMs);
		await refundedBecause(second, 'duplicate_payment');
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: first.id });
	});

	it('a success after another payment bought the session is refunded: duplicate_payment', async () => {
		const { api, server } = fixture();
		const session = await api.createSession();
		const first = await expired(session);
		const second = await start(session, '008');
		await settledAs(second, 'success');
		const ended = await api.endSession(session.id);
		await server.advance(askedAgainMs);
		await refundedBecause(first, 'duplicate_payment');
		expect(await api.getSession(session.id)).toEqual(ended);
	});
});

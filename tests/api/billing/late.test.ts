/** Payments that succeed, fail or are never answered after their time. */
import { expect, describe, it } from 'vitest';
import { numberEnding, type Payment, type Session } from '../../support/api/api.ts';
import { eventually, useFixture, DATABASES } from '../../support/server/fixture.ts';
import { WEEKDAYS } from '#lib/domain/opening-hours.ts';

const minute = 60_000;
/** After ten minutes the operator is asked every five, more or less. */
const askedAgainMs = 6 * minute;

/** Starts a server with the sandbox operator, for payments that succeed late. */
function useLate(database: string) {
	const fixture = useFixture({ database });

	/** Its state is reached, and the look that found it has put the next one on the list: now the clock may move. */
	async function settledAs(payment: Payment, status: string): Promise<Payment> {
		const settled = await eventually(`payment ${payment.id} is ${status}`, async () => {
			const found = await fixture().api.getPayment(payment.id);
			return found.status === status && found;
		});
		await eventually('nobody is looking', async () => {
			const looking = await fixture().sql.count(
				"select count(*) from jobs where kind = 'payment.reconcile' and subject_id = ? and lease_owner is not null",
				payment.id
			);
			return looking === 0;
		});
		return settled;
	}

	/** Pays; the operator has the request, and nothing more is to be sent. */
	async function start(session: Session, digits: string): Promise<Payment> {
		const payment = await fixture().api.pay(session, numberEnding(digits));
		await eventually('the operator has it, and nothing more is to be sent', () =>
			fixture().sql.count(
				`select count(*) from payments where id = ? and submit_state = 'accepted' and not exists
					(select 1 from jobs where kind = 'payment.submit' and subject_id = payments.id)`,
				payment.id
			)
		);
		return payment;
	}

	async function refundedBecause(payment: Payment, reason: string): Promise<void> {
		await eventually('the operator has the refund', () =>
			fixture().sql.count(
				"select count(*) from refunds where payment_id = ? and submit_state = 'accepted'",
				payment.id
			)
		);
		await fixture().server.advance(5_000);
		expect(await settledAs(payment, 'refunded')).toMatchObject({ applied: false, refund_reason: reason });
		const { sql } = fixture();
		expect(await sql.count('select count(*) from refunds where payment_id = ?', payment.id)).toBe(1);
	}

	/** A payment whose time ends; the operator says later that it was paid. */
	async function expired(session: Session): Promise<Payment> {
		const payment = await start(session, '004');
		await fixture().server.advance(10 * minute);
		return settledAs(payment, 'expired');
	}

	return { fixture, settledAs, start, expired, refundedBecause };
}

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

	it('a DELETE while the request is being sent: no prompt and no charge, or one prompt', async () => {
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

	/** How long the operator is asked about a payment that failed or had no answer, and what its late success buys. */
	describe('reads', () => {
		/** From now on the operator, whatever it said before, says that the payer has paid. */
		const paidAfterAll = (payment: Payment) =>
			fixture().sql.run(
				`update sandbox_charges set phone = ?
				where reference = (select reference from payments where id = ?)`,
				numberEnding('123'),
				payment.id
			);

		it('a failed payment that is paid after all still buys the time', async () => {
			const { api, decided, events, server } = fixture();
			const session = await api.createSession();
			const payment = await start(session, '001');
			expect(await decided(payment)).toMatchObject({ status: 'failed', failure_code: 'payer_rejected' });
			await paidAfterAll(payment);
			await server.advance(askedAgainMs);
			expect(await settledAs(payment, 'success')).toMatchObject({
				applied: true,
				failure_code: null,
				failure_message: null,
				paid_at: expect.any(String)
			});
			expect(await api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: payment.id });
			expect(await events(session.id)).toEqual([
				...['payment.failed', 'payment.success', 'session.activated', 'session.created']
			]);
		});

		const asked = (payment: Payment) =>
			fixture().sql.count(
				"select count(*) from jobs where kind = 'payment.reconcile' and subject_id = ?",
				payment.id
			);

		it('a payment without an answer is read for RECONCILE_HOURS, then a review is opened', async () => {
			const { server, sql } = fixture();
			const payment = await start(await fixture().api.createSession(), '003');
			const review = async () => {
				const [row] = await sql.all('select reason from reviews where payment_id = ?', payment.id);
				return row?.['reason'] ?? null;
			};
			await server.advance(10 * minute);
			await settledAs(payment, 'expired');
			for (let hours = 8; hours <= 64; hours += 8) {
				await server.advance(8 * 60 * minute);
				await eventually(`a look after ${hours} hours`, () => isLookedAt(payment));
				expect([hours, await asked(payment), await review()]).toEqual([hours, 1, null]);
			}
			await server.advance(8 * 60 * minute);
			await eventually('nobody is asked any more', async () => (await asked(payment)) === 0);
			expect(await review()).toBe('no_final_answer');
		});

		it('a failed payment is read for 24 hours', async () => {
			const { server } = fixture();
			const payment = await start(await fixture().api.createSession(), '001');
			await server.advance(5_000);
			await settledAs(payment, 'failed');
			await server.advance(17 * 60 * minute);
			await eventually('a look', () => isLookedAt(payment));
			expect(await asked(payment)).toBe(1);
			await server.advance(7 * 60 * minute);
			await eventually('nobody is asked any more', async () => (await asked(payment)) === 0);
		});

		/** Whether the next look is still to come: the one that was due is done. */
		async function isLookedAt({ id }: Payment): Promise<boolean> {
			const now = fixture().server.now();
			const due = await fixture().sql.count(
				`select count(*) from jobs where kind = 'payment.reconcile' and subject_id = ?
				and (run_at <= ? or lease_until is not null)`,
				id,
				now
			);
			return due === 0;
		}
	});
});

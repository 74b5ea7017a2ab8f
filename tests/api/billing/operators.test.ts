/**
 * Buying through each operator, against its simulator, which keeps books of its own: what it says was taken is what
 * bought time or went back. (Each row of the failures that integrators report is a test here, or one of the core, as in payments
 * and outcomes, or in torture and model.)
 */
import { describe, expect, it } from 'vitest';
import type { Payment, Session } from '../../support/api/api.ts';
import { OPERATORS, type OperatorFacts } from '../../simulators/protocols.ts';
import { useOperated } from '../../support/billing/use-operated.ts';
import { DATABASES, eventually } from '../../support/server/fixture.ts';

const minute = 60_000;

/** Adapters have no SQL: enough is one that knows our reference, and one that does not. */
const databasesOf = ({ name }: OperatorFacts) =>
	name === 'mtn' || name === 'mpesa' ? DATABASES : (['sqlite'] as const);

describe.each(OPERATORS)('$name', (facts) => {
	describe.each(databasesOf(facts))('on %s', (database) => {
		const { operated, pay, held, accepted, until } = useOperated(facts, database);
		const api = () => operated().fixture.api;

		/** Reads the operator's books about a session's payer. */
		function books(session: Pick<Session, 'phone'>) {
			const { books: all } = operated().simulator;
			const payments = all.payments.filter(({ phone }) => session.phone.endsWith(phone.slice(-9)));
			const taken = payments.reduce((sum, payment) => sum + all.takenOf(payment), 0);
			const numbers = payments.map(({ number }) => number);
			const refunds = all.refunds.filter(
				(refund) => numbers.includes(refund.paymentNumber) && all.refundOutcome(refund) === 'success'
			);
			const back = refunds.reduce((sum, { amount }) => sum + amount, 0);
			return { asked: payments.length, taken, back };
		}

		const contradictions = (payment: Payment) =>
			operated().fixture.sql.count(
				"select count(*) from reviews where payment_id = ? and reason = 'contradiction'",
				payment.id
			);

		it('a payment that the payer approves buys the time, with the operator’s receipt', async () => {
			const { session, payment } = await pay({ afterMs: 0 });
			const settled = await until(payment, 'success');
			expect(settled).toMatchObject({ applied: true });
			// Daraja's status read names no receipt: it comes with the callback.
			await eventually(
				'the receipt is there',
				async () => (await api().getPayment(payment.id)).provider_reference
			);
			const active = await api().getSession(session.id);
			expect(active).toMatchObject({ status: 'active', password: expect.any(String) });
			expect(books(session)).toEqual({ asked: 1, taken: session.amount, back: 0 });
		});

		it('row 6: an answer that the payment is still under way is no failure', async () => {
			const { payment } = await pay({ outcome: 'pending', callbacks: [] });
			for (let look = 0; look < 2; look += 1) {
				await operated().advance(4 * minute);
				expect(await api().getPayment(payment.id)).toMatchObject({ status: 'pending', failure_code: null });
			}
		});

		it.each([
			['declines', 'declined', 'payer_rejected'],
			['has no money', 'noMoney', 'insufficient_funds']
		] as const)(
			'row 11: a payer who %s sees the reason, and is not charged',
			async (_what, code, failure) => {
				const { session, payment } = await pay({ outcome: facts.codes[code], afterMs: 0 });
				const failed = await until(payment, 'failed');
				expect(failed).toMatchObject({ failure_code: failure });
				expect(books(session)).toMatchObject({ taken: 0 });
				const { payment: again } = await pay({ afterMs: 0 }, session);
				expect(await until(again, 'success')).toMatchObject({ applied: true });
			}
		);

		it('rows 4, 5: an answer that is lost after the request was queued is never asked for twice', async () => {
			const { session, payment } = await pay({ submit: 'drop_after', afterMs: 2_000 });
			expect(await until(payment, 'success')).toMatchObject({ applied: true });
			expect(books(session)).toEqual({ asked: 1, taken: session.amount, back: 0 });
		});

		it('rows 4, 8: a request that never arrived takes nothing, and is never called failed by us alone', async () => {
			const { session, payment } = await pay({ submit: 'drop_before' });
			if (facts.resends) {
				operated().simulator.script({ phone: session.phone.slice(1) }, { afterMs: 0 });
				expect(await until(payment, 'success')).toMatchObject({ applied: true });
				expect(books(session)).toMatchObject({ asked: 1, taken: session.amount });
			} else {
				const ended = await eventually('it ends', async () => {
					await operated().advance(5 * minute);
					const found = await api().getPayment(payment.id);
					return found.status !== 'pending' && found;
				});
				expect(['expired', 'failed']).toContain(ended.status);
				expect(books(session)).toEqual({ asked: 0, taken: 0, back: 0 });
			}
		});

		it('rows 2, 3: callbacks that come early, three times and late buy the time once', async () => {
			const callbacks = [
				{ when: 'before_answer', afterMs: 0, times: 1 },
				{ when: 'at_outcome', afterMs: 0, times: 3 },
				{ when: 'at_outcome', afterMs: 5 * minute, times: 1 }
			] as const;
			const { session, payment } = await pay({ afterMs: 0, callbacks });
			await until(payment, 'success');
			await operated().advance(6 * minute);
			expect(await api().getPayment(payment.id)).toMatchObject({ status: 'success', applied: true });
			expect(books(session)).toEqual({ asked: 1, taken: session.amount, back: 0 });
			expect(await operated().fixture.events(session.id)).toEqual([
				'payment.success',
				'session.activated',
				'session.created'
			]);
		});

		it('row 10: a forged callback, one with another id and one that is no JSON change nothing', async () => {
			const { session, payment } = await pay({
				outcome: 'pending',
				callbacks: (['forged_success', 'wrong_id', 'wrong_amount', 'garbage'] as const).map((alter) => ({
					when: 'before_answer',
					afterMs: 0,
					times: 1,
					alter
				}))
			});
			await operated().advance(20_000);
			expect(await api().getPayment(payment.id)).toMatchObject({ status: 'pending' });
			expect(await api().getSession(session.id)).toMatchObject({ status: 'pending_payment', password: null });
		});

		it('row 7: a success after the screen has given up still buys the time', async () => {
			const { session, payment } = await pay({ outcome: 'pending', callbacks: [] });
			await until(payment, 'expired', 5 * minute);
			expect(await operated().simulator.settle(await held(payment), 'success')).toBe(true);
			expect(await until(payment, 'success', 5 * minute)).toMatchObject({ applied: true });
			expect(await api().getSession(session.id)).toMatchObject({ status: 'active' });
		});

		it('money for a cancelled session is refunded by the operator’s own refund', async () => {
			const { session, payment } = await pay({ outcome: 'pending' });
			await held(payment);
			await api().endSession(session.id);
			await operated().simulator.settle(await held(payment), 'success');
			expect(await until(payment, 'refunded')).toMatchObject({
				applied: false,
				refund_reason: 'session_cancelled'
			});
			expect(books(session)).toEqual({ asked: 1, taken: session.amount, back: session.amount });
		});

		it('row 9: a status read that denies a callback with a receipt is for a person, and never called failed', async () => {
			const early = { when: 'before_answer', afterMs: 0, times: 1 } as const;
			const { payment } = await pay({ afterMs: 0, contradicts: true, callbacks: [early] });
			await accepted(payment);
			for (let look = 0; look < 3; look += 1) await operated().advance(30_000);
			expect(await api().getPayment(payment.id)).toMatchObject({ status: 'pending' });
			expect(await contradictions(payment)).toBe(1);
		});

		it('row 9: so is a callback with a receipt that comes after the status read said no', async () => {
			const late = { when: 'at_outcome', afterMs: 2 * minute, times: 1 } as const;
			const { payment } = await pay({ afterMs: 0, contradicts: true, callbacks: [late] });
			await until(payment, 'failed');
			await operated().advance(3 * minute);
			await eventually('a person is asked', () => contradictions(payment));
		});

		if (facts.tellsAmount) {
			it('row 15: a different amount buys nothing, is refunded in full, and opens a review', async () => {
				// A callback before the answer, so that also an operator that tells amounts in callbacks only has told it.
				const early = { when: 'before_answer', afterMs: 0, times: 1 } as const;
				const { session, payment } = await pay({ afterMs: 0, amountFactor: 2, callbacks: [early] });
				await accepted(payment);
				const refunded = await until(payment, 'refunded');
				expect(refunded).toMatchObject({ applied: false, refund_reason: 'amount_mismatch' });
				const { taken, back } = books(session);
				expect([taken, back]).toEqual([2 * session.amount, 2 * session.amount]);
				expect(
					await operated().fixture.sql.count(
						"select count(*) from reviews where payment_id = ? and reason = 'amount_mismatch'",
						payment.id
					)
				).toBe(1);
			});
		}

		it('the start prints no test numbers of the sandbox, which mean nothing to it', () => {
			expect(operated().fixture.server.stdout()).toContain('Test mode: no real money moves.');
			expect(operated().fixture.server.stdout()).not.toContain('Test numbers');
		});
	});
});

import { expect } from 'vitest';
import { numberEnding, type Payment, type Session } from '../../../support/api/api.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

export const minute = 60_000;
/** After ten minutes the operator is asked every five, more or less. */
export const askedAgainMs = 6 * minute;

/** Starts a server with the sandbox operator, for payments that succeed late. */
export function useLate(database: string) {
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

	/** A payment whose time ends; by default the operator says later that it was paid. */
	async function expired(session: Session, digits = '004'): Promise<Payment> {
		const payment = await start(session, digits);
		await fixture().server.advance(10 * minute);
		return settledAs(payment, 'expired');
	}

	return { fixture, settledAs, start, expired, refundedBecause };
}

/** How long the operator is asked about a payment that failed or had no answer, and what its late success buys. */
import { describe, expect, it } from 'vitest';
import { numberEnding, type Payment } from '../../../support/api/api.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';
import { askedAgainMs, minute, useLate } from './use-late.ts';

describe.each(DATABASES)('on %s', (database) => {
	const { fixture, settledAs, start, expired, refundedBecause } = useLate(database);

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

	/** The longest pause between two looks is six hours and a tenth. */
	const longestPauseMs = 6.7 * 60 * minute;

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

	it('a payment without an answer is read for 24 hours', async () => {
		const { server } = fixture();
		const payment = await expired(await fixture().api.createSession(), '003');
		await server.advance(17 * 60 * minute);
		await eventually('a look', () => isLookedAt(payment));
		expect(await asked(payment)).toBe(1);
		await paidAfterAll(payment);
		await server.advance(longestPauseMs);
		await refundedBecause(payment, 'late_payment');
	});
});

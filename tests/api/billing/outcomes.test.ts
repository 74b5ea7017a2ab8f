/** The sandbox operator's numbers: every outcome that the table promises, through the public surface. */
import { afterAll, describe, expect, it } from 'vitest';
import { numberEnding, type Payment, type Session } from '../../support/api/api.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const minute = 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	async function start(digits: string): Promise<{ session: Session; payment: Payment }> {
		const session = await fixture().api.createSession({ phone: numberEnding(digits) });
		return { session, payment: await fixture().api.pay(session) };
	}

	/** The operator's side: what it was asked for, and when it took it on. */
	const charges = (payment: Payment) =>
		fixture().sql.all(
			'select c.* from sandbox_charges c join payments p on p.reference = c.reference where p.id = ?',
			payment.id
		);

	const messages = (payment: Payment, kind: string) =>
		fixture().sql.all(
			'select * from operator_messages where payment_id = ? and kind = ? order by id',
			payment.id,
			kind
		);

	const queued = (payment: Payment) =>
		eventually('the operator has it', async () => (await charges(payment))[0]?.['queued_at']);

	async function active(session: Session, payment: Payment): Promise<void> {
		const { api, events } = fixture();
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: payment.id });
		const types = await events(session.id);
		expect(types.filter((type) => type === 'session.activated')).toHaveLength(1);
		expect(types.filter((type) => type === 'payment.success')).toHaveLength(1);
	}

	it('any other number: success after one second', async () => {
		const { session, payment } = await start('123');
		const paid = await fixture().api.getPayment(payment.id, 20);
		expect(paid).toMatchObject({ status: 'success', applied: true, failure_code: null });
		const [charge] = await charges(payment);
		expect(Date.parse(paid.paid_at ?? '') - Number(charge?.['queued_at'])).toBe(1_000);
		await active(session, paid);
	});

	it.each([
		['001', 'payer declines', 'payer_rejected'],
		['002', 'insufficient funds', 'insufficient_funds']
	])('%s: %s; the session can be paid again', async (digits, _what, code) => {
		const { session, payment } = await start(digits);
		expect(await fixture().decided(payment)).toMatchObject({
			status: 'failed',
			applied: false,
			failure_code: code,
			failure_message: expect.stringMatching(/\.$/),
			paid_at: null
		});
		expect(await fixture().events(session.id)).toEqual(['payment.failed', 'session.created']);
		expect(await fixture().api.getSession(session.id)).toMatchObject({ status: 'pending_payment' });
		const second = await fixture().api.pay(session, numberEnding('008'));
		await active(session, await fixture().api.getPayment(second.id, 20));
		expect(await fixture().api.getPayment(payment.id)).toMatchObject({ status: 'failed', applied: false });
	});

	it('003: never answers; the payment expires after ten minutes, and not before', async () => {
		const { session, payment } = await start('003');
		await queued(payment);
		await fixture().server.advance(10 * minute - 10_000);
		expect(await fixture().api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
		await fixture().server.advance(10_000);
		expect(await fixture().api.getPayment(payment.id, 20)).toMatchObject({
			status: 'expired',
			failure_code: 'payer_timeout',
			applied: false
		});
		expect(await fixture().events(session.id)).toContain('payment.failed');
		expect(await fixture().api.getSession(session.id)).toMatchObject({ status: 'pending_payment' });
	});

	it('004: expires here, then the operator reports success, which still buys the time', async () => {
		const { session, payment } = await start('004');
		await queued(payment);
		await fixture().server.advance(10 * minute);
		expect(await fixture().api.getPayment(payment.id, 20)).toMatchObject({ status: 'expired' });
		// Later than ten minutes the operator is asked every five, more or less.
		await fixture().server.advance(6 * minute);
		const paid = await eventually('the late success', async () => {
			const found = await fixture().api.getPayment(payment.id);
			return found.status === 'success' && found;
		});
		expect(paid).toMatchObject({ applied: true, failure_code: null, failure_message: null });
		await active(session, paid);
	});

	it('005: the submit answer is lost; the payment succeeds and was asked for once', async () => {
		const { session, payment } = await start('005');
		expect(await fixture().decided(payment)).toMatchObject({ status: 'success', applied: true });
		// A callback can settle it before that is stored.
		const lost = await eventually('its answer is noted', async () => {
			const noted = await messages(payment, 'submit');
			return noted.length > 0 && noted;
		});
		expect(lost).toMatchObject([{ outcome: 'uncertain' }]);
		expect(await charges(payment)).toHaveLength(1);
		await active(session, payment);
	});

	it('006: the operator is down for 30 s; then the same request goes through', async () => {
		const { session, payment } = await start('006');
		await eventually('the first attempt', async () => (await messages(payment, 'submit')).length > 0);
		expect((await charges(payment))[0]).toMatchObject({ queued_at: null });
		await fixture().server.advance(20_000);
		await eventually('a read that says nothing', async () =>
			(await messages(payment, 'status')).some(({ outcome }) => outcome === 'unavailable')
		);
		expect(await fixture().api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
		await fixture().server.advance(15_000);
		expect(await fixture().decided(payment)).toMatchObject({ status: 'success', applied: true });
		expect(await charges(payment)).toHaveLength(1);
		await active(session, payment);
	});

	it('007: success, though no callback ever comes', async () => {
		const { session, payment } = await start('007');
		expect(await fixture().decided(payment)).toMatchObject({ status: 'success', applied: true });
		expect(await messages(payment, 'callback')).toEqual([]);
		await active(session, payment);
	});

	it('008: the callback comes three times and before the submit answer; it counts once', async () => {
		const { session, payment } = await start('008');
		expect(await fixture().api.getPayment(payment.id, 20)).toMatchObject({
			status: 'success',
			applied: true
		});
		const submit = await eventually('the submit answer', async () => (await messages(payment, 'submit'))[0]);
		const callbacks = await messages(payment, 'callback');
		expect(callbacks).toHaveLength(3);
		for (const { id } of callbacks) expect(id).toBeLessThan(Number(submit['id']));
		await active(session, payment);
	});

	it('009: another amount than requested is not applied but refunded in full; the session can still be paid', async () => {
		const { api, decided, server, sql } = fixture();
		const { session, payment } = await start('009');
		expect(await decided(payment)).toMatchObject({
			applied: false,
			refund_reason: 'amount_mismatch',
			status: expect.stringMatching(/^refund/)
		});
		await eventually('the operator has the refund', () =>
			sql.count("select count(*) from refunds where payment_id = ? and submit_state = 'accepted'", payment.id)
		);
		await server.advance(3_000);
		const refunded = await eventually('the refund', async () => {
			const found = await api.getPayment(payment.id);
			return found.status === 'refunded' && found;
		});
		expect(refunded).toMatchObject({ amount: 500, refund_amount: 1000, refund_currency: 'UGX' });
		expect(refunded.refunded_at).not.toBeNull();
		const refunds = await sql.all(
			`select f.amount_minor, r.status from refunds r join sandbox_refunds f on f.reference = r.reference
				where r.payment_id = ?`,
			payment.id
		);
		expect(refunds).toEqual([{ amount_minor: 1000, status: 'succeeded' }]);
		const [{ reason } = {}] = await sql.all(
			'select reason from reviews where payment_id = ? and resolved_at is null',
			payment.id
		);
		expect(reason).toBe('amount_mismatch');
		expect(await fixture().events(session.id)).toEqual([
			'payment.refunded',
			'payment.success',
			'session.created'
		]);

		expect(await api.getSession(session.id)).toMatchObject({ status: 'pending_payment' });
		const second = await api.pay(session, numberEnding('008'));
		expect(await api.getPayment(second.id, 20)).toMatchObject({ status: 'success', applied: true });
		expect(await api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: second.id });
	});

	afterAll(async () => {
		// Whatever happened above: what payers were debited bought time or went back, to the last shilling.
		const rows = await fixture().sql.all(
			`select p.id, p.settled_minor as debited, p.amount_minor as asked, p.applied,
					(select sum(amount_minor) from sandbox_refunds f where f.charge_reference = p.reference) as returned
				from payments p where p.settled_minor is not null`
		);
		expect(rows.length).toBeGreaterThan(8);
		for (const { debited, asked, applied, returned } of rows) {
			expect(Number(debited)).toBe(Number(applied) * Number(asked) + Number(returned ?? 0));
		}
	});
});

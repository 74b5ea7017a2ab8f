/** POST /payments/mobile-money and GET /payments/{id}/status: one case per status, with exact bodies. */
import { beforeEach, describe, expect, it } from 'vitest';
import { numberEnding, type Session } from '../../support/api/api.ts';
import { INSTANT } from '../../support/api/wire.ts';
import { DATABASES, eventually, recorded, useFixture } from '../../support/server/fixture.ts';
import type { Value } from '../../support/database/sql.ts';

const path = '/v1/payments/mobile-money';

/** [field, value, code of the item] */
const BAD_FIELDS = [
	['amount', undefined, 'required'],
	['amount', '500', 'invalid_type'],
	['amount', 0, 'out_of_range'],
	['amount', 500.5, 'invalid_format'],
	['amount', 1e13, 'out_of_range'],
	['phone', undefined, 'required'],
	['phone', 256772123456, 'invalid_type'],
	['phone', '', 'invalid_format'],
	['session_id', undefined, 'required'],
	['session_id', '1', 'invalid_type'],
	['session_id', 1.5, 'invalid_type'],
	['currency', 'UGX', 'unknown_field']
] as const;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let session: Session;

	beforeEach(async () => {
		// A number that never answers: an accepted payment stays as it is.
		session = await fixture().api.createSession({ phone: numberEnding('003') });
	});

	const refused = async (expected: `${number} ${string}`, order: object = {}) => {
		const { api } = fixture();
		const before = await recorded(fixture());
		const body = { amount: session.amount, phone: session.phone, session_id: session.id, ...order };
		const problem = await api.refused(expected, 'POST', path, { body });
		expect(await recorded(fixture())).toEqual(before);
		return problem;
	};

	describe('POST /payments/mobile-money', () => {
		it('201 pending, with exactly the documented object, before the operator has said anything', async () => {
			const payment = await fixture().api.pay(session);
			expect(payment).toEqual({
				id: payment.id,
				session_id: session.id,
				status: 'pending',
				amount: 500,
				currency: 'UGX',
				phone: session.phone,
				payment_method: 'mobile_money',
				operator_request: 'unsent',
				applied: false,
				failure_code: null,
				failure_message: null,
				provider_reference: null,
				refund_reason: null,
				refund_amount: null,
				refund_currency: null,
				expires_at: expect.stringMatching(INSTANT),
				paid_at: null,
				refunded_at: null,
				created_at: expect.stringMatching(INSTANT),
				updated_at: payment.created_at
			});
			expect(Date.parse(payment.expires_at) - Date.parse(payment.created_at)).toBe(10 * 60_000);
		});

		it('201 for a payer other than the buyer', async () => {
			const payer = numberEnding('003');
			expect(await fixture().api.pay(session, payer.replace('+256', '0'))).toMatchObject({ phone: payer });
		});

		it.each(BAD_FIELDS)('400 validation_failed for %s: %j', async (field, value, code) => {
			const { errors } = await refused('400 validation_failed', { [field]: value });
			expect(errors).toEqual([{ in: 'body', pointer: `/${field}`, code, detail: expect.any(String) }]);
		});

		it('400 validation_failed for an infinite amount', async () => {
			const body = `{"amount":1e999,"phone":"${session.phone}","session_id":${session.id}}`;
			const { errors } = await fixture().api.refused('400 validation_failed', 'POST', path, { body });
			expect(errors).toMatchObject([{ pointer: '/amount', code: 'invalid_type' }]);
		});

		it.each([0, -1, 999_999, 2 ** 60])('404 session_not_found for session %d', async (id) => {
			await refused('404 session_not_found', { session_id: id });
		});

		it('400 amount_mismatch for any other amount, with the right one', async () => {
			for (const amount of [499, 501, 1]) {
				const problem = await refused('400 amount_mismatch', { amount });
				expect(problem).toMatchObject({ expected_amount: 500, currency: 'UGX' });
			}
		});

		it('400 invalid_phone for what is no mobile number', async () => {
			for (const phone of ['0414123456', '+442079460958', 'x']) await refused('400 invalid_phone', { phone });
		});

		it('400 payment_in_progress, naming the open payment', async () => {
			const { api, server, sql } = fixture();
			const payment = await api.pay(session);
			const problem = await api.refused('400 payment_in_progress', 'POST', path, {
				body: { amount: session.amount, phone: numberEnding('123'), session_id: session.id }
			});
			expect(problem.payment_id).toBe(payment.id);
			expect(await sql.count('select count(*) from payments where session_id = ?', session.id)).toBe(1);
			expect(server.stderr()).toBe('');
		});

		/** Inserts a row once more, with another reference. */
		async function copy(table: 'payments' | 'refunds', where: string, id: number) {
			const { sql } = fixture();
			const [row] = await sql.all(`select * from ${table} where ${where} = ?`, id);
			const columns = Object.entries({ ...row, reference: `copy of ${id}` }).filter(
				([name]) => name !== 'id'
			);
			const names = columns.map(([name]) => name).join(', ');
			const values = columns.map(() => '?').join(', ');
			return sql.run(
				`insert into ${table} (${names}) values (${values})`,
				...columns.map(([, value]) => value as Value)
			);
		}

		it('the database itself holds one open payment, and one that counts, for a session', async () => {
			const { api, buy } = fixture();
			const { payment: applied } = await buy();
			for (const { id } of [await api.pay(session), applied]) {
				await expect(copy('payments', 'id', id)).rejects.toThrow(/unique/i);
			}
		});

		it('the database itself holds one refund for a payment', async () => {
			const { api, decided } = fixture();
			const { id } = await decided(await api.pay(session, numberEnding('009')));
			await expect(copy('refunds', 'payment_id', id)).rejects.toThrow(/unique/i);
		});

		it('400 session_already_paid while it runs, and session_not_payable after its end', async () => {
			({ session } = await fixture().buy());
			await refused('400 session_already_paid');
			await fixture().api.endSession(session.id);
			expect(await refused('400 session_not_payable')).toMatchObject({ session_status: 'ended' });
		});

		it('400 session_not_payable for a cancelled session, with its state', async () => {
			await fixture().api.endSession(session.id);
			expect(await refused('400 session_not_payable')).toMatchObject({ session_status: 'cancelled' });
		});

		it('400 session_not_payable when its time to pay is over, though no job has noticed', async () => {
			await fixture().server.advance(30 * 60_000);
			const { api } = fixture();
			const body = { amount: session.amount, phone: session.phone, session_id: session.id };
			const problem = await api.refused('400 session_not_payable', 'POST', path, { body });
			expect(problem).toMatchObject({ session_status: 'cancelled' });
		});

		it('400 payment_attempts_exceeded for the sixth attempt at one session', async () => {
			const { api, decided } = fixture();
			for (let attempt = 1; attempt <= 5; attempt += 1) {
				const payment = await decided(await api.pay(session, numberEnding('001')));
				expect(payment).toMatchObject({ status: 'failed' });
			}
			await refused('400 payment_attempts_exceeded', { phone: numberEnding('123') });
		});

		it('400 payer_prompt_limit for the sixth prompt to a number in 15 minutes; other accounts still ask it', async () => {
			const { api, other, server } = fixture();
			const phone = numberEnding('003');
			const startWith = async (caller: typeof api) => caller.pay(await caller.createSession(), phone);
			await startWith(api);
			await server.advance(60_000);
			for (const caller of [api, api, api, api]) await startWith(caller);
			session = await api.createSession();
			const problem = await refused('400 payer_prompt_limit', { phone });
			expect(problem).toMatchObject({ retry_after: expect.closeTo(14 * 60, -1) as number });
			// The same number written in another way.
			await refused('400 payer_prompt_limit', { phone: phone.replace('+256', '0') });
			await api.pay(session, numberEnding('003'));
			// The first prompt leaves the window, the other four stay.
			await server.advance(14 * 60_000);
			await startWith(api);
			session = await api.createSession();
			await refused('400 payer_prompt_limit', { phone });
			for (let time = 0; time < 5; time += 1) await startWith(other);
		});
	});

	describe('GET /payments/{id}/status', () => {
		it('200 with the same object; a success names the operator’s reference and the moment', async () => {
			const { payment } = await fixture().buy();
			expect(payment).toMatchObject({
				status: 'success',
				applied: true,
				provider_reference: expect.stringMatching(/^SBX[0-9A-F]{12}$/),
				paid_at: expect.stringMatching(INSTANT),
				failure_code: null,
				refund_reason: null,
				refunded_at: null
			});
			expect(await fixture().api.getPayment(payment.id)).toEqual(payment);
		});

		it('asks the operator nothing: a read is a read of our own', async () => {
			const { api, sql } = fixture();
			const payment = await api.pay(session);
			await eventually('the operator has it', () =>
				sql.count("select count(*) from payments where id = ? and submit_state = 'accepted'", payment.id)
			);
			// No job asks meanwhile.
			await sql.run(
				`update jobs set lease_owner = 'the test', lease_until = 9000000000000 where subject_id = ?`,
				payment.id
			);
			const asked = () => sql.all('select * from operator_messages where payment_id = ?', payment.id);
			const before = await asked();
			await fixture().server.advance(60_000);
			for (let read = 0; read < 5; read += 1) {
				expect(await api.getPayment(payment.id)).toMatchObject({ status: 'pending' });
			}
			expect(await asked()).toEqual(before);
		});

		it('404 payment_not_found for an id that names nothing', async () => {
			for (const id of ['0', '-1', '999999', '9007199254740993', '1'.repeat(30)]) {
				await fixture().api.refused('404 payment_not_found', 'GET', `/v1/payments/${id}/status`);
			}
		});

		it.each([
			['wait=21', 'out_of_range'],
			['wait=-1', 'out_of_range'],
			['wait=1.5', 'invalid_format'],
			['wait=1&wait=1', 'duplicate']
		])('400 validation_failed for ?%s', async (query, code) => {
			const { payment } = await fixture().buy();
			const at = `/v1/payments/${payment.id}/status?${query}`;
			const problem = await fixture().api.refused('400 validation_failed', 'GET', at);
			expect(problem.errors).toMatchObject([{ in: 'query', pointer: '/wait', code }]);
		});
	});

	describe('in a currency with cents, in another region', () => {
		const kenya = useFixture({ database, env: { CURRENCY: 'KES', DEFAULT_REGION: 'KE' } });

		it('amounts have two decimals, and numbers are those of the region', async () => {
			const { api, sql } = kenya();
			await sql.run('update routers set price_minor = 1999 where id = 3');
			const order = await api.createSession({ phone: '0712345003', duration: '90m' });
			expect(order).toMatchObject({ amount: 29.99, currency: 'KES', phone: '+254712345003' });
			const start = (amount: number) => ({ body: { amount, phone: '0712345003', session_id: order.id } });
			const { errors } = await api.refused('400 validation_failed', 'POST', path, start(29.991));
			expect(errors).toMatchObject([{ in: 'body', pointer: '/amount', code: 'invalid_format' }]);
			for (const amount of [2999, 29.98, 30]) {
				const problem = await api.refused('400 amount_mismatch', 'POST', path, start(amount));
				expect(problem).toMatchObject({ expected_amount: 29.99, currency: 'KES' });
			}
			const { status, body } = await api.send('POST', path, start(29.99));
			expect([status, body]).toMatchObject([201, { amount: 29.99, currency: 'KES', phone: '+254712345003' }]);
		});
	});
});

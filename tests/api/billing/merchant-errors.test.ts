/** An operator refuses our account: the buyer is not charged, and the administrator sees the reason. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPERATORS } from '../../simulators/protocols.ts';
import { startOperated, type OperatedFixture } from '../../support/billing/operators.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, eventually } from '../../support/server/fixture.ts';

const [mpesa] = OPERATORS.filter(({ name }) => name === 'mpesa');
if (!mpesa) throw new Error('There is no M-Pesa');

const KEEP_PENDING = {
	sqlite: [
		`create trigger keep_pending before update on payments when new.status = 'failed'
			begin select raise(abort, 'kept pending'); end`
	],
	postgres: [
		`create function keep_pending() returns trigger as $$ begin raise exception 'kept pending'; end $$ language plpgsql`,
		`create trigger keep_pending before update on payments for each row
			when (new.status = 'failed') execute function keep_pending()`
	]
};
const ALLOW = { sqlite: 'drop trigger keep_pending', postgres: 'drop trigger keep_pending on payments' };

describe.each(DATABASES)('with a wrong passkey, on %s', (database) => {
	let operated: OperatedFixture;
	beforeAll(async () => {
		operated = await startOperated(mpesa, database, { MPESA_PASSKEY: 'wrong' });
	});
	afterAll(() => operated.stop());

	it('doctor fails before anybody has paid, and later counts the lost sales', async () => {
		const { server, api } = operated.fixture;
		const before = await cli(['doctor'], server);
		expect(before.stdout).toMatch(/^FAIL operator: daraja: .* MPESA_PASSKEY \(Wrong credentials\)/m);
		expect(before.stdout).not.toContain('in 24 hours');
		expect(before.code).toBe(1);

		for (let times = 0; times < 2; times += 1) {
			const session = await api.createSession({ payment_method: 'mpesa', phone: operated.newPhone() });
			const { id } = await api.pay(session);
			const failed = await eventually('the payment fails', async () => {
				const payment = await api.getPayment(id);
				return payment.status === 'failed' && payment;
			});
			expect(failed.failure_code).toBe('provider_error');
		}
		const { stdout } = await cli(['doctor'], server);
		expect(stdout).toMatch(/^warn operator: daraja: refused 2 payments in 24 hours .*"Wrong credentials"/m);
		expect(server.stderr()).toMatch(/"operator":"daraja","payment":\d+,"answer":"Wrong credentials"/);
	});

	it('the payment fails, though the database stopped between the refusal and its consequence', async () => {
		const { server, api, sql } = operated.fixture;
		for (const statement of KEEP_PENDING[database]) await sql.run(statement);
		const session = await api.createSession({ payment_method: 'mpesa', phone: operated.newPhone() });
		const { id } = await api.pay(session);
		await eventually('the refusal is stored, and no more', () =>
			sql.count(
				`select count(*) from payments join jobs on jobs.kind = 'payment.submit' and subject_id = payments.id
					where payments.id = ? and submit_state = 'refused' and last_error is not null`,
				id
			)
		);
		await sql.run(ALLOW[database]);
		await server.advance(60_000);
		await eventually('the payment fails', async () => (await api.getPayment(id)).status === 'failed');
	});
});

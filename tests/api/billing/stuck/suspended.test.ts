/** A process stands still after it has read what it is about to send. Meanwhile another changes it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSql, type Sql } from '../../../support/database/sql.ts';
import { useOperated } from '../../../support/billing/use-operated.ts';
import { serverNow } from '../../../torture/time.ts';
import { eventually } from '../../../support/server/fixture.ts';

const MINUTE = 60_000;
const LIMITED = { submit: 'rate_limited' } as const;
const REFUSED = { submit: 'refuse', submitCode: 'NOT_ALLOWED' } as const;

describe('MTN, on PostgreSQL', () => {
	const use = useOperated('mtn', 'postgres');
	let holder: Sql;
	beforeAll(async () => {
		holder = await openSql(use.operated().fixture.server.databaseUrl);
	});
	afterAll(() => holder?.close());

	const requests = (path: RegExp) =>
		use.operated().simulator.requests.filter((one) => one.method === 'POST' && path.test(one.path)).length;

	/** Its time has come; it stands still at a lock, and goes on after the change. */
	async function suspendedAt(lock: string, change: () => Promise<unknown>): Promise<void> {
		const { fixture, simulator } = use.operated();
		await holder.run('begin');
		await holder.run(lock);
		simulator.advance(MINUTE);
		await fixture.server.advance(MINUTE);
		await eventually('it waits for the lock', () =>
			fixture.sql.count(
				"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
			)
		);
		await change();
		await holder.run('commit');
		await use.operated().advance(0);
	}

	/** Meanwhile another process has run the job and sent without an answer. It is due again after five seconds. */
	async function sentByOther(table: 'payments' | 'refunds', id: unknown): Promise<void> {
		const kind = { payments: 'payment.submit', refunds: 'payment.refund' }[table];
		await holder.run(`update ${table} set submitted_at = created_at where id = ?`, Number(id));
		await holder.run(
			`update jobs set lease_owner = null, lease_until = null, run_at = ? where kind = ? and subject_id = ?`,
			serverNow(use.operated().fixture.server) + 5_000,
			kind,
			Number(id)
		);
	}

	async function limited() {
		const before = requests(/requesttopay$/);
		const { session, payment } = await use.pay(LIMITED);
		await eventually('it waits for its next try', async () => {
			const waits = `select count(*) from payments join jobs on kind = 'payment.submit' and subject_id = payments.id
				where payments.id = ? and submit_state = 'created' and lease_until is null`;
			const isBack = await use.operated().fixture.sql.count(waits, payment.id);
			return isBack > 0 && requests(/requesttopay$/) > before;
		});
		use.operated().simulator.script({ phone: session.phone.slice(1) }, { guards: false, ...REFUSED });
		return { payment, sent: before + 1 };
	}

	it('a payment that failed is not sent', async () => {
		const { payment, sent } = await limited();
		await suspendedAt(`update payments set status = 'failed' where id = ${payment.id}`, async () => {});
		expect(requests(/requesttopay$/)).toBe(sent);
		expect(await use.find(payment)).toMatchObject({ status: 'failed' });
	});

	it('a payment that was sent without an answer does not fail by a refusal', async () => {
		const { payment, sent } = await limited();
		// After it has read the payment.
		await suspendedAt('lock table sessions', () => sentByOther('payments', payment.id));
		expect(requests(/requesttopay$/)).toBe(sent);
		await use.operated().advance(MINUTE);
		// Read five seconds later as not found, it may have been sent again by now.
		expect(requests(/requesttopay$/)).toBeGreaterThan(sent);
		expect(await use.find(payment)).toMatchObject({ status: 'pending' });
	});

	it('a refund that was sent without an answer does not fail by a refusal', async () => {
		const { payment } = await use.pay({ amountFactor: 2, afterMs: 0, refund: LIMITED });
		await use.until(payment, 'refund_pending', 1_000);
		const { fixture } = use.operated();
		const refund = await eventually('it waits for its next try', async () => {
			const waits = "select id from refunds where payment_id = ? and submit_state = 'created'";
			const [found] = await fixture.sql.all(waits, payment.id);
			return requests(/refund$/) > 0 && found;
		});
		const sent = requests(/refund$/);
		const held = await use.held(payment);
		held.script = { ...held.script, refund: REFUSED };
		// After it has read the refund.
		await suspendedAt('lock table payments', () => sentByOther('refunds', refund['id']));
		expect(requests(/refund$/)).toBe(sent);
		await use.operated().advance(10_000);
		expect(requests(/refund$/)).toBe(sent + 1);
		expect(await use.find(payment)).toMatchObject({ status: 'refund_pending' });
	});
});

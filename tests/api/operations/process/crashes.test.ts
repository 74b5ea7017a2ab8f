/** A process that dies at any moment loses no paid session and doubles none. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { numberEnding, type Payment, type Session } from '../../../support/api/api.ts';
import { isAll } from '../../../support/all.ts';
import {
	BOTH_DATABASES,
	eventually,
	runsAllOn,
	useFixture,
	type Fixture
} from '../../../support/server/fixture.ts';

/** A dead process keeps its jobs for so long. */
const leaseMs = 8_000;
/** Nine restarts; on a busy machine each takes several seconds. */
const roundsLimitMs = 3 * 60_000;

/** Kills the server, starts it again, and lets the dead one's leases run out. */
async function crash(fixture: Fixture): Promise<void> {
	await fixture.server.kill('SIGKILL');
	await fixture.server.restart();
	await fixture.server.advance(leaseMs + 1_000);
}

async function expectSettled({ api, server }: Fixture, payment: Payment): Promise<void> {
	const settled = await eventually(`payment ${payment.id} settles`, async () => {
		const found = await api.getPayment(payment.id);
		if (found.status === 'pending') await server.advance(3_000);
		return found.status !== 'pending' && found;
	});
	expect(settled).toMatchObject({ status: 'success', applied: true });
}

/** The session runs, and everything that it took happened once. */
async function expectBoughtOnce(fixture: Fixture, session: Session, payment: Payment): Promise<void> {
	const { api, sql } = fixture;
	await expectSettled(fixture, payment);
	expect(await api.getSession(session.id)).toMatchObject({ status: 'active', payment_id: payment.id });
	expect(await fixture.events(session.id)).toEqual([
		'payment.success',
		'session.activated',
		'session.created'
	]);
	expect(await sql.count('select count(*) from sandbox_charges where phone = ?', payment.phone)).toBe(1);
	expect(await sql.count('select count(*) from payments where session_id = ?', session.id)).toBe(1);
}

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	const start = async (digits: string) => {
		const session = await fixture().api.createSession({ phone: numberEnding(digits) });
		return { session, payment: await fixture().api.pay(session) };
	};

	// Torture kills PostgreSQL's processes at any moment of many payments.
	it.each(runsAllOn(database) || isAll ? ['007', '005', '006'] : ['007'])(
		'kill -9 between start and settling (number %s): after the restart the paid session runs',
		async (digits) => {
			const { session, payment } = await start(digits);
			await eventually('the operator is asked', () =>
				fixture().sql.count('select count(*) from sandbox_charges where phone = ?', payment.phone)
			);
			await crash(fixture());
			await expectBoughtOnce(fixture(), session, payment);
		}
	);

	it(
		'kill -9 at any moment after the 201: the payment is there, charged once, and buys its time',
		async () => {
			// Around the moments at which the outbox sends, the sandbox answers and the settling writes.
			for (const delayMs of isAll ? [0, 2, 5, 9, 14, 20, 30, 1_000, 1_030] : [9, 1_030]) {
				const { session, payment } = await start(delayMs < 1_000 ? '008' : '123');
				await sleep(delayMs);
				await fixture().server.kill('SIGKILL');
				await fixture().server.restart();
				expect(await fixture().api.getPayment(payment.id)).toMatchObject({ id: payment.id, amount: 500 });
				await fixture().server.advance(leaseMs + 1_000);
				await expectBoughtOnce(fixture(), session, payment);
			}
		},
		roundsLimitMs
	);

	it('kill -9 during a refund: it is sent once', async () => {
		const { session, payment } = await start('009');
		await eventually('the payment settles', async () => {
			const { status } = await fixture().api.getPayment(payment.id);
			if (status === 'pending') await fixture().server.advance(1_000);
			return status !== 'pending';
		});
		await crash(fixture());
		const refunded = await eventually('the refund', async () => {
			const found = await fixture().api.getPayment(payment.id);
			if (found.status !== 'refunded') await fixture().server.advance(3_000);
			return found.status === 'refunded' && found;
		});
		expect(refunded).toMatchObject({ applied: false, refund_reason: 'amount_mismatch' });
		const refunds = await fixture().sql.all(
			`select f.amount_minor from sandbox_refunds f join payments p on p.reference = f.charge_reference
				where p.id = ?`,
			payment.id
		);
		expect(refunds).toEqual([{ amount_minor: 1000 }]);
		expect((await fixture().events(session.id)).filter((type) => type === 'payment.refunded')).toHaveLength(
			1
		);
	});

	it('kill -9 while a session is active: it keeps its password and ends on time', async () => {
		const { session } = await fixture().buy();
		await crash(fixture());
		expect(await fixture().api.getSession(session.id)).toMatchObject({
			status: 'active',
			password: session.password,
			expires_at: session.expires_at
		});
		await fixture().server.kill('SIGKILL');
		await fixture().server.advance(60 * 60_000);
		await fixture().server.restart();
		expect(await fixture().api.getSession(session.id)).toMatchObject({ status: 'expired', password: null });
		expect((await fixture().events(session.id)).filter((type) => type === 'session.expired')).toHaveLength(1);
	});
});

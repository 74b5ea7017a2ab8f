/** Payments that could get stuck: lost answers, late lists, reviews that a person must be able to resolve. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { useOperated } from '../../../support/billing/use-operated.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';

const minute = 60_000;
const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	describe('MTN', () => {
		const use = useOperated('mtn', database);

		it('a payment that a callback calls paid, and no read does, is for a person when it expires', async () => {
			const { payment } = await use.pay({ afterMs: 0, failedReads: 99 });
			await use.until(payment, 'expired', 5 * minute);
			expect(await use.questions(payment)).toMatchObject([
				{ reason: 'no_final_answer', detail: expect.stringMatching(/paid, receipt .+ says: HTTP 500$/) }
			]);
			const { payment: other } = await use.pay({ afterMs: 0 });
			const { provider_reference: used } = await use.until(other, 'success');
			const [question] = await use.questions(payment);
			expect(await use.resolve(question?.['id'], 'paid', used ?? '')).toMatchObject({
				status: 409,
				text: expect.stringContaining(`has already paid payment ${other.id}`)
			});
			const held = await use.held(payment);
			held.script = { ...held.script, failedReads: 0 };
			expect(await use.until(payment, 'success', minute)).toMatchObject({ applied: true });
		});

		it('a transaction that has paid another payment buys the time that the operator calls paid, and a person looks', async () => {
			const { payment: first } = await use.pay({ afterMs: 0 });
			await use.until(first, 'success');
			const { payment } = await use.pay({ afterMs: 0 });
			const { provider_reference: receipt } = await use.until(payment, 'success');
			// As the operator reports it for the next payment, too.
			const next = String(Number(receipt) + 1);
			const { sql } = use.operated().fixture;
			await sql.run('update payments set provider_reference = ? where id = ?', next, first.id);
			const { payment: third } = await use.pay({ afterMs: 0 });
			expect(await use.until(third, 'success')).toMatchObject({ applied: true });
			expect(await use.questions(third)).toMatchObject([
				{ reason: 'contradiction', detail: `transaction ${next} has already paid payment ${first.id}` }
			]);
		});

		it('a callback about another payment is no claim', async () => {
			const { payment } = await use.pay({ outcome: 'pending', callbacks: [] });
			const { callbackUrl } = await use.held(payment);
			const { sql } = use.operated().fixture;
			const body = { status: 'SUCCESSFUL', financialTransactionId: '9', externalId: randomUUID() };
			await fetch(callbackUrl ?? '', { method: 'POST', body: JSON.stringify(body) });
			expect(await sql.all('select claim from payments where id = ?', payment.id)).toEqual([{ claim: null }]);
			const [message] = await sql.all(
				"select outcome from operator_messages where payment_id = ? and kind = 'callback'",
				payment.id
			);
			expect(message).toEqual({ outcome: 'not authentic' });
		});

		it('a failure reported after the payment expired is final', async () => {
			const { payment } = await use.pay({ outcome: 'pending', callbacks: [] });
			const held = await use.held(payment);
			await use.until(payment, 'expired', 5 * minute);
			await use.operated().simulator.settle(held, 'EXPIRED');
			for (let day = 0; day < 4; day += 1) await use.operated().advance(24 * hour);
			expect(await use.questions(payment)).toEqual([]);
		});

		it('a request that never arrived before it expired opens no review', async () => {
			const { payment } = await use.pay({ submit: 'drop_before' });
			await use.until(payment, 'expired', minute);
			for (const hours of [6, 6, 6, 6, 72]) await use.operated().advance(hours * hour);
			expect(await use.find(payment)).toMatchObject({ failure_code: 'provider_unavailable' });
			expect(await use.questions(payment)).toEqual([]);
		});

		it('a request that it has, and never finds, is for a person', async () => {
			const lost = { submit: 'drop_after', callbacks: [], notFoundReads: 999 } as const;
			const { payment } = await use.pay(lost);
			await use.until(payment, 'expired', minute);
			for (let step = 0; step < 14; step += 1) await use.operated().advance(6 * hour);
			expect(await use.question(payment)).toMatchObject({ reason: 'no_final_answer' });
		});
	});
});

// What is stored about these is as with MTN.
describe('Airtel', () => {
	const use = useOperated('airtel', 'sqlite');

	it('a request that Airtel does not find for four minutes and then accepts buys the time', async () => {
		const { payment } = await use.pay({ submit: 'drop_after', afterMs: 0, callbacks: [], notFoundReads: 4 });
		for (let step = 0; step < 4; step += 1) {
			await use.operated().advance(minute);
			expect((await use.find(payment)).status).not.toBe('failed');
		}
		expect(await use.until(payment, 'success')).toMatchObject({ applied: true });
	});

	it('a request that it finds after it was given up is still credited', async () => {
		const { payment } = await use.pay({ submit: 'drop_after', afterMs: 0, callbacks: [], notFoundReads: 99 });
		await use.until(payment, 'failed', minute);
		const held = await use.held(payment);
		held.script = { ...held.script, notFoundReads: 0 };
		expect(await use.until(payment, 'success', minute)).toMatchObject({ applied: true });
	});

	/** After the first hours a payment is read every six, more or less. */
	async function nextRead(held: { reads: number }): Promise<void> {
		const { reads } = held;
		await use.operated().advance(7 * hour);
		await eventually('it is read', () => Promise.resolve(held.reads > reads));
	}

	it('a request that it finds after it was given up, and calls pending for a day, is not forgotten, also after a read without an answer', async () => {
		const lost = { submit: 'drop_after', callbacks: [], notFoundReads: 99 } as const;
		const { payment } = await use.pay({ ...lost, outcome: 'pending' });
		await use.until(payment, 'failed', minute);
		const held = await use.held(payment);
		held.script = { ...held.script, notFoundReads: 0 };
		for (let step = 0; step < 4; step += 1) await nextRead(held);
		held.script = { ...held.script, failedReads: 99 };
		await nextRead(held);
		held.script = { ...held.script, failedReads: 0 };
		await use.operated().simulator.settle(held, 'success');
		await use.until(payment, 'refunded', 7 * hour, 3);
	});

	it('so is one that it calls pending until nobody answers the last read: a person decides', async () => {
		const lost = { submit: 'drop_after', callbacks: [], notFoundReads: 99 } as const;
		const { payment } = await use.pay({ ...lost, outcome: 'pending' });
		await use.until(payment, 'failed', minute);
		const held = await use.held(payment);
		held.script = { ...held.script, notFoundReads: 0 };
		for (let step = 0; step < 5; step += 1) await nextRead(held);
		held.script = { ...held.script, failedReads: 99 };
		await use.operated().advance(40 * hour);
		await eventually('a person must decide', async () => (await use.questions(payment)).length > 0);
		expect(await use.questions(payment)).toMatchObject([{ reason: 'no_final_answer' }]);
	});

	it('a request that it never finds, but called paid, is for a person and never called failed', async () => {
		const { payment } = await use.pay({ submit: 'drop_after', afterMs: 0, notFoundReads: 99 });
		await use.until(payment, 'expired', 5 * minute);
		expect(await use.questions(payment)).toMatchObject([
			{ reason: 'no_final_answer', detail: expect.stringMatching(/paid, receipt .+ says: not found$/) }
		]);
		const held = await use.held(payment);
		held.script = { ...held.script, notFoundReads: 0 };
		expect(await use.until(payment, 'success', minute)).toMatchObject({ applied: true });
	});

	it('an operator that was removed from the settings keeps its payments pending until it is configured again', async () => {
		const { session, payment } = await use.pay({ outcome: 'pending' });
		const held = await use.held(payment);
		const { fixture, simulator } = use.operated();
		await fixture.api.endSession(session.id);
		const settings = Object.entries(fixture.server.env).filter(([name]) => name.startsWith('AIRTEL_'));
		for (const [name] of settings) fixture.server.env[name] = '';
		await fixture.server.restart();
		await simulator.settle(held, 'success');
		await use.operated().advance(minute);
		expect(await use.find(payment)).toMatchObject({ status: 'pending' });
		Object.assign(fixture.server.env, Object.fromEntries(settings));
		await fixture.server.restart();
		await use.until(payment, 'refunded');
	});

	// The last: its server stays there.
	it('an operator that was moved to another country gets no request for a number that it no longer takes', async () => {
		const { payment } = await use.pay({ submit: 'rate_limited' });
		const { fixture, simulator } = use.operated();
		await eventually('the request was refused for now', () =>
			fixture.sql.count(
				"select count(*) from operator_messages where payment_id = ? and kind = 'submit'",
				payment.id
			)
		);
		simulator.script({ phone: payment.phone.slice(1) }, { guards: false });
		fixture.server.env['AIRTEL_COUNTRY'] = 'KE';
		await fixture.server.restart();
		// Less than the ten minutes after which it would expire.
		const failed = await use.until(payment, 'failed', minute, 3);
		expect(failed).toMatchObject({ failure_code: 'provider_error' });
		expect(simulator.books.payments.filter(({ phone }) => payment.phone.endsWith(phone.slice(-9)))).toEqual(
			[]
		);
	});
});

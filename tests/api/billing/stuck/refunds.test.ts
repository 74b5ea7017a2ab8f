/** Refunds that could get stuck: lost answers, late results, reviews that a person must be able to resolve. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../simulators/script.ts';
import { useOperated } from '../../../support/billing/use-operated.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';
import { serverNow, untilQuiet } from '../../../torture/time.ts';

const minute = 60_000;
const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	describe('M-Pesa', () => {
		const use = useOperated('mpesa', database);

		/** Sends a result of the last reversal. */
		function lateResult(ResultCode: number) {
			const { requests } = use.operated().simulator;
			const sent = requests.findLast(({ path }) => path === '/mpesa/reversal/v1/request');
			const { ResultURL: address } = JSON.parse(sent?.body ?? '{}') as { ResultURL: string };
			const body = JSON.stringify({ Result: { ResultCode, TransactionID: 'SKR1' } });
			return fetch(address, { method: 'POST', body });
		}

		/** Starts the refund of a session that was cancelled before it was paid. */
		async function refundOf(script: Partial<Script>) {
			const { session, payment } = await use.pay({ outcome: 'pending', ...script });
			const held = await use.held(payment);
			await use.operated().fixture.api.endSession(session.id);
			await use.operated().simulator.settle(held, 'success');
			return payment;
		}

		it('a refund without a result is read from time to time, not without a pause', async () => {
			const payment = await refundOf({ refund: { outcome: 'pending', callbacks: [] } });
			await use.until(payment, 'refund_pending');
			await use.operated().advance(minute);
			await use.operated().advance(minute);
			const { fixture, simulator } = use.operated();
			await eventually('it is read later', () => {
				const soon = serverNow(fixture.server) + 10_000;
				const later =
					"select count(*) from jobs where kind = 'payment.refund' and lease_until is null and run_at > ?";
				return fixture.sql.count(later, soon);
			});
			expect(simulator.requests.some(({ path: called }) => called.includes('transactionstatus'))).toBe(true);
		});

		it('results that cannot be read ask nothing again, and are logged once', async () => {
			const payment = await refundOf({
				unreadableResults: true,
				refund: { outcome: 'pending', callbacks: [] }
			});
			await use.until(payment, 'refund_pending');
			for (let step = 0; step < 3; step += 1) await use.operated().advance(minute);
			const { fixture, simulator } = use.operated();
			const own = 'select id, reference from refunds where payment_id = ?';
			const [refund] = await fixture.sql.all(own, payment.id);
			const asked = () =>
				simulator.requests.filter(
					({ path, body }) =>
						path === '/mpesa/transactionstatus/v1/query' && body.includes(String(refund?.['reference']))
				);
			const came =
				"select count(*) from operator_messages where outcome = 'refund unknown' and payment_id = ?";
			await eventually(
				'all results came',
				async () => (await fixture.sql.count(came, payment.id)) >= asked().length
			);
			await untilQuiet(fixture.server, fixture.sql);
			const { ResultURL: address } = JSON.parse(asked().at(-1)?.body ?? '{}') as { ResultURL: string };
			const next = async () => {
				const job = "select run_at from jobs where kind = 'payment.refund' and subject_id = ?";
				return (await fixture.sql.all(job, Number(refund?.['id'])))[0]?.['run_at'];
			};
			// Far enough away that the clock does not reach it during the requests below.
			const before = await eventually('the next read is later', async () => {
				const at = Number(await next());
				if (at > serverNow(fixture.server) + 30_000) return at;
				await use.operated().advance(minute / 2);
				return undefined;
			});
			const nameless = (status: string) => {
				const ResultParameter = [{ Key: 'TransactionStatus', Value: status }];
				const ConversationID = randomUUID();
				return JSON.stringify({
					Result: { ResultCode: 0, ConversationID, ResultParameters: { ResultParameter } }
				});
			};
			for (const body of [
				...['', '<oops', '{}', '{"Result":{}}', '{"Result":{"ResultCode":0,"Result', '[]'],
				...['Completed', 'Failed', 'Completed'].map(nameless)
			]) {
				expect((await fetch(address, { method: 'POST', body })).status).toBe(200);
				expect(Number(await next())).toBe(before);
			}
			await expect.poll(() => use.unread(payment)).toBe(1);
		});

		it('a refund waits for the receipt that a late callback brings', async () => {
			const callbacks = [{ when: 'at_outcome', afterMs: 2 * minute, times: 1 }] as const;
			const payment = await refundOf({ callbacks });
			await use.until(payment, 'refunded');
			expect(await use.questions(payment)).toEqual([]);
		});

		it('a callback that a refund failed, after one that it succeeded, is for a person', async () => {
			const payment = await refundOf({});
			await use.until(payment, 'refunded');
			await lateResult(2006);
			const detail = expect.stringMatching(/refund .+ failed, after it was called successful$/);
			expect(await use.questions(payment)).toMatchObject([{ reason: 'contradiction', detail }]);
		});

		it('a callback that the operator too returned what a person has returned is for a person', async () => {
			const payment = await refundOf({ refund: { submit: 'drop_after', callbacks: [] } });
			const [question] = await eventually('its answer was lost', async () => {
				await use.operated().advance(minute);
				const questions = await use.questions(payment);
				return questions.length > 0 && questions;
			});
			expect(await use.resolve(question?.['id'], 'refunded')).toMatchObject({ status: 200 });
			await lateResult(2006);
			expect(await use.questions(payment)).toEqual([]);
			await lateResult(0);
			expect(await use.questions(payment)).toMatchObject([
				{
					reason: 'contradiction',
					detail: expect.stringMatching(/^a callback says that refund .+ succeeded/)
				}
			]);
		});
	});

	describe('MTN', () => {
		const use = useOperated('mtn', database);

		/** Opens a review, after a cancelled session was paid and its refund began. */
		async function refundOf(refund: Script['refund']) {
			const { session, payment } = await use.pay({ outcome: 'pending', refund });
			const held = await use.held(payment);
			await use.operated().fixture.api.endSession(session.id);
			await use.operated().simulator.settle(held, 'success');
			await use.until(payment, 'refund_pending');
			return { payment, held };
		}

		it('a refund that the operator still has is not sent again', async () => {
			const { payment, held } = await refundOf({ outcome: 'pending' });
			await use.operated().advance(40 * hour);
			await use.operated().advance(40 * hour);
			const [question] = await use.questions(payment);
			expect(question).toMatchObject({ reason: 'refund_no_final_answer' });
			const decided = await use.resolve(question?.['id'], 'retry-refund');
			expect(decided).toMatchObject({ status: 409, text: expect.stringContaining('is not over') });
			expect(await use.find(payment)).toMatchObject({ status: 'refund_pending' });
			const { books } = use.operated().simulator;
			expect(books.refunds.filter(({ paymentNumber }) => paymentNumber === held.number)).toHaveLength(1);
		});

		it('a refund that a callback calls successful, and the operator failed, is for a person', async () => {
			const { payment, held } = await refundOf({ outcome: 'pending' });
			const { simulator, fixture } = use.operated();
			const claim = { claimed: 'succeeded', operatorReference: null, providerReference: '1' };
			await fixture.sql.run(
				'update refunds set claim = ? where payment_id = ?',
				JSON.stringify({ ...claim, amountMinor: null, currency: null }),
				payment.id
			);
			for (const refund of simulator.books.refunds) {
				if (refund.paymentNumber === held.number) refund.outcome = 'INTERNAL_PROCESSING_ERROR';
			}
			await use.until(payment, 'refund_failed');
			expect(await use.questions(payment)).toMatchObject([
				{ reason: 'refund_failed' },
				{ reason: 'contradiction', detail: expect.stringContaining('succeeded; here it failed') }
			]);
		});

		it.each([
			['never arrives', { submit: 'error_before' }],
			['is accepted, and never found,', { notFoundReads: 999 }],
			['arrives, and is never found,', { submit: 'error_after', notFoundReads: 999 }]
		] as const)('a refund that %s is for a person after an hour', async (_, refund) => {
			const { payment } = await refundOf(refund);
			for (let step = 0; step < 8; step += 1) await use.operated().advance(10 * minute);
			expect(await use.questions(payment)).toMatchObject([
				{ reason: 'refund_no_final_answer', detail: 'the operator does not know the refund' }
			]);
		});

		it('a refund that was sent waits for the keys of refunds, which were removed', async () => {
			const { payment } = await refundOf({ afterMs: hour });
			const { fixture, advance } = use.operated();
			const { env } = fixture.server;
			const keys = Object.entries(env).filter(([name]) => name.startsWith('MTN_DISBURSEMENT_'));
			await eventually('it was sent', () =>
				fixture.sql.count(
					"select count(*) from refunds where payment_id = ? and submit_state = 'accepted'",
					payment.id
				)
			);
			for (const [name] of keys) env[name] = '';
			await fixture.server.restart();
			await advance(2 * hour);
			expect(await use.find(payment)).toMatchObject({ status: 'refund_pending' });
			expect(await use.questions(payment)).toMatchObject([{ reason: 'refund_no_final_answer' }]);
			Object.assign(env, Object.fromEntries(keys));
			await fixture.server.restart();
			await use.until(payment, 'refunded', hour);
		});

		it('a refund of another amount is for a person', async () => {
			const { payment } = await refundOf({ afterMs: minute });
			const { sql } = use.operated().fixture;
			await sql.run('update refunds set amount_minor = amount_minor + 100 where payment_id = ?', payment.id);
			await use.until(payment, 'refunded');
			expect(await use.questions(payment)).toMatchObject([
				{ reason: 'amount_mismatch', detail: expect.stringMatching(/^refunded .+, owed /) }
			]);
		});

		it('a refund whose amount cannot be read is for a person at once', async () => {
			const { payment, held } = await refundOf({ afterMs: minute });
			const { books } = use.operated().simulator;
			const refund = await eventually('the operator has it', async () =>
				books.refunds.find(({ paymentNumber }) => paymentNumber === held.number)
			);
			refund.currency = 'ZZZ';
			for (let step = 0; step < 3; step += 1) await use.operated().advance(minute);
			const [question] = await use.questions(payment);
			expect(question).toMatchObject({
				reason: 'refund_no_final_answer',
				detail: expect.stringContaining('an amount that cannot be read')
			});
			expect(await use.resolve(question?.['id'], 'refunded')).toMatchObject({ status: 200 });
			expect(await use.find(payment)).toMatchObject({ status: 'refunded' });
		});

		it('a refund refused after a lost answer fails only after it is not found for two minutes', async () => {
			const { session, payment } = await use.pay({ outcome: 'pending', refund: { submit: 'drop_before' } });
			const held = await use.held(payment);
			await use.operated().fixture.api.endSession(session.id);
			await use.operated().simulator.settle(held, 'success');
			await use.until(payment, 'refund_pending', 1_000);
			held.script = { ...held.script, refund: { submit: 'refuse', submitCode: 'NOT_ALLOWED' } };
			for (let step = 0; step < 10; step += 1) await use.operated().advance(10_000);
			expect(await use.find(payment)).toMatchObject({ status: 'refund_pending' });
			await use.until(payment, 'refund_failed');
			expect(await use.questions(payment)).toMatchObject([
				{ reason: 'refund_refused', detail: expect.stringContaining('NOT_ALLOWED') }
			]);
			held.script = { ...held.script, refund: {} };
			const [question] = await use.questions(payment);
			// The buyer's money is still here.
			expect(await use.resolve(question?.['id'], 'dismiss')).toMatchObject({ status: 409 });
			expect(await use.questions(payment)).toHaveLength(1);
			expect(await use.resolve(question?.['id'], 'retry-refund')).toMatchObject({ status: 200 });
			await use.until(payment, 'refunded');
			expect(await use.questions(payment)).toEqual([]);
		});

		it('a review about something else does not end a pending refund', async () => {
			const { payment } = await use.pay({ amountFactor: 2, afterMs: 0, refund: { outcome: 'pending' } });
			await use.until(payment, 'refund_pending');
			const [question] = await use.questions(payment);
			expect(question).toMatchObject({ reason: 'amount_mismatch' });
			expect(await use.resolve(question?.['id'], 'retry-refund')).toMatchObject({ status: 409 });
			expect(await use.find(payment)).toMatchObject({ status: 'refund_pending' });
		});
	});
});

// What is stored about these is as with MTN.
describe('Airtel', () => {
	const use = useOperated('airtel', 'sqlite');

	it.each([
		['refunded', 'drop_after'],
		['retry-refund', 'drop_before']
	] as const)('a refund whose answer was lost is ended by a person: %s', async (decision, submit) => {
		const { session, payment } = await use.pay({ outcome: 'pending', refund: { submit } });
		const held = await use.held(payment);
		await use.operated().fixture.api.endSession(session.id);
		await use.operated().simulator.settle(held, 'success');
		await use.until(payment, 'refund_pending');
		await use.operated().advance(minute);
		const [question] = await use.questions(payment);
		expect(question).toMatchObject({ reason: 'refund_no_final_answer' });
		held.script = { ...held.script, refund: {} };
		expect(await use.resolve(question?.['id'], decision)).toMatchObject({ status: 200 });
		await use.until(payment, 'refunded');
		expect(await use.questions(payment)).toEqual([]);
	});

	it('a refund that is being sent is not started twice', async () => {
		const refund = { submit: 'slow', slowMs: 700 } as const;
		const { session, payment } = await use.pay({ outcome: 'pending', refund });
		const held = await use.held(payment);
		const { fixture, simulator } = use.operated();
		await fixture.api.endSession(session.id);
		await simulator.settle(held, 'success');
		const all = () => simulator.requests.filter(({ path: called }) => called.endsWith('/refund')).length;
		const before = all();
		const sent = () => all() - before;
		await eventually('it is being sent', async () => {
			if (sent() > 0) return true;
			await fixture.server.advance(5_000);
			return false;
		});
		await fixture.server.advance(2 * minute);
		await use.until(payment, 'refunded');
		expect(sent()).toBe(1);
		expect(await use.questions(payment)).toEqual([]);
	});

	it('an operator that was removed from the settings opens a review for a refund that waits for it', async () => {
		const { session, payment } = await use.pay({ outcome: 'pending', refund: { submit: 'rate_limited' } });
		const held = await use.held(payment);
		const { fixture, simulator } = use.operated();
		await fixture.api.endSession(session.id);
		await simulator.settle(held, 'success');
		await use.until(payment, 'refund_pending');
		const settings = Object.entries(fixture.server.env).filter(([name]) => name.startsWith('AIRTEL_'));
		for (const [name] of settings) fixture.server.env[name] = '';
		await fixture.server.restart();
		await use.operated().advance(minute);
		expect(await use.questions(payment)).toMatchObject([{ reason: 'refund_no_final_answer' }]);
		held.script = { ...held.script, refund: {} };
		Object.assign(fixture.server.env, Object.fromEntries(settings));
		await fixture.server.restart();
		await use.until(payment, 'refunded', 10 * minute);
	});
});

describe('pawaPay', () => {
	const use = useOperated('pawapay', 'sqlite');

	it('the review of a refused refund has the reason without the number in it', async () => {
		const { session, payment } = await use.pay({ outcome: 'pending' });
		const held = await use.held(payment);
		const number = payment.phone.slice(1);
		held.script = { ...held.script, refund: { submit: 'refuse', submitCode: `BLOCKED ${number}` } };
		await use.operated().fixture.api.endSession(session.id);
		await use.operated().simulator.settle(held, 'success');
		await use.until(payment, 'refund_failed');
		expect(await use.questions(payment)).toMatchObject([
			{ reason: 'refund_refused', detail: `Simulated BLOCKED …${number.slice(-4)}` }
		]);
	});
});

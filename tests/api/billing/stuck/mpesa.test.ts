/** Payments by M-Pesa that need a person, and requests that are paid twice. */
import { describe, expect, it } from 'vitest';
import { ORDINARY, WRITTEN } from '../../../simulators/script.ts';
import { useOperated } from '../../../support/billing/use-operated.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { receipt as receiptOf } from '../../../simulators/mpesa-rules.ts';
import { cli } from '../../../support/server/cli.ts';

const minute = 60_000;
const hour = 60 * minute;

describe.each(DATABASES)('on %s', (database) => {
	const use = useOperated('mpesa', database);

	it.each(Object.keys(WRITTEN) as (keyof typeof WRITTEN)[])(
		'a callback that is written in another way (%s) tells amount and receipt',
		async (as) => {
			const early = { when: 'before_answer', afterMs: 0, times: 1, as } as const;
			const { payment } = await use.pay({ afterMs: 0, amountFactor: 2, callbacks: [early] });
			await use.accepted(payment);
			expect(await use.until(payment, 'refunded')).toMatchObject({
				...{
					applied: false,
					refund_reason: 'amount_mismatch',
					provider_reference: expect.stringContaining('SKA')
				}
			});
			expect(use.unread(payment)).toBe(0);
		}
	);

	const unreadable = { when: 'before_answer', afterMs: 0, times: 3, alter: 'garbage' } as const;

	it('an amount that no callback told is asked for, and another one is for a person', async () => {
		const { payment } = await use.pay({ afterMs: 0, amountFactor: 2, callbacks: [unreadable] });
		expect(await use.until(payment, 'success')).toMatchObject({ applied: true, provider_reference: null });
		for (let step = 0; step < 2; step += 1) await use.operated().advance(31_000);
		expect(await use.question(payment)).toMatchObject({ reason: 'amount_mismatch' });
		expect(await use.find(payment)).toMatchObject({ provider_reference: expect.stringContaining('SKA') });
		await use.operated().advance(5 * minute);
		expect(await use.questions(payment)).toHaveLength(1);
		await expect.poll(() => use.unread(payment)).toBe(1);
	});

	it('the right amount, told by such an answer, is no question', async () => {
		const { payment } = await use.pay({ afterMs: 0, callbacks: [] });
		await use.until(payment, 'success');
		for (let step = 0; step < 5; step += 1) await use.operated().advance(minute);
		expect(await use.find(payment)).toMatchObject({ provider_reference: expect.stringContaining('SKA') });
		expect(await use.questions(payment)).toEqual([]);
	});

	it('an amount that nothing tells is for a person, until a callback tells it', async () => {
		const { payment } = await use.pay({ afterMs: 0, callbacks: [], unreadableResults: true });
		await use.until(payment, 'success');
		for (let step = 0; step < 5; step += 1) await use.operated().advance(minute);
		expect(await use.questions(payment)).toMatchObject([{ reason: 'amount_unknown' }]);
		await use.operated().simulator.callBack(await use.held(payment));
		expect(await use.questions(payment)).toEqual([]);
		await expect.poll(() => use.unread(payment)).toBe(1);
	});

	it('a refused request opens no review', async () => {
		const { payment } = await use.pay({ submit: 'refuse', submitCode: '400.002.02' });
		await use.until(payment, 'failed');
		for (let step = 0; step < 2; step += 1) await use.operated().advance(15 * minute);
		expect(await use.questions(payment)).toEqual([]);
	});

	it.each([
		['a resolved review is not opened again', 0, 4],
		['an open review is the only one after the last read', 4, 0]
	])('%s', async (_, daysBefore, daysAfter) => {
		const wait = async (days: number) => {
			for (let day = 0; day < days; day += 1) await use.operated().advance(24 * hour);
		};
		const { payment } = await use.pay({ submit: 'drop_before' });
		await use.until(payment, 'expired', 5 * minute);
		await use.operated().advance(2 * minute);
		await wait(daysBefore);
		const [question, ...others] = await use.questions(payment);
		expect(question).toMatchObject({ reason: 'no_reference' });
		expect(others).toEqual([]);
		expect(await use.resolve(question?.['id'], 'unpaid')).toMatchObject({ status: 200 });
		await wait(daysAfter);
		expect(await use.questions(payment)).toEqual([]);
	});

	it('a callback that a person has judged opens no other review, though the status read goes on to deny it', async () => {
		const early = { when: 'before_answer', afterMs: 0, times: 1 } as const;
		const { payment } = await use.pay({ afterMs: 0, contradicts: true, callbacks: [early] });
		await use.until(payment, 'expired', 5 * minute);
		const [question] = await use.questions(payment);
		expect(question).toMatchObject({ reason: 'contradiction' });
		expect(await use.resolve(question?.['id'], 'unpaid')).toMatchObject({ status: 200 });
		for (let day = 0; day < 4; day += 1) await use.operated().advance(24 * hour);
		expect(await use.questions(payment)).toEqual([]);
	});

	it.each([
		['buys the time', 'success'],
		['is refunded after a cancellation', 'refunded']
	] as const)('a request that Daraja queued and refused, and the payer approved: %s', async (_, status) => {
		const { session, payment } = await use.pay({ submit: 'rate_limited' });
		const { simulator, fixture } = use.operated();
		const phone = payment.phone.slice(1);
		const sent = await eventually('it was refused', async () =>
			simulator.requests.find(({ body }) => body.includes('CallBackURL') && body.includes(phone))
		);
		const { CallBackURL: callbackUrl } = JSON.parse(sent.body) as { CallBackURL: string };
		simulator.script({ phone }, { guards: false });
		const push = { reference: null, phone, amount: payment.amount, currency: 'KES', callbackUrl };
		const queued = simulator.books.add({
			...push,
			operatorReference: `ws_CO_BUSY_${payment.id}`,
			request: {},
			script: { ...ORDINARY, afterMs: 0, failedReads: 99 }
		});
		expect(await simulator.callBack(queued)).toBe(200);
		if (status === 'refunded') await fixture.api.endSession(session.id);
		for (let step = 0; step < 3; step += 1) await use.operated().advance(20_000);
		expect(await use.find(payment)).toMatchObject({ status: 'pending' });
		queued.script = { ...queued.script, failedReads: 0 };
		await use.until(payment, status);
		expect(simulator.books.payments.filter((entry) => entry.phone === phone)).toEqual([queued]);
	});

	it('a request that settles the payment while another is being sent keeps its name', async () => {
		const { payment } = await use.pay({ outcome: 'pending', submit: 'slow', slowMs: 2_000 });
		const second = await use.held(payment);
		const { simulator } = use.operated();
		const script = { ...ORDINARY, afterMs: 0 };
		const first = simulator.books.add({ ...second, operatorReference: 'ws_CO_EARLY', script });
		await simulator.callBack(first);
		const settled = await use.until(payment, 'success', 100);
		await use.accepted(payment);
		await simulator.callBack(first);
		expect(await use.questions(payment)).toEqual([]);
		await simulator.settle(second, 'success');
		const detail = expect.stringContaining(`paid twice: also request ${second.operatorReference}`);
		await use.question(payment);
		expect(await use.questions(payment)).toMatchObject([{ reason: 'contradiction', detail }]);
		expect(await use.find(payment)).toMatchObject({ provider_reference: settled.provider_reference });
	});

	it('a request that has paid another payment buys nothing, and is for a person', async () => {
		const { payment: paid } = await use.pay({ afterMs: 0 });
		await use.until(paid, 'success');
		const { payment } = await use.pay({ outcome: 'pending' });
		const [of, held] = [await use.held(paid), await use.held(payment)];
		const { callbackUrl } = held;
		const { simulator } = use.operated();
		await use.accepted(payment);
		await simulator.callBack({ ...of, callbackUrl });
		const detail = expect.stringContaining(`which is of payment ${paid.id}`);
		await eventually('it is for a person', async () => {
			await use.operated().advance(2_000);
			return (await use.questions(payment)).length > 0;
		});
		expect(await use.questions(payment)).toMatchObject([{ reason: 'contradiction', detail }]);
		expect(await use.find(payment)).toMatchObject({ status: 'pending' });
	});

	it('an earlier request that a callback calls paid, and the operator does not, is for a person', async () => {
		const { payment } = await use.pay({ outcome: '1032' });
		const second = await use.held(payment);
		const { simulator } = use.operated();
		await use.until(payment, 'failed');
		const script = { ...second.script, outcome: 'success', afterMs: 0, contradicts: true };
		await simulator.callBack(simulator.books.add({ ...second, operatorReference: 'ws_CO_3', script }));
		const question = await use.question(payment);
		expect(question).toMatchObject({ reason: 'contradiction' });
	});

	/** M-Pesa, which does not know our reference: requests of one payment that are paid twice. */
	describe('two requests', () => {
		const minute = 60_000;

		it('an earlier request of the payment that the payer approved buys the time, and each further charge is for a person', async () => {
			const { session, payment } = await use.pay({ outcome: 'pending' });
			const second = await use.held(payment);
			const { simulator, fixture } = use.operated();
			await use.accepted(payment);
			// Daraja queued it, but said that it is busy, so it was sent again.
			const script = { ...second.script, outcome: '1032', afterMs: 0 };
			const declined = simulator.books.add({ ...second, operatorReference: 'ws_CO_1', script });
			const first = simulator.books.add({ ...second, operatorReference: 'ws_CO_2' });
			expect(await simulator.callBack(declined)).toBe(200);
			await simulator.settle(first, 'success');
			await use.until(payment, 'success', 2_000);
			const { provider_reference: receipt } = await use.find(payment);
			expect(receipt).toEqual(expect.any(String));
			expect(await fixture.api.getSession(session.id)).toMatchObject({ status: 'active' });
			await simulator.callBack(first);
			expect(await use.questions(payment)).toEqual([]);

			await simulator.settle(second, 'success');
			const question = await use.question(payment);
			expect(question).toMatchObject({
				reason: 'contradiction',
				detail: expect.stringMatching(
					`^request ws_CO_2 settled .+ paid twice: also request ${second.operatorReference}, receipt `
				)
			});
			expect(await use.find(payment)).toMatchObject({ provider_reference: receipt });

			const charge = async (name: string) => {
				const more = simulator.books.add({ ...second, operatorReference: name });
				await simulator.settle(more, 'success');
				for (let time = 0; time < 2; time += 1) expect(await simulator.callBack(more)).toBe(200);
				return more;
			};
			const third = await charge('ws_CO_THIRD');
			const [both, ...others] = await use.questions(payment);
			expect(others).toEqual([]);
			const facts = String(both?.['detail']).split('; ');
			expect(facts).toEqual([question?.['detail'], expect.stringContaining('ws_CO_THIRD, receipt ')]);

			expect(await use.resolve(question?.['id'], 'dismiss')).toMatchObject({ status: 200 });
			for (const known of [second, third]) expect(await simulator.callBack(known)).toBe(200);
			expect(await use.questions(payment)).toEqual([]);
			await charge('ws_CO_FOURTH');
			const detail = expect.stringMatching(/^request ws_CO_2 settled .+ also request ws_CO_FOURTH, [^;]+$/);
			expect(await use.questions(payment)).toMatchObject([{ detail }]);

			const full = 'x'.repeat(4_000);
			await fixture.sql.run('update reviews set detail = ? where resolved_at is null', full);
			await charge('ws_CO_FIFTH');
			expect(await use.questions(payment)).toMatchObject([{ detail: full }]);
			expect(fixture.server.stderr()).toMatch(/also request ws_CO_FIFTH, receipt .+review is full/);
		});

		it.each([
			['own request first', [0, 1]],
			['earlier request first', [1, 0]]
		])('two requests of the payment that are both paid before it is settled: %s', async (_, order) => {
			const { payment } = await use.pay({ outcome: 'pending' });
			const own = await use.held(payment);
			const { simulator } = use.operated();
			await use.accepted(payment);
			own.script = { ...own.script, failedReads: 99 };
			const name = `ws_CO_EARLIER_${payment.id}`;
			const earlier = simulator.books.add({ ...own, operatorReference: name });
			const pushes = [own, earlier];
			for (const index of order) {
				const push = pushes[index];
				if (push) await simulator.settle(push, 'success');
			}
			const receipts = pushes.map(({ number }) => receiptOf('payment', number));
			const detail = `callbacks say that the payer paid twice: request ${own.operatorReference}, receipt ${receipts[0]}, and request ${name}, receipt ${receipts[1]}; return the one that does not settle the payment`;
			await use.question(payment);
			expect(await use.questions(payment)).toMatchObject([{ reason: 'contradiction', detail }]);
			expect(await use.find(payment)).toMatchObject({ status: 'pending' });
			// A read that began before the second callback asks about the earlier one too, and still learns nothing.
			own.script = { ...own.script, failedReads: 0 };
			const { provider_reference: receipt } = await use.until(payment, 'success');
			expect(receipt).toBe(receipts[0]);
			expect(await use.questions(payment)).toHaveLength(1);
		});

		it('a read that settles the earlier of two paid requests, as the own one is called paid, names the one to return', async () => {
			const { payment } = await use.pay({ outcome: 'pending' });
			const own = await use.held(payment);
			const { simulator, fixture, advance } = use.operated();
			await use.accepted(payment);
			own.script = { ...own.script, afterMs: 0, callbacks: [], failedReads: 99 };
			const name = `ws_CO_EARLIER_${payment.id}`;
			const earlier = simulator.books.add({ ...own, operatorReference: name });
			await simulator.settle(earlier, 'success');
			await simulator.callBack(earlier);
			await advance(0);
			simulator.outage('hang');
			const before = simulator.requests.length;
			// Not with the helper, which would wait for the read.
			await fixture.server.advance(minute);
			await eventually('a read has begun', async () => simulator.requests.length > before);
			await simulator.settle(own, 'success');
			await simulator.callBack(own);
			earlier.script = { ...earlier.script, failedReads: 0 };
			simulator.outage(null);
			const settled = await use.until(payment, 'success', 0);
			const [first, second] = [earlier, own].map(({ number }) => receiptOf('payment', number));
			expect(settled).toMatchObject({ provider_reference: first });
			const [question, ...others] = await use.questions(payment);
			expect(others).toEqual([]);
			expect(String(question?.['detail']).split('; ').at(-1)).toBe(
				`request ${name} settled the payment, and a callback says that the payer paid twice: also request ${own.operatorReference}, receipt ${second}`
			);
		});

		it('a status read that denies what a callback said adds that to the review of a second charge', async () => {
			const { payment } = await use.pay({ outcome: 'pending' });
			const own = await use.held(payment);
			const { simulator } = use.operated();
			await use.accepted(payment);
			own.script = { ...own.script, contradicts: true };
			const other = simulator.books.add({ ...own, operatorReference: `ws_CO_OTHER_${payment.id}` });
			for (const push of [own, other]) {
				await simulator.settle(push, 'success');
				await simulator.callBack(push);
			}
			for (let step = 0; step < 3; step += 1) await use.operated().advance(30_000);
			const [question, ...others] = await use.questions(payment);
			expect(others).toEqual([]);
			const facts = String(question?.['detail']).split('; ');
			expect(facts.filter((fact) => fact.startsWith('callbacks say that the payer paid twice'))).toHaveLength(
				1
			);
			expect(facts.filter((fact) => fact.startsWith('A callback said that it was paid'))).toHaveLength(1);
		});

		it('two requests that are both paid after their names were lost: the first buys the time, the other is for a person', async () => {
			const { payment } = await use.pay({ submit: 'drop_after', outcome: 'pending', callbacks: [] });
			const held = await use.held(payment);
			const { simulator } = use.operated();
			const script = { ...ORDINARY, afterMs: 0, failedReads: 99 };
			const [first, other] = [1, 2].map((at) =>
				simulator.books.add({ ...held, script, operatorReference: `ws_CO_LOST_${payment.id}_${at}` })
			);
			if (!first || !other) throw new Error('no requests');
			for (const push of [first, other, first]) expect(await simulator.callBack(push)).toBe(200);
			const [paid, again] = [first, other].map(
				({ operatorReference, number }) =>
					`request ${operatorReference}, receipt ${receiptOf('payment', number)}`
			);
			const detail = expect.stringContaining(
				`the payer paid twice: ${paid}, and ${again}; return the one that`
			);
			expect(await use.questions(payment)).toMatchObject([{ reason: 'contradiction', detail }]);
			first.script = { ...script, failedReads: 0 };
			const { provider_reference: receipt } = await use.until(payment, 'success');
			expect(receipt).toBe(receiptOf('payment', first.number));
			expect(await use.questions(payment)).toMatchObject([{ reason: 'contradiction', detail }]);
		});

		it('a statement with withdrawals is read, and a second charge for one payment is found', async () => {
			const { payment } = await use.pay({ afterMs: 0 });
			await use.until(payment, 'success');
			const paid = await eventually('the receipt is there', async () => {
				const found = await use.find(payment);
				return found.provider_reference !== null && found;
			});
			const { fixture } = use.operated();
			const account = (await use.held(payment)).reference ?? '';
			const file = path.join(fixture.server.dataDir, 'mpesa.csv');
			// As the portal of organisations writes it, with lines above the header and a sum at the end.
			const write = (amount: string) =>
				writeFileSync(
					file,
					[
						'Organization Name:,SIMULATED SHOP',
						'Time Period:,01-11-2026 - 30-11-2026',
						'',
						'Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,A/C No.',
						`SKZSECOND1,,Pay Bill Online,Completed,${amount},,${account}`,
						`${paid.provider_reference ?? ''},,Pay Bill Online,Completed,${amount},,${account}`,
						'SKZWITHDRAW,,Pay Bill Charge,Completed,,-500.00,',
						',,Totals,,"1,000.00",500.00,'
					].join('\n')
				);
			const checked = () =>
				cli(['statement', 'check', file, '--operator', 'daraja', '--from', '2000-01-01'], fixture.server);
			write('much');
			expect(await checked()).toMatchObject({
				code: 1,
				stderr: expect.stringContaining('Line 5, Paid In: "much" is not an amount; write')
			});
			write(`${paid.amount}.00`);
			const check = await checked();
			expect(JSON.parse(check.stdout.trim().split('\n').at(-1) ?? '{}')).toMatchObject({
				rows: 2,
				matched: 1,
				unknown: 1
			});
			const unknown = "select subject, detail from reviews where reason = 'statement_unknown'";
			expect(await fixture.sql.all(unknown)).toMatchObject([
				{
					subject: 'daraja transaction SKZSECOND1',
					detail: expect.stringContaining(`payment ${payment.id} was paid`)
				}
			]);
		});
	});
});

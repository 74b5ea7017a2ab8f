/** M-Pesa, which does not know our reference: requests whose names were lost, or that were sent again. */
import { describe, expect, it } from 'vitest';
import { ORDINARY, WRITTEN } from '../../../simulators/script.ts';
import { useOperated } from '../../../support/billing/use-operated.ts';
import { DATABASES, eventually } from '../../../support/server/fixture.ts';

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
});

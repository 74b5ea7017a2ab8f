import { describe, expect, it } from 'vitest';
import { ANY_AMOUNT, amountProblem, chargeable, strictest } from '#lib/domain/payment-methods.ts';

const WHOLE_SHILLINGS = { stepMinor: 100, minMinor: 100, maxMinor: 25_000_000 };

describe('a payment method', () => {
	it.each([
		[100, null],
		[250, 'step'],
		[1, 'step'],
		[0, 'min'],
		[25_000_000, null],
		[25_000_100, 'max']
	] as const)('of whole shillings charges %i cents: %s', (amountMinor, problem) => {
		expect(amountProblem(amountMinor, WHOLE_SHILLINGS)).toBe(problem);
		expect(chargeable(amountMinor, WHOLE_SHILLINGS)).toBe(problem === null);
	});

	it('with several networks charges what each of them charges', () => {
		const cents = { ...ANY_AMOUNT, minMinor: 1_000, maxMinor: 30_000_000 };
		expect(strictest([WHOLE_SHILLINGS, cents])).toEqual({ ...WHOLE_SHILLINGS, minMinor: 1_000 });
		expect(strictest([])).toEqual(ANY_AMOUNT);
	});
});

import type { TestOutcome } from '#lib/checkout/test-outcomes.ts';
import type { FailureReason } from '../operator.ts';

/** The last three digits of the payer's number choose a scenario, so any valid mobile number can try it. */
export interface Scenario {
	digits: string;
	description: string;
	result: { kind: 'succeeded'; amountFactor: number } | { kind: 'failed'; reason: FailureReason } | null;
	resultAfter: 'at_once' | 'one_second' | 'payment_expiry';
	submit: 'accepted' | 'answer_lost' | 'down_at_first';
	callbacks: 0 | 1 | 3;
}

const SUCCEEDED = { kind: 'succeeded', amountFactor: 1 } as const;
const DOUBLED = { kind: 'succeeded', amountFactor: 2 } as const;
const failed = (reason: FailureReason) => ({ kind: 'failed', reason }) as const;

/** @param differences from a success after one second */
const scenario = (digits: string, description: string, differences: Partial<Scenario> = {}): Scenario => ({
	...{ digits, description, result: SUCCEEDED },
	...{ resultAfter: 'one_second', submit: 'accepted', callbacks: 1 },
	...differences
});

const success = scenario('other', 'success after one second');

const SCENARIOS: readonly Scenario[] = [
	scenario('001', 'the payer declines', { result: failed('payer_rejected') }),
	scenario('002', 'not enough money', { result: failed('insufficient_funds') }),
	scenario('003', 'no response; the payment expires', { result: null, callbacks: 0 }),
	scenario('004', 'expires, then succeeds late', { resultAfter: 'payment_expiry' }),
	scenario('005', 'the response to the request is lost, then success', { submit: 'answer_lost' }),
	scenario('006', 'the operator is down for 30 s, then success', { submit: 'down_at_first' }),
	scenario('007', 'success without a callback', { callbacks: 0 }),
	scenario('008', 'success with three callbacks, the first before the response', {
		resultAfter: 'at_once',
		callbacks: 3
	}),
	scenario('009', 'success with a different amount; the payment is refunded', { result: DOUBLED })
];

export const TEST_NUMBERS: readonly Pick<Scenario, 'digits' | 'description'>[] = [...SCENARIOS, success];

export const scenarioFor = (phone: string): Scenario =>
	SCENARIOS.find(({ digits }) => phone.endsWith(digits)) ?? success;

/** Outcomes that a developer chooses for a payment. They replace the scenario of its number. */
export const INSTRUCTED: Readonly<Record<TestOutcome, Pick<Scenario, 'result' | 'resultAfter'>>> = {
	success: { result: SUCCEEDED, resultAfter: 'at_once' },
	declined: { result: failed('payer_rejected'), resultAfter: 'at_once' },
	no_funds: { result: failed('insufficient_funds'), resultAfter: 'at_once' },
	no_answer: { result: failed('payer_timeout'), resultAfter: 'at_once' },
	wrong_amount: { result: DOUBLED, resultAfter: 'at_once' },
	late_success: { result: SUCCEEDED, resultAfter: 'payment_expiry' },
	never: { result: null, resultAfter: 'at_once' }
};

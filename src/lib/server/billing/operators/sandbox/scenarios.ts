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

const success: Scenario = {
	digits: 'other',
	description: 'success after one second',
	result: { kind: 'succeeded', amountFactor: 1 },
	resultAfter: 'one_second',
	submit: 'accepted',
	callbacks: 1
};

const SCENARIOS: readonly Scenario[] = [
	{
		...success,
		digits: '001',
		description: 'the payer declines',
		result: { kind: 'failed', reason: 'payer_declined' }
	},
	{
		...success,
		digits: '002',
		description: 'not enough money',
		result: { kind: 'failed', reason: 'insufficient_funds' }
	},
	{
		...success,
		digits: '003',
		description: 'no response; the payment expires',
		result: null,
		callbacks: 0
	},
	{
		...success,
		digits: '004',
		description: 'expires, then succeeds late',
		resultAfter: 'payment_expiry'
	},
	{
		...success,
		digits: '005',
		description: 'the response to the request is lost, then success',
		submit: 'answer_lost'
	},
	{
		...success,
		digits: '006',
		description: 'the operator is down for 30 s, then success',
		submit: 'down_at_first'
	},
	{ ...success, digits: '007', description: 'success without a callback', callbacks: 0 },
	{
		...success,
		digits: '008',
		description: 'success with three callbacks, the first before the response',
		resultAfter: 'at_once',
		callbacks: 3
	},
	{
		...success,
		digits: '009',
		description: 'success with a different amount; the payment is refunded',
		result: { kind: 'succeeded', amountFactor: 2 }
	}
];

export const TEST_NUMBERS: readonly Pick<Scenario, 'digits' | 'description'>[] = [...SCENARIOS, success];

export const scenarioFor = (phone: string): Scenario =>
	SCENARIOS.find(({ digits }) => phone.endsWith(digits)) ?? success;

/** Results that a person chooses instead of the number. */
export const INSTRUCTED: Readonly<Record<TestOutcome, Scenario['result']>> = {
	success: { kind: 'succeeded', amountFactor: 1 },
	declined: { kind: 'failed', reason: 'payer_declined' },
	no_funds: { kind: 'failed', reason: 'insufficient_funds' },
	no_answer: { kind: 'failed', reason: 'payer_timeout' },
	wrong_amount: { kind: 'succeeded', amountFactor: 2 },
	late_success: { kind: 'succeeded', amountFactor: 1 },
	never: null
};

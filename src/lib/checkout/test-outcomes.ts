/** `when`: the operator reports the result now, after the payment has expired, or never. */
export const TEST_OUTCOMES = [
	{ id: 'success', label: 'Paid', when: 'now' },
	{ id: 'declined', label: 'Payer declines', when: 'now' },
	{ id: 'no_funds', label: 'Too little money', when: 'now' },
	{ id: 'no_answer', label: 'Payer does not answer', when: 'now' },
	{ id: 'wrong_amount', label: 'Paid another amount', when: 'now' },
	{ id: 'late_success', label: 'Paid too late', when: 'late' },
	{ id: 'never', label: 'Network never answers', when: 'never' }
] as const;

export type TestOutcome = (typeof TEST_OUTCOMES)[number]['id'];

export const isTestOutcome = (text: string): text is TestOutcome =>
	TEST_OUTCOMES.some(({ id }) => id === text);

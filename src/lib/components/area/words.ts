import type { Decision } from '#lib/domain/help.ts';

export const ROLE_WORDS = {
	app: 'buys time with the API',
	owner: 'has routers and earnings',
	admin: 'runs the installation'
} as const;

export const DECISION_NAMES: Readonly<Record<Decision, string>> = {
	paid: 'Paid',
	unpaid: 'Not paid',
	'retry-refund': 'Refund again',
	refunded: 'Refunded by hand',
	dismiss: 'Nothing to do'
};

export const decisionName = (decision: string | null): string =>
	DECISION_NAMES[decision as Decision] ?? decision ?? '';

export const PAYMENT_HINT =
	'Its number, the operator’s transaction ID or whole message, or the whole phone number of the payer.';

import type { OperatorAdapter } from './operator.ts';

/** The payment method that leaves the choice of the network to us. */
export const ANY_METHOD = 'mobile_money';

/** Methods that name a network; a router lists those it accepts. */
export const NETWORK_METHODS = ['mtn_momo', 'airtel_money', 'orange_money', 'mpesa'] as const;

export const SANDBOX_METHOD = 'sandbox';

/** The operators of this installation, and which payment method each one carries. */
export interface Operators {
	/** The adapter for a payment method, or null when none is configured for it. */
	forMethod(method: string): OperatorAdapter | null;
	/** The adapter that carried a stored payment. @throws Error when it is no longer configured */
	byId(id: string): OperatorAdapter;
	all(): readonly OperatorAdapter[];
	/** Published methods of a router that lists `stored` beside the ones every router accepts. */
	methodsOf(stored: readonly string[]): string[];
}

/**
 * @param sandbox the sandbox operator, which carries every method, or null in live mode
 */
export function createOperators(sandbox: OperatorAdapter | null): Operators {
	const adapters = sandbox ? [sandbox] : [];
	const forMethod = (_method: string) => sandbox;
	return {
		forMethod,
		byId(id) {
			const adapter = adapters.find((candidate) => candidate.id === id);
			if (!adapter) throw new Error(`Operator ${id} is not configured`);
			return adapter;
		},
		all: () => adapters,
		// Without an operator nothing can be paid, and nothing is offered.
		methodsOf: (stored) =>
			[ANY_METHOD, ...stored, SANDBOX_METHOD].filter((method) => forMethod(method) !== null)
	};
}

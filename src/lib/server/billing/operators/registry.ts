import { guessPaymentMethod } from '#lib/domain/payment-method-guess.ts';
import type { ConfiguredOperator, OperatorDependencies } from './definition.ts';
import type { OperatorAdapter } from './operator.ts';

/** The payment method that lets Airtill choose the network. */
export const ANY_METHOD = 'mobile_money';

/** Methods that name a network; each router lists those it accepts. */
export const NETWORK_METHODS = ['mtn_momo', 'airtel_money', 'orange_money', 'mpesa'] as const;

export const SANDBOX_METHOD = 'sandbox';

/** The operators of this installation and their payment methods. */
export type Operators = ReturnType<typeof createOperators>;

/**
 * @param sandbox the sandbox operator for all methods without another operator; null in live mode
 * @param configured operators with settings; the first one that supports a method is used
 */
export function createOperators(
	sandbox: OperatorAdapter | null,
	configured: readonly ConfiguredOperator[],
	dependencies: OperatorDependencies
) {
	const real = configured.map((one) => ({ methods: one.methods, adapter: one.create(dependencies) }));
	const adapters = [...(sandbox ? [sandbox] : []), ...real.map(({ adapter }) => adapter)];

	const carrier = (method: string): OperatorAdapter | null =>
		real.find(({ methods }) => methods.includes(method))?.adapter ?? null;

	function forAnyMethod(phone: string | undefined): OperatorAdapter | null {
		if (phone === undefined) return real[0]?.adapter ?? sandbox;
		const guess = guessPaymentMethod(phone);
		const guessed = guess === null ? null : carrier(guess);
		if (guessed?.takesNumber(phone)) return guessed;
		// The network is unknown or has no operator: use any operator that accepts such numbers.
		const taking = real.find(({ adapter }) => adapter.takesNumber(phone));
		return taking?.adapter ?? sandbox ?? real[0]?.adapter ?? null;
	}

	/**
	 * Finds the adapter for a payment method; null if none is configured for it.
	 * @param phone E.164; for `mobile_money`, the network is guessed from it
	 */
	function forMethod(method: string, phone?: string): OperatorAdapter | null {
		if (method === SANDBOX_METHOD) return sandbox;
		return method === ANY_METHOD ? forAnyMethod(phone) : (carrier(method) ?? sandbox);
	}

	return {
		forMethod,
		/** Returns the adapter of a stored payment. @throws Error if it is no longer configured */
		byId(id: string): OperatorAdapter {
			const adapter = adapters.find((candidate) => candidate.id === id);
			if (!adapter) throw new Error(`Operator ${id} is not configured`);
			return adapter;
		},
		all: (): readonly OperatorAdapter[] => adapters,
		/**
		 * Published methods of a router that lists `stored` besides those that every router accepts. Without an operator
		 * no payment is possible, and nothing is offered.
		 */
		methodsOf: (stored: readonly string[]) =>
			[ANY_METHOD, ...stored, SANDBOX_METHOD].filter((method) => forMethod(method) !== null)
	};
}

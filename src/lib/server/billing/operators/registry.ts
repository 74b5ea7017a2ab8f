import { guessPaymentMethod } from '#lib/domain/payment-method-guess.ts';
import type { ConfiguredOperator, OperatorDependencies } from './definition.ts';
import type { OperatorAdapter } from './operator.ts';

/** The payment method that leaves the choice of the network to us. */
export const ANY_METHOD = 'mobile_money';

/** Methods that name a network; a router lists those it accepts. */
export const NETWORK_METHODS = ['mtn_momo', 'airtel_money', 'orange_money', 'mpesa'] as const;

export const SANDBOX_METHOD = 'sandbox';

/** The operators of this installation, and which payment method each one carries. */
export interface Operators {
	/**
	 * The adapter for a payment method, or null when none is configured for it.
	 * @param phone E.164; for `mobile_money` the network is guessed from it
	 */
	forMethod(method: string, phone?: string): OperatorAdapter | null;
	/** The adapter that carried a stored payment. @throws Error when it is no longer configured */
	byId(id: string): OperatorAdapter;
	all(): readonly OperatorAdapter[];
	/** Published methods of a router that lists `stored` beside the ones every router accepts. */
	methodsOf(stored: readonly string[]): string[];
}

/**
 * @param sandbox the sandbox operator, which carries what nobody else does, or null in live mode
 * @param configured the operators with settings; the first one that takes a method carries it
 */
export function createOperators(
	sandbox: OperatorAdapter | null,
	configured: readonly ConfiguredOperator[],
	dependencies: OperatorDependencies
): Operators {
	const real = configured.map((one) => ({ methods: one.methods, adapter: one.create(dependencies) }));
	const adapters = [...(sandbox ? [sandbox] : []), ...real.map(({ adapter }) => adapter)];

	const carrier = (method: string): OperatorAdapter | null =>
		real.find(({ methods }) => methods.includes(method))?.adapter ?? null;

	function forAnyMethod(phone: string | undefined): OperatorAdapter | null {
		if (phone === undefined) return real[0]?.adapter ?? sandbox;
		const guess = guessPaymentMethod(phone);
		const guessed = guess === null ? null : carrier(guess);
		if (guessed?.takesNumber(phone)) return guessed;
		// The guess does not know the number, or nobody carries its network: who takes such numbers at all?
		const taking = real.find(({ adapter }) => adapter.takesNumber(phone));
		return taking?.adapter ?? sandbox ?? real[0]?.adapter ?? null;
	}

	function forMethod(method: string, phone?: string): OperatorAdapter | null {
		if (method === SANDBOX_METHOD) return sandbox;
		return method === ANY_METHOD ? forAnyMethod(phone) : (carrier(method) ?? sandbox);
	}

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

import { strictest, type AmountRule } from '#lib/domain/payment-methods/chargeable.ts';
import { ANY_PAYMENT_METHOD, guessPaymentMethod } from '#lib/domain/payment-methods/payment-method-guess.ts';
import type { Base } from '#lib/server/base.ts';
import type { ConfiguredOperator, OperatorDependencies } from './definition.ts';
import type { OperatorAdapter } from './operator.ts';

/** Methods that name an operator; each router lists those it accepts. */
export const NAMED_METHODS = ['mtn_momo', 'airtel_money', 'orange_money', 'mpesa'] as const;

const SANDBOX_METHOD = 'sandbox';

export type Operators = ReturnType<typeof createOperators>;

/** Uses the first configured operator of a method; the sandbox (null in live mode) takes the rest. */
export function createOperators(
	testOperator: OperatorAdapter | null,
	configured: readonly ConfiguredOperator[],
	dependencies: OperatorDependencies,
	base: Pick<Base, 'metrics' | 'traces'>
) {
	const sandbox = testOperator && observed(testOperator, base);
	const real = configured.map(({ methods, create }) => ({
		methods,
		adapter: observed(create(dependencies), base)
	}));
	const adapters = [...(sandbox ? [sandbox] : []), ...real.map(({ adapter }) => adapter)];

	const find = (id: string): OperatorAdapter | undefined => adapters.find((adapter) => adapter.id === id);

	const operatorFor = (method: string): OperatorAdapter | null =>
		real.find(({ methods }) => methods.includes(method))?.adapter ?? null;

	function forAnyMethod(phone: string | undefined): OperatorAdapter | null {
		if (phone === undefined) return real[0]?.adapter ?? sandbox;
		const guess = guessPaymentMethod(phone);
		const guessed = guess === null ? null : operatorFor(guess);
		if (guessed?.takesNumber(phone)) return guessed;
		// The method is unknown or has no operator: use any operator that accepts the number.
		const taking = real.find(({ adapter }) => adapter.takesNumber(phone));
		return taking?.adapter ?? sandbox ?? real[0]?.adapter ?? null;
	}

	/** Returns null if no operator takes the method. For `mobile_money`, `phone` (E.164) decides. */
	function forMethod(method: string, phone?: string): OperatorAdapter | null {
		if (method === SANDBOX_METHOD) return sandbox;
		return method === ANY_PAYMENT_METHOD ? forAnyMethod(phone) : (operatorFor(method) ?? sandbox);
	}

	return {
		forMethod,
		/** Returns the amounts that a method charges, for `mobile_money` whatever operator the payer has. */
		amountRule(method: string): AmountRule {
			const isAny = method === ANY_PAYMENT_METHOD && real.length > 0;
			const taking = isAny ? real.map(({ adapter }) => adapter) : [forMethod(method)];
			return strictest(taking.flatMap((adapter) => (adapter ? [adapter.amounts(method)] : [])));
		},
		/** Returns the adapter of a stored payment; undefined if it is no longer configured. */
		find,
		byId(id: string): OperatorAdapter {
			const adapter = find(id);
			if (!adapter) throw new Error(`Operator ${id} is not configured`);
			return adapter;
		},
		all: (): readonly OperatorAdapter[] => adapters,
		/** Lists the methods that an operator takes: `stored` and those of every router. */
		methodsOf: (stored: readonly string[]) =>
			[ANY_PAYMENT_METHOD, ...stored, SANDBOX_METHOD].filter((method) => forMethod(method) !== null)
	};
}

/** Measures and traces the calls of an adapter to its operator, with their outcomes. */
function observed(
	adapter: OperatorAdapter,
	{ metrics, traces }: Pick<Base, 'metrics' | 'traces'>
): OperatorAdapter {
	if (!metrics.isOn && !traces.isOn) return adapter;
	const timed =
		<Input extends unknown[], Outcome extends { kind: string } | string | null>(
			call: string,
			run: (...input: Input) => Promise<Outcome>
		) =>
		(...input: Input): Promise<Outcome> =>
			traces.span({ name: `${adapter.id} ${call}`, kind: 'internal' }, async (span) => {
				const startedAt = performance.now();
				let outcome = 'error';
				try {
					const answer = await run(...input);
					if (answer === null) outcome = 'ok';
					else if (typeof answer === 'object') outcome = answer.kind;
					return answer;
				} finally {
					span.attributes['airtill.outcome'] = outcome;
					const labels = { operator: adapter.id, call, outcome };
					metrics.observe('airtill_operator_call_duration_seconds', labels, startedAt);
				}
			});
	const { submit, readStatus, refund, readRefund, health } = adapter;
	return {
		...adapter,
		submit: timed('submit', submit),
		readStatus: timed('status', readStatus),
		...(refund && { refund: timed('refund', refund) }),
		...(readRefund && { readRefund: timed('refund_status', readRefund) }),
		health: timed('health', health)
	};
}

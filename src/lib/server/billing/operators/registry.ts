import { formatMinor } from '#lib/domain/money.ts';
import {
	ANY_PAYMENT_METHOD,
	type AmountRule,
	amountProblem,
	chargeable,
	guessPaymentMethod,
	strictest
} from '#lib/domain/payment-methods.ts';
import type { Base } from '../../base.ts';
import { formatSettingsTable, readSettings } from '../../config/setting.ts';
import { Refused } from '../../platform/errors.ts';
import { airtel } from './airtel.ts';
import { CROWDED, busy, unavailable } from './client.ts';
import { mpesa } from './mpesa.ts';
import { mtn } from './mtn.ts';
import type {
	ConfiguredOperator,
	Installation,
	OperatorAdapter,
	OperatorDefinition,
	OperatorDependencies,
	StatusOutcome,
	SubmitOutcome
} from './operator.ts';
import { pawapay } from './pawapay.ts';

/**
 * Which operator takes a payment: the one that is configured for its payment method; for `mobile_money` one that
 * takes the number. The sandbox takes the rest.
 */

const SANDBOX_METHOD = 'sandbox';

type Guards = Pick<Base, 'jobs' | 'log' | 'metrics'>;

export type Operators = ReturnType<typeof createOperators>;

/** @param testOperator null in live mode */
export function createOperators(
	testOperator: OperatorAdapter | null,
	configured: readonly ConfiguredOperator[],
	dependencies: OperatorDependencies,
	base: Guards
) {
	const sandbox = testOperator && guarded(testOperator, base);
	const real = configured.map(({ methods, create }) => ({
		methods,
		adapter: guarded(create(dependencies), base)
	}));
	const adapters = [...(sandbox ? [sandbox] : []), ...real.map(({ adapter }) => adapter)];

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
		find: (id: string): OperatorAdapter | undefined => adapters.find((adapter) => adapter.id === id),
		all: (): readonly OperatorAdapter[] => adapters,
		/** Lists the methods that an operator takes: `stored` and those of every router. */
		methodsOf: (stored: readonly string[]) =>
			[ANY_PAYMENT_METHOD, ...stored, SANDBOX_METHOD].filter((method) => forMethod(method) !== null)
	};
}

/**
 * Calls an operator, and measures it. No call but health throws, or holds a slot of jobs: an adapter that throws is a
 * bug in Airtill and says nothing about the money.
 */
function guarded(adapter: OperatorAdapter, { jobs, log, metrics }: Guards): OperatorAdapter {
	const { id } = adapter;
	async function timed<Outcome extends { kind: string } | string | null>(
		call: string,
		run: () => Promise<Outcome>
	): Promise<Outcome> {
		const startedAt = performance.now();
		let outcome = 'error';
		try {
			const answer = await run();
			if (answer === null) outcome = 'ok';
			else if (typeof answer === 'object') outcome = answer.kind;
			return answer;
		} finally {
			metrics.observe('airtill_operator_call_duration_seconds', { operator: id, call, outcome }, startedAt);
		}
	}
	const safe =
		<Outcome extends { kind: string }>(crowded: Outcome, failed: Outcome) =>
		<Input extends { reference: string }>(call: string, run: (input: Input) => Promise<Outcome>) =>
		(input: Input): Promise<Outcome> =>
			jobs
				.withoutSlot(id, () => timed(call, () => run(input)), crowded)
				.catch((error: unknown) => {
					const { reference } = input;
					log.error({ err: error, operator: id, call, reference }, 'operator adapter failed');
					return failed;
				});
	const unknown = { kind: 'uncertain', raw: 'adapter error' } as const;
	const sends = safe<SubmitOutcome>(busy(CROWDED), unknown);
	const reads = safe<StatusOutcome>(unavailable(CROWDED), unavailable('adapter error'));
	const { submit, readStatus, readAmount, refund, readRefund, disburse, readPayout, health } = adapter;
	return {
		...adapter,
		submit: sends('submit', submit),
		readStatus: reads('status', readStatus),
		...(readAmount && { readAmount: reads('amount', readAmount) }),
		...(refund && { refund: sends('refund', refund) }),
		...(readRefund && { readRefund: reads('refund_status', readRefund) }),
		...(disburse && { disburse: sends('payout', disburse) }),
		...(readPayout && { readPayout: reads('payout_status', readPayout) }),
		health: () => timed('health', health)
	};
}

/** To add an operator, add its definition here. */
const INSTALLED: readonly OperatorDefinition[] = [mtn, mpesa, airtel, pawapay];

/** Configures each operator that has a variable set, in the order of INSTALLED. Problems are sentences. */
export function configureOperators(env: Record<string, string | undefined>, installation: Installation) {
	const operators: ConfiguredOperator[] = [];
	const problems: string[] = [];
	const isHidden = installation.mode === 'live' && !installation.callbackUrl.startsWith('https:');
	const uncalled: string[] = [];
	for (const definition of INSTALLED) {
		const names = Object.keys(definition.settings);
		if (!names.some((name) => env[name] !== undefined && env[name] !== '')) continue;
		const { values, problems: found } = readSettings(env, definition.settings);
		const wrong = found.map((one) => one.replace(/is required\.$/, `is required for ${definition.name}.`));
		const between = wrong.length > 0 ? [] : (definition.check?.(values as never, installation) ?? []);
		problems.push(...wrong, ...between.filter((one) => one !== false));
		const { id, name, statement } = definition;
		if (isHidden && definition.needsHttps) uncalled.push(name);
		operators.push({
			id,
			name,
			statement,
			methods: wrong.length > 0 ? [] : definition.methods(values as never),
			create: (dependencies) => definition.create(values as never, dependencies)
		});
	}
	if (uncalled.length > 0) {
		const names = uncalled.join(' and ');
		problems.push(`CALLBACK_URL: must be a public https address in live mode for ${names}.`);
	}
	return { operators, problems };
}

export const operatorTables = (): string =>
	INSTALLED.map(({ name, settings }) => `### ${name}\n\n${formatSettingsTable(settings)}`).join('\n\n');

/**
 * Finds the operator for a payment. Called before an order, so that nothing unpayable is sold.
 * @param methods those to choose from
 * @throws Refused `payment_method_not_supported`, `invalid_phone`
 */
export function operatorForPayment(
	operators: Operators,
	payment: { method: string; phone: string; amountMinor: number; currency: string },
	methods: readonly string[] = operators.methodsOf([])
): OperatorAdapter {
	const operator = operators.forMethod(payment.method, payment.phone);
	if (!operator) {
		throw new Refused('payment_method_not_supported', 'No configured operator takes this payment method.', {
			extensions: { payment_methods: methods }
		});
	}
	if (!operator.takesNumber(payment.phone)) {
		throw new Refused('invalid_phone', 'The operator does not serve this number.');
	}
	const reason = currencyText(payment, operator) ?? amountText(payment, operator.amounts(payment.method));
	if (reason !== null) {
		const others = methods.filter((method) => chargeable(payment.amountMinor, operators.amountRule(method)));
		throw new Refused('payment_method_not_supported', reason, { extensions: { payment_methods: others } });
	}
	return operator;
}

interface Price {
	method: string;
	amountMinor: number;
	currency: string;
}

const currencyText = ({ method, currency }: Price, { currency: taken = currency }: OperatorAdapter) =>
	taken === currency ? null : `${method} charges ${taken} only, and the price is in ${currency}.`;

function amountText({ method, amountMinor, currency }: Price, rule: AmountRule): string | null {
	const money = (minor: number) => formatMinor(minor, currency, 'en');
	const problem = amountProblem(amountMinor, rule);
	if (problem === null) return null;
	const charged = {
		step: `multiples of ${money(rule.stepMinor)} only`,
		min: `${money(rule.minMinor)} or more`,
		max: `${money(rule.maxMinor)} at most`
	};
	return `${method} charges ${charged[problem]}, and the price is ${money(amountMinor)}. Choose another duration or method.`;
}

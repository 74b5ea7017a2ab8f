import { amountProblem, chargeable, type AmountRule } from '#lib/domain/payment-methods/chargeable.ts';
import { formatMinor } from '#lib/domain/money.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import type { OperatorAdapter } from './operator.ts';
import type { Operators } from './registry.ts';

/**
 * Finds the operator for a payment. Called before an order, so that nothing unpayable is sold.
 * @param methods those to choose from
 * @throws AppError `payment_method_not_supported`, `invalid_phone`
 */
export function operatorForPayment(
	operators: Operators,
	payment: { method: string; phone: string; amountMinor: number; currency: string },
	methods: readonly string[] = operators.methodsOf([])
): OperatorAdapter {
	const operator = operators.forMethod(payment.method, payment.phone);
	if (!operator) {
		throw new AppError('payment_method_not_supported', 'No configured operator takes this payment method.', {
			extensions: { payment_methods: methods }
		});
	}
	if (!operator.takesNumber(payment.phone)) {
		throw new AppError('invalid_phone', 'The operator does not serve this number.');
	}
	const reason = currencyText(payment, operator) ?? amountText(payment, operator.amounts(payment.method));
	if (reason !== null) {
		const others = methods.filter((method) => chargeable(payment.amountMinor, operators.amountRule(method)));
		throw new AppError('payment_method_not_supported', reason, { extensions: { payment_methods: others } });
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

import { AppError } from '#lib/server/platform/errors.ts';
import type { OperatorAdapter } from './operator.ts';
import type { Operators } from './registry.ts';

/**
 * Finds the operator for a payment. Called before an order, so that nothing unpayable is sold.
 * @throws AppError `payment_method_not_supported`, `invalid_phone`
 */
export function carrierOf(
	operators: Operators,
	payment: { method: string; phone: string; amountMinor: number; currency: string }
): OperatorAdapter {
	const operator = operators.forMethod(payment.method, payment.phone);
	if (!operator) {
		throw new AppError('payment_method_not_supported', 'No network that we reach carries this payment.', {
			extensions: { payment_methods: operators.methodsOf([]) }
		});
	}
	if (!operator.takesNumber(payment.phone)) {
		throw new AppError('invalid_phone', "The number is not one of this network's country.");
	}
	const { phone: payerPhone, amountMinor, currency } = payment;
	const [problem] = operator.validate({ payerPhone, amountMinor, currency });
	if (problem !== undefined) {
		throw new AppError('payment_method_not_supported', problem, {
			extensions: { payment_methods: operators.methodsOf([]) }
		});
	}
	return operator;
}

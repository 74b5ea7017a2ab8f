import { currencyExponent, MAX_AMOUNT_MINOR } from '../money.ts';

/** The amounts that a payment method charges, in minor units. */
export interface AmountRule {
	/** Amounts are multiples of it: 100 for whole shillings. */
	stepMinor: number;
	minMinor: number;
	maxMinor: number;
}

export const ANY_AMOUNT: AmountRule = { stepMinor: 1, minMinor: 1, maxMinor: MAX_AMOUNT_MINOR };

/** @param taken the decimals that are charged, and limits in major units */
export function ruleInMajor(
	currency: string,
	taken: { decimals: number; min: number | null | undefined; max: number | null | undefined }
): AmountRule {
	const exponent = currencyExponent(currency);
	const minor = (major: number | null | undefined, otherwise: number) =>
		major == null ? otherwise : Math.round(major * 10 ** exponent);
	return {
		stepMinor: 10 ** Math.max(0, exponent - taken.decimals),
		minMinor: minor(taken.min, ANY_AMOUNT.minMinor),
		maxMinor: minor(taken.max, ANY_AMOUNT.maxMinor)
	};
}

export const isAnyAmount = ({ stepMinor, minMinor, maxMinor }: AmountRule): boolean =>
	stepMinor === ANY_AMOUNT.stepMinor && minMinor === ANY_AMOUNT.minMinor && maxMinor === ANY_AMOUNT.maxMinor;

/** Returns why a payment method cannot charge an amount; null if it can. */
export function amountProblem(
	amountMinor: number,
	{ stepMinor, minMinor, maxMinor }: AmountRule
): 'step' | 'min' | 'max' | null {
	if (amountMinor % stepMinor !== 0) return 'step';
	if (amountMinor < minMinor) return 'min';
	return amountMinor > maxMinor ? 'max' : null;
}

export const chargeable = (amountMinor: number, rule: AmountRule): boolean =>
	amountProblem(amountMinor, rule) === null;

/** Combines rules: an amount that fits the result fits each of them. Steps are powers of ten. */
export const strictest = (rules: readonly AmountRule[]): AmountRule =>
	rules.reduce(
		(all, one) => ({
			stepMinor: Math.max(all.stepMinor, one.stepMinor),
			minMinor: Math.max(all.minMinor, one.minMinor),
			maxMinor: Math.min(all.maxMinor, one.maxMinor)
		}),
		ANY_AMOUNT
	);

/** Combines rules: an amount that fits one of them fits the result. */
export const loosest = ([first = ANY_AMOUNT, ...others]: readonly AmountRule[]): AmountRule =>
	others.reduce(
		(all, one) => ({
			stepMinor: Math.min(all.stepMinor, one.stepMinor),
			minMinor: Math.min(all.minMinor, one.minMinor),
			maxMinor: Math.max(all.maxMinor, one.maxMinor)
		}),
		first
	);

import { plainNumber, plainText } from './text.ts';
import { MAX_AMOUNT_MINOR, currencyExponent } from './money.ts';

/** Slug for "find the payment method from the payer's number". */
export const ANY_PAYMENT_METHOD = 'mobile_money';

/** Cash, paid for a voucher. No router lists it: only redeeming a voucher pays with it. */
export const VOUCHER_METHOD = 'voucher';
/** Why such a payment no longer counts: its voucher can be used again. */
export const VOUCHER_RESTORED = 'voucher_restored';

/** Whether a payment will not take money. An expired one with a reason counts, except for `payer_timeout`: its result is unknown. */
export const isRefused = ({
	status,
	failure_code: code
}: {
	status: string;
	failure_code: string | null;
}): boolean => status === 'failed' || (status === 'expired' && code !== null && code !== 'payer_timeout');

/** Methods that name an operator; each router lists those it accepts. */
export const NAMED_METHODS = ['mtn_momo', 'airtel_money', 'orange_money', 'mpesa'] as const;

/** Brand names, the same in every language. */
export const METHOD_NAMES: Readonly<Record<string, string>> = {
	airtel_money: 'Airtel Money',
	mpesa: 'M-Pesa',
	mtn_momo: 'MTN MoMo',
	orange_money: 'Orange Money'
};

type GuessedPaymentMethod = (typeof NAMED_METHODS)[number];

/** By country code, the digits that follow it; the longest match wins. All are prefixes of mobile numbers. */
export const PREFIXES: Readonly<Record<string, Partial<Record<GuessedPaymentMethod, string>>>> = {
	'256': { mtn_momo: '76 77 78 79', airtel_money: '70 74 75' }, // Uganda
	// Kenya
	'254': {
		mpesa: '70 71 72 74 757 758 759 768 769 79 110 111 112 113 114 115 116 117',
		airtel_money: '73 75 762 78 100 101 102 103 104 105 106 107 108'
	},
	'255': { mpesa: '74 75 76', airtel_money: '68 69 78' }, // Tanzania
	'250': { mtn_momo: '78 79', airtel_money: '72 73' }, // Rwanda
	'260': { mtn_momo: '76 96', airtel_money: '77 97 57' }, // Zambia
	'265': { airtel_money: '98 99' }, // Malawi
	'233': { mtn_momo: '24 256 257 53 54 55 59', airtel_money: '26 27 56 57' }, // Ghana
	// Cameroon
	'237': {
		mtn_momo: '67 650 651 652 653 654 680 681 682 683',
		orange_money: '69 655 656 657 658 659 685 686 687 688 689'
	},
	'225': { mtn_momo: '05', orange_money: '07' }, // Ivory Coast
	// Benin
	'229': { mtn_momo: '0151 0152 0153 0154 0156 0157 0161 0162 0166 0167 0169 0190 0191 0196 0197' },
	'243': { mpesa: '81 82 83', airtel_money: '97 98 99', orange_money: '80 84 85 89' }, // Congo, Kinshasa
	'261': { airtel_money: '33', orange_money: '32 37' }, // Madagascar
	'221': { orange_money: '77 78' } // Senegal
};

/**
 * Guesses the payment method of a number from its first digits. A guess preselects a choice and routes
 * `mobile_money`, but refuses nothing: numbers move between operators and numbering plans change.
 * @param phone E.164
 */
export function guessPaymentMethod(phone: string): GuessedPaymentMethod | null {
	const methods = PREFIXES[phone.slice(1, 4)];
	const digits = phone.slice(4);
	let best: { method: GuessedPaymentMethod; length: number } | null = null;
	for (const [method, prefixes] of Object.entries(methods ?? {})) {
		for (const prefix of prefixes.split(' ')) {
			if (digits.startsWith(prefix) && prefix.length > (best?.length ?? 0)) {
				best = { method: method as GuessedPaymentMethod, length: prefix.length };
			}
		}
	}
	return best?.method ?? null;
}

/** Returns the method that a payment is asked of: of an open one, that of the number (E.164), if it is known. */
export const resolveMethod = (method: string, phone: string): string =>
	(method === ANY_PAYMENT_METHOD || method === 'sandbox' ? guessPaymentMethod(phone) : null) ?? method;

/**
 * Converts a typed number to E.164 for a guess, without all countries' metadata.
 * @param prefix of numbers without a country code, e.g. `+256`
 */
export function roughE164(typed: string, prefix: string): string {
	const digits = plainNumber(typed)
		.replace(/\( ?0 ?\)|[^\d+]/g, '')
		.replace(/^\+?00+/, '+');
	if (digits.startsWith('+')) return digits;
	if (digits.startsWith(prefix.slice(1))) return `+${digits}`;
	return prefix + digits.replace(/^0/, '');
}

/** Lists the methods to offer. Omits the sandbox's own method if there is another. */
export function offeredMethods(slugs: readonly string[]): string[] {
	const offered = slugs.filter((slug) => slug !== 'sandbox');
	return offered.length > 0 ? offered : [...slugs];
}

/** What people and programs write for a method, beside its slug and name: lower case, letters and digits only. */
const SPELLINGS: Readonly<Record<(typeof NAMED_METHODS)[number] | typeof ANY_PAYMENT_METHOD, string>> = {
	airtel_money: 'airtel airtelmobilemoney',
	mobile_money: 'momo',
	mpesa: 'safaricom safaricommpesa vodacom vodacommpesa lipanampesa',
	mtn_momo: 'mtn mtnmoney mtnmobilemoney mtnmomopay',
	orange_money: 'orange orangemobilemoney'
};

/**
 * Finds a payment method as people and programs write it: "MTN", "mtn momo", "M-Pesa".
 * @param offered slugs
 * @returns the slug, or null if none of the offered ones is meant
 */
export function findPaymentMethod(typed: string, offered: readonly string[]): string | null {
	const bare = (text: string) =>
		plainText(text)
			.toLowerCase()
			.replace(/[^\p{L}\p{N}]/gu, '');
	const wanted = bare(typed);
	const spellingsOf = (slug: string) => [
		bare(slug),
		bare(METHOD_NAMES[slug] ?? ''),
		...((SPELLINGS as Record<string, string>)[slug] ?? '').split(' ')
	];
	if (wanted === '') return null;
	return offered.find((slug) => spellingsOf(slug).includes(wanted)) ?? null;
}

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

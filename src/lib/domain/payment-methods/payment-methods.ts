import * as m from '../../i18n/messages.js';
import { plainText } from '../typed-text.ts';
import { ANY_PAYMENT_METHOD, type NAMED_METHODS } from './payment-method-guess.ts';

export { offeredMethods } from './payment-method-guess.ts';

/** Brand names, the same in every language. */
const NAMES: Readonly<Record<string, string>> = {
	airtel_money: 'Airtel Money',
	mpesa: 'M-Pesa',
	mtn_momo: 'MTN MoMo',
	orange_money: 'Orange Money'
};

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const words = (slug: string) => capital(slug.replaceAll('_', ' '));

/** Names a payment method in the form: "MTN MoMo". A slug without a name gets plain words. */
export function methodChoice(slug: string): string {
	if (slug === ANY_PAYMENT_METHOD) return m.router_method_any();
	return slug === 'sandbox' ? m.router_method_test() : (NAMES[slug] ?? words(slug));
}

/** Names a payment method in a sentence: "MTN MoMo", or "mobile-money" while the operator is unknown. */
export const methodName = (slug: string): string =>
	slug === ANY_PAYMENT_METHOD || slug === 'sandbox' ? m.common_mobile_money() : (NAMES[slug] ?? words(slug));

/** As `methodName`, at the start of a line. */
export const methodTitle = (slug: string): string => capital(methodName(slug));

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
		bare(NAMES[slug] ?? ''),
		...((SPELLINGS as Record<string, string>)[slug] ?? '').split(' ')
	];
	if (wanted === '') return null;
	return offered.find((slug) => spellingsOf(slug).includes(wanted)) ?? null;
}

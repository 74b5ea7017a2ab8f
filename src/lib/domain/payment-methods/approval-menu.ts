import { ANY_PAYMENT_METHOD, guessPaymentMethod } from './payment-method-guess.ts';

/** MTN's menus, by country code. They list the payments that wait for approval; other operators have no list. */
const MTN_MENUS: Readonly<Record<string, string>> = {
	'225': '*133#', // Ivory Coast
	'233': '*170#', // Ghana
	'250': '*182*7*1#', // Rwanda
	'256': '*165#', // Uganda
	'260': '*115#' // Zambia
};

/**
 * Returns the code to dial if no prompt appears: "*165#". null if none is known.
 * @param phone E.164 @param method slug of the payment method
 */
export function approvalMenu(phone: string, method: string): string | null {
	const isOpen = method === ANY_PAYMENT_METHOD || method === 'sandbox';
	const slug = isOpen ? guessPaymentMethod(phone) : method;
	return slug === 'mtn_momo' ? (MTN_MENUS[phone.slice(1, 4)] ?? null) : null;
}

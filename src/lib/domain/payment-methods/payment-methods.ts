import * as m from '../../i18n/messages.js';
import { ANY_PAYMENT_METHOD, METHOD_NAMES } from './payment-method-guess.ts';

export { offeredMethods } from './payment-method-guess.ts';

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const words = (slug: string) => capital(slug.replaceAll('_', ' '));

/** Names a payment method in the form: "MTN MoMo". A slug without a name gets plain words. */
export function methodChoice(slug: string): string {
	if (slug === ANY_PAYMENT_METHOD) return m.router_method_any();
	return slug === 'sandbox' ? m.router_method_test() : (METHOD_NAMES[slug] ?? words(slug));
}

/** Names a payment method in a sentence: "MTN MoMo", or "mobile-money" while the operator is unknown. */
export const methodName = (slug: string): string =>
	slug === ANY_PAYMENT_METHOD || slug === 'sandbox'
		? m.common_mobile_money()
		: (METHOD_NAMES[slug] ?? words(slug));

/** As `methodName`, at the start of a line. */
export const methodTitle = (slug: string): string => capital(methodName(slug));

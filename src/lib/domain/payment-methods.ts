import * as m from '../i18n/messages.js';

/** Names that buyers know for the slugs of the wire format, the same in every language. */
const NAMES: Readonly<Record<string, string>> = {
	airtel_money: 'Airtel Money',
	mpesa: 'M-Pesa',
	mtn_momo: 'MTN MoMo',
	orange_money: 'Orange Money'
};

/** The slug that leaves the network to be found from the payer's number. */
export const ANY_NETWORK = 'mobile_money';

const words = (slug: string) => {
	const text = slug.replaceAll('_', ' ');
	return text.charAt(0).toUpperCase() + text.slice(1);
};

/** What a buyer chooses: "MTN MoMo", "Find it from my number"; a new slug in plain words. */
export function methodChoice(slug: string): string {
	if (slug === ANY_NETWORK) return m.router_network_any();
	return slug === 'sandbox' ? m.router_network_test() : (NAMES[slug] ?? words(slug));
}

/** What a sentence says: "MTN MoMo", or "mobile-money" where the network is not known by name. */
export function methodName(slug: string): string {
	return slug === ANY_NETWORK || slug === 'sandbox' ? m.common_mobile_money() : (NAMES[slug] ?? words(slug));
}

/** The methods to offer, without the sandbox's own unless there is no other. */
export function offeredMethods(slugs: readonly string[]): string[] {
	const offered = slugs.filter((slug) => slug !== 'sandbox');
	return offered.length > 0 ? offered : [...slugs];
}

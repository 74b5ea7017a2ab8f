import { formatMoney } from '#lib/domain/money.ts';
import { directionOf, type Locale } from '#lib/i18n/locales.ts';
import * as m from '#lib/i18n/messages.js';
import { usefulOffers } from '#lib/purchase/quote.ts';
import type { RouterBody } from '#lib/server/contract/schemas.ts';

/**
 * @param takesCode the hotspot's sign-in page is ours and accepts the code of a purchase
 * @param joinsFirst that page sells, and everybody can join the network to see it
 */
export function posterWords(
	locale: Locale,
	router: RouterBody,
	{ takesCode, joinsFirst }: { takesCode: boolean; joinsFirst: boolean }
) {
	const said = { locale };
	return {
		locale,
		direction: directionOf(locale),
		title: m.poster_title({}, said),
		/** One line each. */
		prices: prices(router, locale),
		/** Alternative text of the QR code. */
		scan: joinsFirst ? m.poster_scan_join({}, said) : m.poster_scan({}, said),
		network: m.router_ssid({}, said),
		testMark: m.common_test_mode({}, said),
		steps: joinsFirst
			? [m.poster_step_connect({}, said), m.poster_step_page({}, said), m.poster_step_pay({}, said)]
			: [m.poster_step_open({}, said), m.poster_step_pay({}, said), joinStep(router, takesCode, said)]
	};
}

function prices(router: RouterBody, locale: Locale): string[] {
	const offers = usefulOffers(router);
	const money = (amount: number) => formatMoney(amount, router.currency, locale);
	// From right to left, the digits of a Latin name would move beside the price.
	const apart = (name: string) => (directionOf(locale) === 'rtl' ? `\u2068${name}\u2069` : name);
	return offers.length > 0
		? offers.map(({ name, price }) => `${apart(name)}: ${money(price)}`)
		: [m.router_per_hour({ money: money(router.price) }, { locale })];
}

function joinStep({ access_kind: kind }: RouterBody, takesCode: boolean, said: { locale: Locale }): string {
	if (takesCode) return m.poster_step_code({ choose: m.common_paid_already({}, said) }, said);
	if (kind === 'portal_login') return m.poster_step_sign_in({}, said);
	return kind === 'wpa_enterprise' ? m.poster_step_user({}, said) : m.poster_step_join({}, said);
}

import { formatMoney } from '#lib/domain/money.ts';
import { directionOf, type Locale } from '#lib/i18n/locales.ts';
import * as m from '#lib/i18n/messages.js';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';

/** @param takesCode the hotspot's sign-in page is ours and accepts the code of a purchase */
export function posterWords(locale: Locale, router: RouterBody, takesCode: boolean) {
	const said = { locale };
	const money = formatMoney(router.price, router.currency, locale);
	return {
		locale,
		direction: directionOf(locale),
		title: m.poster_title({}, said),
		price: m.poster_per_hour({ money }, said),
		/** Alternative text of the QR code. */
		scan: m.poster_scan({}, said),
		network: m.poster_network({}, said),
		steps: [
			m.poster_step_open({}, said),
			m.poster_step_pay({}, said),
			takesCode
				? m.poster_step_code({ choose: m.common_paid_already({}, said) }, said)
				: joinStep(router.access_kind, said)
		]
	};
}

function joinStep(kind: RouterBody['access_kind'], said: { locale: Locale }): string {
	if (kind === 'portal_login') return m.poster_step_sign_in({}, said);
	if (kind === 'wpa_enterprise') return m.poster_step_user({}, said);
	return m.poster_step_join({}, said);
}

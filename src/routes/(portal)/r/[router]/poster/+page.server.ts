import { error } from '@sveltejs/kit';
import { logoBox } from '#lib/domain/brand.ts';
import { nameOffer, usefulOffers } from '#lib/purchase/quote.ts';
import { formatMoney } from '#lib/domain/money.ts';
import { wifiQrText } from '#lib/domain/wifi.ts';
import { currentLocale } from '#lib/i18n/current.ts';
import { directionOf, type Locale } from '#lib/i18n/locales.ts';
import * as m from '#lib/i18n/messages.js';
import type { RouterBody } from '#lib/server/contract/router.ts';
import { qrSvg } from '#lib/server/portal/qr-svg.ts';
import { showBrand } from '#lib/server/portal/brand.ts';
import { orUnavailable, readRouter } from '#lib/server/portal/pages.ts';
import type { PageServerLoad } from './$types';
import { findSignIn } from '#lib/server/gateways/gateways.ts';

/** Logo size, in hundredths of the sheet's em (styles/poster.css). */
const LOGO = { tall: 400, widest: 1_600 };

/** GET /r/{router}/poster: a poster for the wall, in the reader's language and in English. */
export const load: PageServerLoad = async (event) => {
	const router = await orUnavailable(readRouter(event), 'The poster cannot be made at the moment.');
	if (!router) error(404, 'There is no Wi-Fi at this address.');
	// Without a language prefix, so that each phone uses its own language.
	const address = `${event.locals.origin}/r/${router.id}`;
	const brand = showBrand(event, router);
	const isOurs = (await findSignIn(event.locals.app.gateways, router.id)).method !== 'typed';
	/** The hotspot's sign-in page is ours and accepts the code of a purchase. */
	const takesCode = router.access_kind === 'portal_login' && isOurs;
	/** That page sells, and everybody can join the network to see it. */
	const joinsFirst = takesCode && router.security === 'nopass';
	const name = brand?.name ?? router.name;
	return {
		words: [...new Set([currentLocale(), 'en' as const])].map((locale) =>
			wordsIn(locale, router, { takesCode, joinsFirst })
		),
		name,
		nameSize: chooseNameSize(name),
		location: brand?.name && brand.name !== router.name ? router.name : null,
		logo: brand?.logo && { url: brand.logo.url, ...logoBox(brand.logo, LOGO.tall, LOGO.widest) },
		ssid: router.ssid,
		qr: qrSvg(joinsFirst ? wifiQrText({ ...router, password: null }) : address),
		address: address.replace(/^https?:\/\//, '')
	};
};

/** So that a name takes at most three lines. */
function chooseNameSize(name: string): 'large' | 'medium' | 'small' | 'tiny' {
	const { length } = [...name];
	if (length <= 18) return 'large';
	if (length <= 40) return 'medium';
	return length <= 80 ? 'small' : 'tiny';
}

function wordsIn(
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
		prices: formatPrices(router, locale),
		/** Alternative text of the QR code. */
		scan: joinsFirst ? m.poster_scan_join({}, said) : m.poster_scan({}, said),
		network: m.router_ssid({}, said),
		testMark: m.common_test_mode({}, said),
		steps: joinsFirst
			? [m.poster_step_connect({}, said), m.poster_step_page({}, said), m.poster_step_pay({}, said)]
			: [m.poster_step_open({}, said), m.poster_step_pay({}, said), formatJoinStep(router, takesCode, said)]
	};
}

function formatPrices(router: RouterBody, locale: Locale): string[] {
	const offers = usefulOffers(router);
	const money = (amount: number) => formatMoney(amount, router.currency, locale);
	// From right to left, the digits of a Latin name would move beside the price.
	const apart = (name: string) => (directionOf(locale) === 'rtl' ? `\u2068${name}\u2069` : name);
	return offers.length > 0
		? offers.map((offer) => `${apart(nameOffer(offer, locale))}: ${money(offer.price)}`)
		: [m.router_per_hour({ money: money(router.price) }, { locale })];
}

function formatJoinStep(
	{ access_kind: kind }: RouterBody,
	takesCode: boolean,
	said: { locale: Locale }
): string {
	if (takesCode) return m.poster_step_code({ choose: m.common_paid_already({}, said) }, said);
	if (kind === 'portal_login') return m.poster_step_sign_in({}, said);
	return kind === 'wpa_enterprise' ? m.poster_step_user({}, said) : m.poster_step_join({}, said);
}

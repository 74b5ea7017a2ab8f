import { error } from '@sveltejs/kit';
import { logoBox } from '#lib/branding/brand.ts';
import { wifiQrText } from '#lib/domain/wifi/wifi-qr.ts';
import { currentLocale, link } from '#lib/i18n/current.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { qrSvg } from '#lib/server/portal/wifi-qr-svg.ts';
import { orUnavailable, readRouter } from '#lib/server/web/portal/pages.ts';
import { languagesOf, nameSize, sizeOf } from './choice.ts';
import { posterWords } from './words.ts';
import type { PageServerLoad } from './$types';

/** CSS has no keyword for A6. */
const PAPER = { a4: '210mm 297mm', a6: '105mm 148mm' } as const;

/** Logo size, in hundredths of the sheet's em (styles/poster.css). */
const LOGO = { tall: 400, widest: 1_600 };

/** GET /r/{router}/poster?size=a4|a6&languages=sw,en: a poster for the wall. */
export const load: PageServerLoad = async (event) => {
	const router = await orUnavailable(readRouter(event), 'The poster cannot be made at the moment.');
	if (!router) error(404, 'There is no Wi-Fi at this address.');
	const size = sizeOf(event.url.searchParams);
	const { languages, tooMany } = languagesOf(event.url.searchParams, currentLocale());
	// Without a language prefix, so that each phone uses its own language.
	const address = `${event.locals.origin}/r/${router.id}`;
	const brand = showBrand(event, router);
	// A class cannot set the paper size, so the rule travels with the accent colour.
	event.locals.pageRules = `@page{size:${PAPER[size]};margin:0}`;
	const isOurs = (await event.locals.app.gateways.signInAt(router.id)).method !== 'typed';
	const takesCode = router.access_kind === 'portal_login' && isOurs;
	const joinsFirst = takesCode && router.security === 'nopass';
	const name = brand?.name ?? router.name;
	return {
		size,
		languages,
		tooMany,
		words: languages.map((locale) => posterWords(locale, router, { takesCode, joinsFirst })),
		name,
		nameSize: nameSize(name),
		location: brand?.name && brand.name !== router.name ? router.name : null,
		logo: brand?.logo && { url: brand.logo.url, ...logoBox(brand.logo, LOGO.tall, LOGO.widest) },
		ssid: router.ssid,
		qr: qrSvg(joinsFirst ? wifiQrText({ ...router, password: null }) : address),
		address: address.replace(/^https?:\/\//, ''),
		/** The form adds the query. */
		here: link(`/r/${router.id}/poster`)
	};
};

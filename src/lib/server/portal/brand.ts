import type { RequestEvent } from '@sveltejs/kit';
import { type ShownBrand, accentRules } from '#lib/domain/brand.ts';
import signRules from '#lib/styles/brand.css?inline';
import type { BrandBody } from '../contract/router.ts';

/**
 * The colour goes into the style element of app.html: a separate sheet would delay the first paint, and the
 * policy forbids style attributes.
 * @returns the name, logo and phone number for the layout, or null
 */
export function showBrand(
	event: Pick<RequestEvent, 'locals'>,
	router: { name: string; brand?: BrandBody | null } | null
): ShownBrand | null {
	const brand = router?.brand ?? null;
	if (!router || !brand) return null;
	event.locals.accentRules = accentRules(brand.accent);
	const logo = brand.logo && isLogoPath(brand.logo.url) ? brand.logo : null;
	if (brand.name !== null || logo) event.locals.signRules = signRules;
	// An older API has no contact.
	const { name, contact = null } = brand;
	return name === null && contact === null && logo === null
		? null
		: { name, contact, routerName: router.name, logo };
}

const isLogoPath = (url: string) => /^\/logos\/[0-9a-f]{32}\.(svg|png)$/.test(url);

export function fillRules(html: string, { accentRules, signRules }: App.Locals): string {
	return html.replace('/*airtill.rules*/', () => [choiceRules(html), signRules, accentRules].join(''));
}

/** Without script: the price of the chosen time on the button, in browsers that support it (styles/forms.css). */
function choiceRules(html: string): string {
	const rules = [...html.matchAll(/ class="a(\d+|o)"/g)].map(
		([, index]) => `form:has(.t${index}:checked) .pay .a${index}`
	);
	return rules.length > 0 ? `${rules.join()}{display:inline}` : '';
}

import type { RequestEvent } from '@sveltejs/kit';
import { accentRules } from '#lib/branding/accent.ts';
import type { ShownBrand } from '#lib/branding/brand.ts';
import signRules from '#lib/styles/brand.css?inline';
import type { BrandBody } from '../api/contract/schemas.ts';

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

/** Shows the price of the chosen time (20 offers, or a typed one) and the chosen method where no script does. */
const choiceRules = `${[
	...Array.from({ length: 20 }, (_, index) => [`t${index}`, `a${index}`]),
	['own', 'ao'],
	...Array.from({ length: 6 }, (_, index) => [`m${index}`, `n${index}`])
]
	.map(([choice, shown]) => `form:has(.${choice}:checked) .${shown}`)
	.join()}{display:inline}`;

export function fillRules(html: string, { accentRules, signRules, pageRules }: App.Locals): string {
	const choices = /class="(prices|methods)"/.test(html) ? choiceRules : '';
	return html.replace('/*airtill.rules*/', () => [choices, signRules, accentRules, pageRules].join(''));
}

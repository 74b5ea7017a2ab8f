import type { RequestEvent } from '@sveltejs/kit';
import { accentRules } from '#lib/branding/accent.ts';
import type { ShownBrand } from '#lib/branding/brand.ts';
import signRules from '#lib/styles/brand.css?inline';
import type { BrandBody } from '../api/contract/schemas.ts';

/**
 * Puts an owner's brand on the page of this request: returns what the layout shows of it, and notes the colour for
 * the style element of app.html, which hooks.server.ts fills (a sheet of its own would cost the first answer a
 * request, a style attribute is not allowed).
 */
export function showBrand(
	event: Pick<RequestEvent, 'locals'>,
	router: { name: string; brand?: BrandBody | null } | null
): ShownBrand | null {
	// A service of an earlier version knows no brands.
	const brand = router?.brand ?? null;
	if (!router || !brand) return null;
	event.locals.accentRules = accentRules(brand.accent);
	const logo = brand.logo && isLogoPath(brand.logo.url) ? brand.logo : null;
	if (brand.name !== null || logo) event.locals.signRules = signRules;
	return brand.name === null && logo === null ? null : { name: brand.name, place: router.name, logo };
}

const isLogoPath = (url: string) => /^\/logos\/[0-9a-f]{32}\.(svg|png)$/.test(url);

/** However the template is laid out. */
const STYLE_ELEMENT = /(<style nonce="[^"]*">)\s*\/\*rules\*\/\s*(<\/style>)\s*/;

/** Fills the style element that waits in app.html, or takes it away. */
export function fillRules(html: string, { accentRules, signRules, pageRules }: App.Locals): string {
	const rules = (signRules ?? '') + (accentRules ?? '') + (pageRules ?? '');
	return html.replace(STYLE_ELEMENT, (_, start: string, end: string) =>
		rules === '' ? '' : start + rules + end
	);
}

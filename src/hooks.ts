import type { Reroute } from '@sveltejs/kit';
import { splitLanguage } from '#lib/i18n/path.ts';

/** A language that stands first in an address of a page is not part of its route. */
export const reroute: Reroute = ({ url }) => {
	const { locale, path } = splitLanguage(url.pathname);
	if (locale !== null) return path;
};

import type { Reroute } from '@sveltejs/kit';
import { splitLanguage } from '#lib/language/path.ts';

/**
 * `{base_url}` ends in a slash and paths begin with one, so simple joins give `/v1//routers`. Such paths are
 * served, not redirected. A language that stands first in an address of a page is not part of its route.
 */
export const reroute: Reroute = ({ url }) => {
	if (/^\/{1,}v1(\/|$)/.test(url.pathname)) return url.pathname.replace(/\/{2,}/g, '/');
	const { locale, path } = splitLanguage(url.pathname);
	if (locale !== null) return path;
};

import type { Reroute } from '@sveltejs/kit';

/**
 * `{base_url}` ends in a slash and paths begin with one, so simple joins give `/v1//routers`. Such paths are
 * served, not redirected.
 */
export const reroute: Reroute = ({ url }) => {
	if (/^\/{1,}v1(\/|$)/.test(url.pathname)) return url.pathname.replace(/\/{2,}/g, '/');
};

/**
 * Finds the purchase to open after a sign-in. Gateways return its address with the next redirect: directly,
 * or inside their own sign-in address.
 * @param address the first URL that the browser requested
 * @param origin of this installation; other hosts are ignored
 * @returns the token, and the path of its page (different for a pass of the API), or null
 */
export function ownPurchase(address: string | null, origin: string): { token: string; path: string } | null {
	if (address === null || !URL.canParse(address)) return null;
	const asked = new URL(address);
	const candidates = [asked, ...LANDINGS.flatMap((name) => landingOf(asked, name))];
	for (const url of candidates) {
		if (url.origin !== origin) continue;
		const [, path, token] = /^(?:\/[a-z]{2})?(\/(?:s|pass)\/([A-Za-z0-9_-]{24}))$/.exec(url.pathname) ?? [];
		if (path !== undefined && token !== undefined) return { token, path };
	}
	return null;
}

/** Parameters of openNDS, MikroTik and CoovaChilli for the address after the sign-in. */
const LANDINGS = ['redir', 'dst', 'userurl'];

function landingOf(url: URL, name: string): URL[] {
	const value = url.searchParams.get(name) ?? '';
	return URL.canParse(value) ? [new URL(value)] : [];
}

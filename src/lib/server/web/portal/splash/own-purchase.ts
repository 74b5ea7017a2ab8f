interface OwnPurchase {
	kind: 's' | 'pass';
	token: string;
	device: string | null;
}

/**
 * Finds the purchase to open after a sign-in. Gateways return its address with the next redirect: directly,
 * or inside their own sign-in address.
 * @param address the first URL that the browser requested
 * @param origin of this installation; other hosts are ignored
 * @returns what names its page, or null
 */
export function ownPurchase(address: string | null, origin: string): OwnPurchase | null {
	if (address === null || !URL.canParse(address)) return null;
	const asked = new URL(address);
	const candidates = [asked, ...LANDINGS.flatMap((name) => landingOf(asked, name))];
	for (const url of candidates) {
		if (url.origin !== origin) continue;
		const { kind, token, device = null } = PAGE.exec(url.pathname)?.groups ?? {};
		if (token !== undefined) return { kind: kind === 'pass' ? 'pass' : 's', token, device };
	}
	return null;
}

const PAGE = /^(?:\/[a-z]{2})?\/(?<kind>s|pass)\/(?<token>[\w-]{24})(?:\/(?<device>[0-9a-f]{24}))?$/;

/** Parameters of openNDS, MikroTik and CoovaChilli for the address after the sign-in. */
const LANDINGS = ['redir', 'dst', 'userurl'];

function landingOf(url: URL, name: string): URL[] {
	const value = url.searchParams.get(name) ?? '';
	return URL.canParse(value) ? [new URL(value)] : [];
}

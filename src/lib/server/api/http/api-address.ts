import type { IncomingMessage } from 'node:http';

/** `/v1` and what lies below, however the two characters and the slashes before them are written. */
const API_PATH = /^(\/+)(?:v|%76)(?:1|%31)(?=[/?#]|$)/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;
const UNRESERVED = /^[\w.~-]$/;
/** A path in which nothing is encoded, left out or taken back: a URL would be the same. */
const PLAIN = /^(\/[\w/-]*)(?:\?([^#]*))?$/;

/** A dot segment, `/.` or `/..`, before a query. */
const DOTS = /^[^?#]*\/(?:\.|%2e){1,2}(?:[/?#]|$)/i;

export interface ApiAddress {
	/** Begins with one or more slashes. */
	pathname: string;
	searchParams: URLSearchParams;
}

/**
 * An address under /v1 in the one way of writing that the application compares with: in origin form, even when it
 * came as for a proxy (RFC 9112, 3.2.2; its host then stands in `headers.host`), without dot segments and without
 * percent-encoding where none is needed (RFC 3986, 6.2.2). null for all others.
 */
export function apiAddress({ url = '', headers }: IncomingMessage): ApiAddress | null {
	const absolute = url.startsWith('/') ? null : ABSOLUTE.exec(url);
	const target = withoutDots(absolute ? url.slice(absolute[0].length) : url);
	if (!API_PATH.test(target)) return null;
	if (absolute?.[1]) headers.host = absolute[1];
	const plain = PLAIN.exec(target);
	if (plain) {
		const query = plain[2] === undefined ? '' : `?${plain[2]}`;
		return { pathname: plain[1] ?? '', searchParams: new URLSearchParams(query) };
	}
	const [path = '', ...query] = target.split('?');
	const decoded = path.replace(/%([0-7][0-9a-f])/gi, (encoded, hex: string) => {
		const character = String.fromCharCode(Number.parseInt(hex, 16));
		return UNRESERVED.test(character) ? character : encoded;
	});
	return new URL(`http://localhost${[decoded, ...query].join('?')}`);
}

/** What leads to /v1 by way of another folder (`/x/../v1`) is the API's as well. */
function withoutDots(target: string): string {
	if (!target.startsWith('/') || API_PATH.test(target) || !DOTS.test(target)) return target;
	const { pathname, search } = new URL(`http://localhost${target}`);
	return pathname + search;
}

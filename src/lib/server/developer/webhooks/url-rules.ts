import { isIP } from 'node:net';

/**
 * What a webhook URL may look like (wire format 5.5), asked when it is registered and again before every attempt:
 * Node resolves no name for an address that stands in the URL itself, so the rule for addresses would not see it.
 */
export interface UrlRules {
	/** Plain http, any host and any port. */
	allowInsecure: boolean;
	/** Where this installation itself is reached, as `host` or `host:port`. */
	ownHosts: readonly string[];
}

export const MAX_URL_LENGTH = 2_048;
const LEAST_PORT = 1_024;
const MAX_NAME_LENGTH = 253;

/** Names that mean something inside a network only. */
const INNER_SUFFIXES = ['local', 'internal', 'localhost', 'home.arpa'];
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * Why a URL is not allowed, as a sentence for its sender; null when it is.
 * @param text a URL that parses
 */
export function urlRefusal(text: string, { allowInsecure, ownHosts }: UrlRules): string | null {
	const url = new URL(text);
	if (text.length > MAX_URL_LENGTH || url.href.length > MAX_URL_LENGTH) {
		return `Use at most ${MAX_URL_LENGTH} characters.`;
	}
	if (url.protocol !== 'https:' && !(allowInsecure && url.protocol === 'http:')) return 'Use https.';
	if (url.username !== '' || url.password !== '') return 'Leave out user name and password.';
	if (url.href.includes('#')) return 'Leave out the fragment.';
	if (ownHosts.some((own) => isSameHost(url, own, allowInsecure))) return 'Use a host of your own.';
	if (allowInsecure) return null;
	if (url.port !== '' && Number(url.port) < LEAST_PORT) return `Use port 443, or ${LEAST_PORT} and above.`;
	return hostRefusal(nameOf(url));
}

function hostRefusal(name: string): string | null {
	if (isIP(name) !== 0 || name.startsWith('[')) return 'Use a host name instead of an address.';
	const labels = name.split('.');
	if (labels.length < 2) return 'Use a full host name, e.g. "app.example.com".';
	if (name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) {
		return 'Use a valid host name.';
	}
	if (INNER_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))) {
		return 'Use a host name of the public internet.';
	}
	return null;
}

/** The host name without the dot that may end it: `localhost.` is `localhost`. */
const nameOf = (url: URL) => url.hostname.replace(/\.$/, '');

/** The ports are compared only where everything else on this machine may be called (insecure). */
function isSameHost(url: URL, own: string, withPort: boolean): boolean {
	const text = `${url.protocol}//${own}`;
	if (!URL.canParse(text)) return false;
	const other = new URL(text);
	return nameOf(other) === nameOf(url) && (!withPort || other.port === url.port);
}

import { isIP } from 'node:net';

/**
 * Rules for webhook URLs (wire format 5.5), checked at registration and before every attempt. Node looks up no name
 * for an IP address in the URL, so the check at connect would miss it.
 */
export interface UrlRules {
	/** Allows http, any host and any port. */
	allowInsecure: boolean;
	/** True in test mode: refusals then name the setting that allows more. */
	isTest?: boolean;
	/** Addresses of this installation, as `host` or `host:port`. */
	ownHosts: readonly string[];
}

export const MAX_URL_LENGTH = 2_048;
const LEAST_PORT = 1_024;
const MAX_NAME_LENGTH = 253;

/** Names that exist only inside a network. */
const INNER_SUFFIXES = ['local', 'internal', 'localhost', 'home.arpa'];
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Returns why a valid URL is not allowed, as a sentence; null if it is. */
export function urlRefusal(text: string, { allowInsecure, isTest, ownHosts }: UrlRules): string | null {
	const url = new URL(text);
	if (text.length > MAX_URL_LENGTH || url.href.length > MAX_URL_LENGTH) {
		return `Use at most ${MAX_URL_LENGTH} characters.`;
	}
	if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'Use https.';
	if (url.username !== '' || url.password !== '') return 'Leave out the username and password.';
	if (url.href.includes('#')) return 'Leave out the fragment.';
	if (ownHosts.some((own) => isSameHost(url, own, allowInsecure))) return 'Use a host of your own.';
	if (allowInsecure) return null;
	const refusal = insecurityOf(url);
	return refusal !== null && isTest
		? `${refusal} In test mode, the administrator can allow other addresses with WEBHOOK_ALLOW_INSECURE=1.`
		: refusal;
}

function insecurityOf(url: URL): string | null {
	if (url.protocol !== 'https:') return 'Use https.';
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

/** Drops a trailing dot: `localhost.` is `localhost`. */
const nameOf = (url: URL) => url.hostname.replace(/\.$/, '');

/** Compares ports only in insecure mode, which allows other services of this machine. */
function isSameHost(url: URL, own: string, withPort: boolean): boolean {
	const text = `${url.protocol}//${own}`;
	if (!URL.canParse(text)) return false;
	const other = new URL(text);
	return nameOf(other) === nameOf(url) && (!withPort || other.port === url.port);
}

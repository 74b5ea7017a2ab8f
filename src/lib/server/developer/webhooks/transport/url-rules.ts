import { isIP } from 'node:net';
import { MAX_URL_LENGTH } from '#lib/server/contract/webhooks.ts';

/**
 * Rules for webhook URLs (wire format 5.5), checked at registration and before every attempt. Node looks up no name
 * for an IP address in the URL, so the check at connect would miss it.
 */
export interface UrlRules {
	/** Allows http, any host and any port. */
	allowInsecure: boolean;
	/**
	 * Allows http to a program on this machine, by its loopback address, from port 1024 on. Only in a sandbox with demo
	 * data, and only what was registered on this machine: services that trust it would otherwise be open to everybody.
	 */
	allowThisMachine?: boolean;
	/** True in test mode: refusals then name the setting that allows more. */
	isTest?: boolean;
	/** Addresses of this installation, as `host` or `host:port`. */
	ownHosts: readonly string[];
}

const LEAST_PORT = 1_024;
const MAX_NAME_LENGTH = 253;

/** Names that exist only inside a network. */
const INNER_SUFFIXES = ['local', 'internal', 'localhost', 'home.arpa'];
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Returns why a valid URL is not allowed, as a sentence; null if it is. */
export function urlRefusal(text: string, rules: UrlRules): string | null {
	const { allowInsecure, allowThisMachine = false, isTest, ownHosts } = rules;
	const url = new URL(text);
	const isHere = allowThisMachine && isOnThisMachine(url);
	if (text.length > MAX_URL_LENGTH || url.href.length > MAX_URL_LENGTH) {
		return `Use at most ${MAX_URL_LENGTH} characters.`;
	}
	if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'Use https.';
	if (url.username !== '' || url.password !== '') return 'Leave out the username and password.';
	if (url.href.includes('#')) return 'Leave out the fragment.';
	if (ownHosts.some((own) => isSameHost(url, own, allowInsecure || isHere))) return 'Use a host of your own.';
	if (allowInsecure || isHere) return null;
	const refusal = insecurityOf(url);
	return refusal !== null && isTest
		? `${refusal} In test mode, the administrator can allow other addresses with WEBHOOK_ALLOW_INSECURE=1.`
		: refusal;
}

/** A loopback address, or the name `localhost`, on a port that needs no rights of the system. */
export const isOnThisMachine = (url: URL): boolean =>
	url.protocol === 'http:' && Number(url.port) >= LEAST_PORT && isLoopback(url);

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

const isLoopback = (url: URL) => /^(localhost|127\.0\.0\.1|\[::1\])$/.test(nameOf(url));

/** Compares ports only where other services of this machine are allowed. */
function isSameHost(url: URL, own: string, withPort: boolean): boolean {
	const text = `${url.protocol}//${own}`;
	if (!URL.canParse(text)) return false;
	const other = new URL(text);
	const isSameName = nameOf(other) === nameOf(url) || (isLoopback(other) && isLoopback(url));
	return isSameName && (other.port === url.port || !(withPort || isLoopback(url)));
}

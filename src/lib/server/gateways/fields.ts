import { normaliseMac } from '#lib/domain/mac.ts';
import { isIPv4 } from 'node:net';
import { type EntryProblem, EntryRefused, type EntryRequest, type GatewayFacts } from './gateway.ts';

/** Characters. No real redirect is longer. */
const MAX_ENTRY_LENGTH = 8_192;
const MAX_URL_LENGTH = 2_048;

/** @throws EntryRefused if the redirect is too long or empty */
export function checkSize({ address, fields }: EntryRequest): void {
	if (address.length > MAX_ENTRY_LENGTH || String(fields).length > MAX_ENTRY_LENGTH) {
		throw new EntryRefused('too-long', `A redirect has at most ${MAX_ENTRY_LENGTH} characters`);
	}
	if (fields.size === 0) throw new EntryRefused('missing', 'The redirect has no fields');
}

/** Matches a missing value: RouterOS leaves `$(name)` in place, openNDS prints `(null)`. */
const EMPTY = /^(\(null\)|\$\([\w-]+\))?$/;

/** Returns the first value of a field; '' if it is missing. */
export function readField(fields: URLSearchParams, name: string): string {
	const value = (fields.get(name) ?? '').trim();
	return EMPTY.test(value) ? '' : value;
}

/** Returns null for ''. @throws EntryRefused if the address is invalid */
export function parseClientMac(text: string): string | null {
	if (text === '') return null;
	const mac = normaliseMac(text);
	if (mac === null) throw new EntryRefused('broken', 'The MAC address of the client is invalid');
	return mac;
}

export function parseWebAddress(text: string): string | null {
	if (text === '' || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
	const { protocol, href } = new URL(text);
	return protocol === 'http:' || protocol === 'https:' ? href : null;
}

export function decodeText(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Messages of RouterOS, FreeRADIUS and CoovaChilli. The first match counts. */
const PROBLEMS: readonly [RegExp, EntryProblem][] = [
	[/simultaneous|no more sessions|multiple logins|device/i, 'too-many-devices'],
	[/uptime limit|time limit|expired|session limit|no (more )?(time|data)|quota|traffic limit/i, 'time-over'],
	[/not responding|timeout|timed out|not ready|unavailable|internal|try again/i, 'not-ready'],
	[/invalid|password|reject|unknown user|not found|incorrect|denied/i, 'wrong-password']
];

export const classifyProblem = (message: string): EntryProblem =>
	PROBLEMS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown';

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_HOST_LENGTH = 253;

/** Normalises `host` or `host:port`; null if invalid. No gateway redirects with an IPv6 address. */
export function normaliseLoginHost(text: string): string | null {
	const [, host = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text.trim().toLowerCase()) ?? [];
	if (host.length > MAX_HOST_LENGTH || !HOST.test(host)) return null;
	if (/^[\d.]+$/.test(host) && !isIPv4(host)) return null;
	if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
	return port === undefined ? host : `${host}:${Number(port)}`;
}

/**
 * @param address `host` or `host:port`
 * @param defaultPort port of an address that names none
 * @returns `host:port` @throws EntryRefused for an address that is not registered
 */
export function requireRegisteredHost(
	{ loginHosts }: GatewayFacts,
	address: string,
	defaultPort: number
): string {
	const withPort = (host: string) => (host.includes(':') ? host : `${host}:${defaultPort}`);
	const wanted = withPort(address.toLowerCase());
	if (loginHosts.map(withPort).includes(wanted)) return wanted;
	throw new EntryRefused('foreign-host', `${wanted} is not a registered login host`);
}

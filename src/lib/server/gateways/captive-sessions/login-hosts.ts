import { isIPv4 } from 'node:net';
import { EntryRefused, type GatewayFacts } from '../gateway.ts';

/** Login hosts: the only hosts that a browser is sent to with a password. */

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_HOST_LENGTH = 253;

/**
 * Normalises `host` or `host:port` to lower case. IPv6 addresses are invalid, because no gateway redirects with one.
 * @returns null if the text is invalid
 */
export function normaliseLoginHost(text: string): string | null {
	const [, host = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text.trim().toLowerCase()) ?? [];
	if (host.length > MAX_HOST_LENGTH || !HOST.test(host)) return null;
	// Digits and dots alone must be an IPv4 address.
	if (/^[\d.]+$/.test(host) && !isIPv4(host)) return null;
	if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
	return port === undefined ? host : `${host}:${Number(port)}`;
}

/**
 * Checks that a host and port are registered.
 * @param defaultPort port of a registered host that names none
 * @returns `host:port`
 * @throws EntryRefused if they are not
 */
export function registeredHost(
	{ loginHosts }: GatewayFacts,
	host: string,
	port: number,
	defaultPort: number
): string {
	const wanted = `${host.toLowerCase()}:${port}`;
	const known = loginHosts.map((one) => (one.includes(':') ? one : `${one}:${defaultPort}`));
	if (!known.includes(wanted))
		throw new EntryRefused('foreign-host', `${wanted} is not a registered login host`);
	return wanted;
}

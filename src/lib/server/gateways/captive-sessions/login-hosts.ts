import { isIPv4 } from 'node:net';
import { EntryRefused, type GatewayFacts } from '../gateway.ts';

/**
 * Hosts that a browser may be sent to. A password travels with it, so nothing is believed of an address that came
 * through the browser but what is registered.
 */

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_HOST_LENGTH = 253;

/**
 * `host` or `host:port` in lower case. IPv6 addresses are not taken: no gateway hands one over.
 * @returns null when the text is none
 */
export function normaliseLoginHost(text: string): string | null {
	const [, host = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text.trim().toLowerCase()) ?? [];
	if (host.length > MAX_HOST_LENGTH || !HOST.test(host)) return null;
	// Numbers with dots are an address, or nothing.
	if (/^[\d.]+$/.test(host) && !isIPv4(host)) return null;
	if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
	return port === undefined ? host : `${host}:${Number(port)}`;
}

/**
 * Holds a host and port against the registered ones.
 * @param defaultPort the port of a registered host that names none
 * @returns `host:port`
 * @throws EntryRefused
 */
export function registeredHost(
	{ loginHosts }: GatewayFacts,
	host: string,
	port: number,
	defaultPort: number
): string {
	const wanted = `${host.toLowerCase()}:${port}`;
	const known = loginHosts.map((one) => (one.includes(':') ? one : `${one}:${defaultPort}`));
	if (!known.includes(wanted)) throw new EntryRefused('foreign-host', `${wanted} is not a login host`);
	return wanted;
}

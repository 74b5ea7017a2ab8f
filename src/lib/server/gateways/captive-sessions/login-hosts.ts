import { isIPv4 } from 'node:net';
import { EntryRefused, type GatewayFacts } from '../gateway.ts';

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
export function registeredHost({ loginHosts }: GatewayFacts, address: string, defaultPort: number): string {
	const withPort = (host: string) => (host.includes(':') ? host : `${host}:${defaultPort}`);
	const wanted = withPort(address.toLowerCase());
	if (loginHosts.map(withPort).includes(wanted)) return wanted;
	throw new EntryRefused('foreign-host', `${wanted} is not a registered login host`);
}

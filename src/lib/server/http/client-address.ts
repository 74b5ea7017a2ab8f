import type { IncomingMessage } from 'node:http';

/**
 * ADDRESS_HEADER and XFF_DEPTH by the rules of adapter-node, which API calls bypass:
 * https://svelte.dev/docs/kit/adapter-node#Environment-variables
 */
export interface ProxySettings {
	/** Lower case; "" if unset. */
	addressHeader: string;
	/** Position of the client in X-Forwarded-For, counted from the end. */
	xffDepth: number;
}

export const readProxySettings = (env: Readonly<Record<string, string | undefined>>): ProxySettings => ({
	addressHeader: (env['ADDRESS_HEADER'] ?? '').toLowerCase(),
	xffDepth: Number.parseInt(env['XFF_DEPTH'] ?? '1', 10)
});

/** @throws Error if the address header is missing or has too few addresses */
export function addressOf(
	{ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
	{ addressHeader, xffDepth }: ProxySettings
): string {
	if (addressHeader === '') return socket.remoteAddress ?? '';
	const value = headers[addressHeader];
	if (value === undefined) throw new Error(`The header ${addressHeader} is missing`);
	const list = String(value);
	if (addressHeader !== 'x-forwarded-for') return list;
	const address = list.split(',').at(-xffDepth);
	if (address === undefined || !(xffDepth >= 1)) throw new Error(`There are not ${xffDepth} addresses`);
	return address.trim();
}

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK_ADDRESS = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i;
const FORWARDED = /^(forwarded|via|x-forwarded-.*|x-real-ip)$/i;

/**
 * Whether a program on this machine sent the request to it: from a loopback address, to a loopback name, so that no
 * page of another site reached us by a name of its own (DNS rebinding), and through no proxy, behind which every
 * visitor has a loopback address.
 */
export const isLocalRequest = (headers: Headers, address: string): boolean =>
	LOOPBACK_ADDRESS.test(address) &&
	LOOPBACK_HOST.test(headers.get('host') ?? '') &&
	![...headers.keys()].some((name) => FORWARDED.test(name));

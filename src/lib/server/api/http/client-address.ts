import type { IncomingMessage } from 'node:http';

/**
 * Settings of adapter-node for proxies that name the client (ADDRESS_HEADER, XFF_DEPTH), by its rules:
 * https://svelte.dev/docs/kit/adapter-node#Environment-variables. Calls to the API do not pass through adapter-node.
 */
export interface ProxySettings {
	/** In lower case; "" if none is set. */
	addressHeader: string;
	/** Position of the client's address in X-Forwarded-For, counted from its end. */
	xffDepth: number;
}

export const readProxySettings = (env: Readonly<Record<string, string | undefined>>): ProxySettings => ({
	addressHeader: (env['ADDRESS_HEADER'] ?? '').toLowerCase(),
	xffDepth: Number.parseInt(env['XFF_DEPTH'] ?? '1', 10)
});

/** @throws Error if the header that names addresses is missing or names too few */
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

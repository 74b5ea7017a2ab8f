import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/**
 * What adapter-node reads from the environment about proxies and bodies, by its rules
 * (https://svelte.dev/docs/kit/adapter-node#Environment-variables): calls of the API do not come through it, and must be
 * taken as it would take them. It has refused values that mean nothing before this is read.
 */
export interface AdapterSettings {
	/** Headers, in small letters; "" when none is set. */
	addressHeader: string;
	hostHeader: string;
	portHeader: string;
	/** Which address of X-Forwarded-For counts, from its end. */
	xffDepth: number;
	/** Bytes. */
	bodySizeLimit: number;
}

const UNITS: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

export function readAdapterSettings(env: Readonly<Record<string, string | undefined>>): AdapterSettings {
	const header = (name: string) => (env[name] ?? '').toLowerCase();
	const size = env['BODY_SIZE_LIMIT'] ?? '512K';
	const unit = UNITS[size.slice(-1).toUpperCase()];
	return {
		addressHeader: header('ADDRESS_HEADER'),
		hostHeader: header('HOST_HEADER'),
		portHeader: header('PORT_HEADER'),
		xffDepth: Number.parseInt(env['XFF_DEPTH'] ?? '1', 10),
		bodySizeLimit: unit === undefined ? Number(size) : Number(size.slice(0, -1)) * unit
	};
}

/** @throws Error when the header that names addresses is missing, or names too few */
export function addressOf(
	{ headers, socket }: IncomingMessage,
	{ addressHeader, xffDepth }: AdapterSettings
): string {
	if (addressHeader === '') return socket.remoteAddress ?? '';
	const named = headerOf(headers, addressHeader);
	if (named === null) throw new Error(`The header ${addressHeader} is missing`);
	if (addressHeader !== 'x-forwarded-for') return named;
	const address = named.split(',').at(-xffDepth);
	if (address === undefined || !(xffDepth >= 1)) throw new Error(`There are not ${xffDepth} addresses`);
	return address.trim();
}

/** The host by which the client knows this server, with its port if that is not the usual one. */
export function hostOf(headers: IncomingHttpHeaders, settings: AdapterSettings): string {
	const host = (settings.hostHeader && headerOf(headers, settings.hostHeader)) || headers.host || '';
	const port = settings.portHeader && headerOf(headers, settings.portHeader);
	const address = `https://${host}${port ? `:${port}` : ''}`;
	return URL.canParse(address) ? new URL(address).host : (headers.host ?? '');
}

/** Of a header that came more than once, all that it said. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
	const value = headers[name];
	return Array.isArray(value) ? value.join(', ') : (value ?? null);
}

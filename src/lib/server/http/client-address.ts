import type { IncomingMessage } from 'node:http';
import { networksOfIp, normaliseIp } from '#lib/domain/address.ts';
import type { Base } from '../base.ts';

/**
 * From which address a request comes: the connection's, or behind a proxy the one in the header that ADDRESS_HEADER
 * names. Everything that counts, compares or stores addresses reads it here, in one spelling.
 */

export interface ProxySettings {
	/** Lower case; "" if unset. */
	addressHeader: string;
	/** Position of the client in a list of addresses, counted from the end. */
	xffDepth: number;
}

/** With the names and the meaning of adapter-node: https://svelte.dev/docs/kit/adapter-node#Environment-variables */
export const readProxySettings = (env: Readonly<Record<string, string | undefined>>): ProxySettings => ({
	addressHeader: (env['ADDRESS_HEADER'] ?? '').trim().toLowerCase(),
	xffDepth: Number.parseInt(env['XFF_DEPTH'] || '1', 10)
});

/** Each proxy adds the address that called it. Of other headers the last address counts, which the proxy has written. */
const LISTS = new Set(['x-forwarded-for', 'forwarded']);
/** Of the header, from its end: what stands before a proxy's own part may come from anybody, and be long. */
const MAX_READ = 1_000;

/** Returns the text that should be the client's address; null if the header is missing or has too few addresses. */
function findAddress(headers: IncomingMessage['headers'], settings: ProxySettings): string | null {
	const { addressHeader, xffDepth } = settings;
	const depth = LISTS.has(addressHeader) ? xffDepth : 1;
	const value = String(headers[addressHeader] ?? '').slice(-MAX_READ);
	// A comma inside quotes separates nothing (RFC 9110, section 5.6.4).
	const items = value.match(/(?:"(?:\\.|[^"\\])*"|[^,])+/g) ?? [];
	const addresses = items.map((item) => item.trim()).filter((item) => item !== '');
	const address = depth >= 1 ? addresses.at(-depth) : undefined;
	if (address === undefined || addressHeader !== 'forwarded') return address ?? null;
	return /(?:^|;)\s*for\s*=\s*("[^"]*"|[^\s;]*)/i.exec(address)?.[1] ?? null;
}

/** A request as Node has it; null for one that did not come over the network. */
type NodeRequest = Pick<IncomingMessage, 'headers' | 'socket'>;

/** Returns the client's address in its one spelling; null if it is not known. */
export type ReadAddress = (request: NodeRequest) => string | null;

const MAX_LOGGED = 100;

/**
 * Warns once if a header is no address, and once if it is missing, because all such clients count as one network. A
 * request can come around the proxy, for example of a program that watches the server.
 */
export function createAddressReader(
	env: Readonly<Record<string, string | undefined>>,
	log: Pick<Base['log'], 'warn'>
): ReadAddress {
	const settings = readProxySettings(env);
	const warned = new Set<string>();
	function warn(problem: string, details: object): void {
		if (warned.has(problem)) return;
		warned.add(problem);
		log.warn(details, `${problem}: clients without an address count as one network`);
	}
	return ({ headers, socket }) => {
		if (settings.addressHeader === '') return normaliseIp(socket.remoteAddress ?? '');
		const text = findAddress(headers, settings);
		const details = { header: settings.addressHeader, depth: settings.xffDepth };
		if (text === null) {
			warn('a request lacks the address that ADDRESS_HEADER and XFF_DEPTH name', details);
			return null;
		}
		const address = normaliseIp(text);
		if (address === null)
			warn('ADDRESS_HEADER is no address', { ...details, value: text.slice(0, MAX_LOGGED) });
		return address;
	};
}

/**
 * Returns the network that is counted for a client: an IPv4 address, or the /64 of an IPv6 address. All clients
 * without an address are one network.
 */
export const networkOf = (address: string | null): string =>
	address === null ? 'unknown' : networksOfIp(address)[0];

const FORWARDED = ['x-forwarded-for', 'forwarded'];

/**
 * Warns once if a proxy hides the addresses of buyers: at the start, because only a proxy serves https, or at the first
 * forwarded request.
 */
export function createProxyWarning(
	{ config, log }: Pick<Base, 'config' | 'log'>,
	env: Readonly<Record<string, string | undefined>>
): (request: Request) => void {
	let isDone = readProxySettings(env).addressHeader !== '';
	function warn(sign: string): void {
		isDone = true;
		log.warn(`${sign}, but ADDRESS_HEADER is not set: all buyers behind a proxy count as one network`);
	}
	if (!isDone && config.origin?.startsWith('https:')) warn('ORIGIN is https');
	return ({ headers }) => {
		if (isDone) return;
		const header = FORWARDED.find((name) => headers.has(name));
		if (header !== undefined) warn(`a request has the header ${header}`);
	};
}

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK_ADDRESS = /^(127\.\d+\.\d+\.\d+|::1)$/;
const OF_PROXIES = /^(forwarded|via|x-forwarded-.*|x-real-ip)$/i;

/**
 * Whether a program on this machine sent the request to it: from a loopback address, to a loopback name, so that no
 * page of another site reached us by a name of its own (DNS rebinding), and through no proxy, behind which every
 * visitor has a loopback address.
 */
export const isLocalRequest = (headers: Headers, address: string | null): boolean =>
	LOOPBACK_ADDRESS.test(address ?? '') &&
	LOOPBACK_HOST.test(headers.get('host') ?? '') &&
	![...headers.keys()].some((name) => OF_PROXIES.test(name));

/** A device that a gateway redirected, as it says itself: anybody can write the MAC address of another. */
export interface RedirectedDevice {
	/** null if the gateway does not name it. */
	mac: string | null;
	/** The order is one of the first of its redirect. */
	isFirst: boolean;
}

/** Prompts that a device may leave unpaid before it counts like its network. */
export const FIRST_PROMPTS = 2;

/** Pages tell the API of this process which device orders. The API reads it from pages only. */
export const DEVICE_HEADER = 'airtill-device';

export const writeDevice = ({ mac, isFirst }: RedirectedDevice): string =>
	`${isFirst ? 'first' : 'later'} ${mac ?? ''}`.trim();

export function readDevice(header: string | undefined): RedirectedDevice | null {
	if (header === undefined) return null;
	const [which, mac = null] = header.split(' ');
	return { mac, isFirst: which === 'first' };
}

type SecurityEvent =
	| 'signed in'
	| 'sign-in refused'
	| 'signed out'
	| 'sign-in sessions ended'
	| 'password changed'
	| 'second factor added'
	| 'second factor removed'
	| 'API key created'
	| 'API key revoked'
	| 'API request refused'
	| 'gateway key refused'
	| 'page refused';

/** A page's event has this form. */
interface Source {
	locals: { app: Pick<Base, 'log'>; requestId: string; clientAddress(): string | null };
}

interface Details {
	account?: number | null;
	/** The method of a sign-in. */
	by?: 'password' | 'link' | 'second factor';
	reason?: string;
	keyId?: number;
	gateway?: string;
}

/** Logs who got access and who was refused. Never what was typed: people type passwords as email addresses. */
export function logSecurity(source: Source, event: SecurityEvent, details: Details): void {
	const { app, requestId, clientAddress } = source.locals;
	const network = networkOf(clientAddress());
	app.log.info({ part: 'security', request: requestId, network, ...details }, event);
}

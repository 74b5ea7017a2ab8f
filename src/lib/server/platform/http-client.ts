import { X509Certificate } from 'node:crypto';
import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { type LookupFunction, type Socket, isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { isPublicAddress } from '#lib/domain/address.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';
import { Resolver, lookup as systemLookup } from 'node:dns/promises';

/**
 * HTTP to other machines: agents with limits, one client without redirects and retries for operators, gateways and
 * SMS providers, and name lookups that refuse addresses of internal networks (SSRF).
 */

export interface HttpRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	url: string;
	headers: Record<string, string>;
	body?: string;
}

export type HttpOutcome =
	| { kind: 'response'; status: number; headers: Record<string, string>; text: string }
	/** `sent: false`: no connection, so nothing arrived. `untrusted`: the server's certificate was refused. */
	| { kind: 'failure'; cause: 'timeout' | 'network' | 'too_large'; sent: boolean; untrusted?: boolean };

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 1024 * 1024;
/** Per host. */
const MAX_CONNECTIONS = 256;
/** Servers close idle connections, and a request that meets such a close is lost. */
const IDLE_MS = 4_000;

interface Agents {
	http: http.Agent;
	https: https.Agent;
	destroy(): void;
}

/** @param options how to connect. The lookup is not called for an address in a URL. */
export function createAgents(options: https.AgentOptions & { lookup?: LookupFunction }): Agents {
	const agents = { http: new http.Agent(options), https: new https.Agent(options) };
	const destroy = () => Object.values(agents).forEach((agent) => agent.destroy());
	return { ...agents, destroy };
}

const connected = new WeakSet<Socket>();

/**
 * Sends one request; returns the response without its body, which the caller must read or destroy. Skips interim responses
 * (RFC 9110, 15.2) as node:http does; undici 8 breaks the connection at a 100 that it has not asked for.
 * @param limits.signal ends the request, and the response
 * @throws Unavailable with its cause; `sent: false`: there was no connection, so no byte of it was sent
 */
export async function sendRequest(
	agents: Agents,
	{ method, url, headers, body }: HttpRequest,
	{ signal, connectMs }: { signal: AbortSignal; connectMs: number }
): Promise<IncomingMessage> {
	let sent = false;
	let connecting: NodeJS.Timeout | undefined;
	try {
		const isSecure = new URL(url).protocol === 'https:';
		const request = (isSecure ? https : http).request(url, {
			agent: isSecure ? agents.https : agents.http,
			method,
			headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
			signal
		});
		// A connection can break after the response, too: its reader hears of that.
		request.on('error', () => {});
		request.once('socket', (socket) => {
			const ready = () => {
				connected.add(socket);
				clearTimeout(connecting);
				sent = true;
			};
			if (connected.has(socket)) return ready();
			connecting = setTimeout(
				() => request.destroy(new Unavailable('no connection in time', { reason: 'timeout' })),
				connectMs
			);
			socket.once(isSecure ? 'secureConnect' : 'connect', ready);
		});
		request.end(body);
		return await new Promise((resolve, reject) => {
			request.once('response', resolve);
			request.once('error', reject);
			// The only sign of an unasked 101.
			request.once('close', () => reject(new Error('closed without a response')));
		});
	} catch (error) {
		throw new Unavailable('no response', { sent, cause: error });
	} finally {
		clearTimeout(connecting);
	}
}

export type HttpClient = ReturnType<typeof createHttpClient>;

/**
 * HTTP client for operators, gateways and SMS providers: one request, no redirects, no retries. Failures are outcomes,
 * never exceptions; `sent` decides between `refused` and `uncertain`.
 * @param options.timeoutMs for the request and its response together
 * @param options.certificate PEM. Accepts only a server with this certificate, whatever its name, or one that this
 * authority signed for its name. Without it, any public authority is accepted.
 * @param options.publicBy connects to public addresses only, and finds those of names with it
 */
export function createHttpClient({
	timeoutMs,
	certificate,
	publicBy
}: {
	timeoutMs: number;
	certificate?: string;
	publicBy?: Resolve;
}) {
	const agents = createAgents({
		keepAlive: true,
		timeout: IDLE_MS,
		maxSockets: MAX_CONNECTIONS,
		...(certificate !== undefined && pinnedTo(certificate)),
		...(publicBy && { lookup: guardedLookup(publicBy, isPublicAddress) })
	});

	let isStopped = false;

	async function exchange(request: HttpRequest): Promise<HttpOutcome> {
		if (isStopped || (publicBy && isInternal(request.url)))
			return { kind: 'failure', cause: 'network', sent: false };
		const limit = AbortSignal.timeout(timeoutMs);
		try {
			const answer = await sendRequest(agents, request, { signal: limit, connectMs: CONNECT_TIMEOUT_MS });
			const names = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
			const text = textOf(await wholeBody(answer));
			return { kind: 'response', status: answer.statusCode ?? 0, headers: Object.fromEntries(names), text };
		} catch (error) {
			const sent = !(error instanceof Unavailable) || error.sent;
			const why = error instanceof Unavailable ? (error.cause ?? error) : error;
			const cause = limit.aborted ? 'timeout' : causeOf(why);
			return { kind: 'failure', cause, sent, untrusted: isUntrusted(why) };
		}
	}

	return {
		send: exchange,
		/** Ends the requests that run. Later ones are not sent. */
		async stop(): Promise<void> {
			isStopped = true;
			agents.destroy();
		}
	};
}

async function wholeBody(answer: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of answer as AsyncIterable<Buffer>) {
		length += chunk.length;
		if (length > MAX_BODY_BYTES) throw new Unavailable('too large', { reason: 'too_large' });
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

/**
 * Decodes a body by its bytes, whatever its headers say: UTF-8 or UTF-16, with or without a byte order mark, or any of these
 * packed with gzip, which proxies forget to unpack.
 */
export function textOf(bytes: Uint8Array): string {
	const plain = unpacked(bytes);
	const [first, second] = plain;
	const isText = (value: number | undefined) => value !== undefined && value > 0 && value < 0x80;
	const isLittle = (first === 0xff && second === 0xfe) || (isText(first) && second === 0);
	const isBig = (first === 0xfe && second === 0xff) || (first === 0 && isText(second));
	return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(plain);
}

function unpacked(bytes: Uint8Array): Uint8Array {
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
	try {
		return gunzipSync(bytes, { maxOutputLength: MAX_BODY_BYTES });
	} catch {
		return bytes;
	}
}

function pinnedTo(
	pem: string
): Required<Pick<ConnectionOptions, 'ca' | 'allowPartialTrustChain' | 'checkServerIdentity'>> {
	const { fingerprint256 } = new X509Certificate(pem);
	return {
		ca: pem,
		allowPartialTrustChain: true,
		checkServerIdentity: (host, shown) =>
			shown.fingerprint256 === fingerprint256 ? undefined : checkServerIdentity(host, shown)
	};
}

const codeOf = (error: unknown): string =>
	error instanceof Error && 'code' in error ? String(error.code) : '';

/** Node looks up names only, so the lookup does not see an address in a URL. */
function isInternal(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
	return isIP(host) !== 0 && !isPublicAddress(host);
}

/** Certificate errors of Node.js and OpenSSL (nodejs.org, "TLS: X509 certificate error codes"). */
const isUntrusted = (error: unknown): boolean =>
	/^(ERR_TLS_CERT_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(codeOf(error));

function causeOf(error: unknown): 'timeout' | 'network' | 'too_large' {
	if (error instanceof Unavailable && error.reason === 'too_large') return error.reason;
	const isLate = error instanceof Unavailable ? error.reason === 'timeout' : codeOf(error) === 'ETIMEDOUT';
	return isLate ? 'timeout' : 'network';
}

export interface Address {
	address: string;
	family: 4 | 6;
}

export type Resolve = (hostname: string) => Promise<Address[]>;

type LookupFault = 'address_not_allowed' | 'name_not_found';

export const isLookupFault = (reason: string): reason is LookupFault =>
	reason === 'address_not_allowed' || reason === 'name_not_found';

const fail = (reason: LookupFault, cause?: unknown) =>
	new Unavailable(reason, { reason, sent: false, cause });

/**
 * Creates a lookup for `net.connect` that checks every address of a name at each connect (DNS rebinding). One address
 * that is not allowed refuses the name, because Node chooses the address.
 */
export function guardedLookup(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
	return (hostname, options, callback) => {
		resolve(hostname).then(
			(addresses) => {
				const [first] = addresses;
				if (!first) return callback(fail('name_not_found'), '', 0);
				if (!addresses.every(({ address }) => isAllowed(address))) {
					return callback(fail('address_not_allowed'), '', 0);
				}
				if (options.all) callback(null, addresses);
				else callback(null, first.address, first.family);
			},
			(cause: unknown) => callback(fail('name_not_found', cause), '', 0)
		);
	};
}

const RESOLVE_TIMEOUT_MS = 3_000;
const RESOLVE_TRIES = 2;

/** Asks the name server. The system's lookup includes local names and has four threads for the whole process. */
export async function resolvePublicly(hostname: string): Promise<Address[]> {
	const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: RESOLVE_TRIES });
	const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
	if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
	return [
		...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 }) as const),
		...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 }) as const)
	];
}

export async function resolveLocally(hostname: string): Promise<Address[]> {
	const found = await systemLookup(hostname, { all: true });
	return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { isPublicAddress } from '#lib/server/platform/ssrf/public-addresses.ts';
import { AddressNotAllowed, guardedLookup, type Resolve } from '#lib/server/platform/ssrf/ssrf-lookup.ts';

export interface OperatorRequest {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	url: string;
	headers: Record<string, string>;
	body?: string;
}

export type HttpOutcome =
	| { kind: 'answer'; status: number; headers: Record<string, string>; text: string }
	/** `sent: false`: no connection, so nothing arrived. `untrusted`: the server's certificate was refused. */
	| { kind: 'failure'; cause: 'timeout' | 'network' | 'too_large'; sent: boolean; untrusted?: boolean };

const CONNECT_TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 1024 * 1024;
/** Per operator. */
const MAX_CONNECTIONS = 32;

export type OperatorHttp = ReturnType<typeof createOperatorHttp>;

/**
 * HTTP client for operators: one request, no redirects, no retries. Failures are outcomes, never exceptions;
 * `sent` decides between `refused` and `uncertain`.
 * @param options.timeoutMs for the request and its response together
 * @param options.certificate PEM. Accepts only a server with this certificate, whatever its name, or one that this
 * authority signed for its name. Without it, any public authority is accepted.
 * @param options.publicBy connects to public addresses only, and finds those of names with it
 */
export function createOperatorHttp({
	timeoutMs,
	certificate,
	publicBy
}: {
	timeoutMs: number;
	certificate?: string;
	publicBy?: Resolve;
}) {
	let opened: ReturnType<typeof load> | null = null;

	async function load() {
		const { Agent, request } = await import('undici');
		const dispatcher = new Agent({
			connect: {
				timeout: CONNECT_TIMEOUT_MS,
				...(certificate !== undefined && pinnedTo(certificate)),
				...(publicBy && { lookup: guardedLookup(publicBy, isPublicAddress) })
			},
			connections: MAX_CONNECTIONS,
			pipelining: 1,
			headersTimeout: timeoutMs,
			bodyTimeout: timeoutMs
		});
		return { dispatcher, request };
	}

	return {
		/** Loads undici at start, so that the first buyer does not wait for it. */
		async open(): Promise<void> {
			await (opened ??= load());
		},
		async send({ method, url, headers, body }: OperatorRequest): Promise<HttpOutcome> {
			if (publicBy && isInternal(url)) return { kind: 'failure', cause: 'network', sent: false };
			const { dispatcher, request } = await (opened ??= load());
			const limit = AbortSignal.timeout(timeoutMs);
			try {
				const answer = await request(url, {
					dispatcher,
					method,
					headers,
					signal: limit,
					// Otherwise undici may repeat a request after a broken connection.
					idempotent: false,
					...(body === undefined ? {} : { body })
				});
				const text = await read(answer.body);
				if (text === null) return { kind: 'failure', cause: 'too_large', sent: true };
				return { kind: 'answer', status: answer.statusCode, headers: flat(answer.headers), text };
			} catch (error) {
				const sent = !neverConnected(error);
				const cause = limit.aborted ? 'timeout' : causeOf(error);
				return { kind: 'failure', cause, sent, untrusted: isUntrusted(error) };
			}
		},
		async stop(): Promise<void> {
			if (opened) await (await opened).dispatcher.destroy();
		}
	};
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

async function read(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string | null> {
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of body) {
		length += chunk.length;
		if (length > MAX_BODY_BYTES) {
			body.destroy();
			return null;
		}
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString('utf8');
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
	return Object.fromEntries(
		Object.entries(headers).map(([name, value]) => [
			name,
			Array.isArray(value) ? value.join(', ') : (value ?? '')
		])
	);
}

const codeOf = (error: unknown): string =>
	error instanceof Error && 'code' in error ? String(error.code) : '';

/** Node looks up names only, so the lookup does not see an address in a URL. */
function isInternal(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
	return isIP(host) !== 0 && !isPublicAddress(host);
}

/** Errors while connecting: no byte of the request was sent. */
const neverConnected = (error: unknown): boolean =>
	isUntrusted(error) ||
	error instanceof AddressNotAllowed ||
	/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_)/.test(
		codeOf(error)
	);

/** Certificate errors of Node.js and OpenSSL (nodejs.org, "TLS: X509 certificate error codes"). */
const isUntrusted = (error: unknown): boolean =>
	/^(ERR_TLS_CERT_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(codeOf(error));

const causeOf = (error: unknown): 'timeout' | 'network' =>
	/TIMEOUT|ETIMEDOUT/.test(codeOf(error)) ? 'timeout' : 'network';

export function jsonObject(text: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === 'object' && value !== null && !Array.isArray(value)
			? (value as Record<string, unknown>)
			: null;
	} catch {
		return null;
	}
}

/** Returns a member that is an object or array; otherwise an empty object. */
export function member(object: unknown, name: string): Record<string, unknown> {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns a string or number member as a string; otherwise null. */
export function textMember(object: unknown, name: string): string | null {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	if (typeof value === 'string') return value;
	return typeof value === 'number' ? String(value) : null;
}

/** Returns the seconds of Retry-After, at most an hour; null for other forms. */
export function retryAfterSeconds(headers: Record<string, string>): number | null {
	const seconds = Number(headers['retry-after'] ?? NaN);
	return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3_600) : null;
}

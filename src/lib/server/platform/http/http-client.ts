import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions } from 'node:tls';
import { isPublicAddress } from '#lib/domain/ip-address.ts';
import { AddressNotAllowed, guardedLookup, type Resolve } from '#lib/server/platform/ssrf/ssrf-lookup.ts';

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
			bodyTimeout: timeoutMs,
			maxResponseSize: MAX_BODY_BYTES
		});
		return { dispatcher, request };
	}

	async function exchange({ method, url, headers, body }: HttpRequest): Promise<HttpOutcome> {
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
			const { statusCode: status, headers: received } = answer;
			const text = await answer.body.text();
			const names = Object.entries(received).map(([name, value]) => [name, String(value)]);
			return { kind: 'response', status, headers: Object.fromEntries(names), text };
		} catch (error) {
			const sent = !neverConnected(error);
			const cause = limit.aborted ? 'timeout' : causeOf(error);
			return { kind: 'failure', cause, sent, untrusted: isUntrusted(error) };
		}
	}

	return {
		/** Loads undici at start, so that the first buyer does not wait for it. */
		async open(): Promise<void> {
			await (opened ??= load());
		},
		send: exchange,
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

function causeOf(error: unknown): 'timeout' | 'network' | 'too_large' {
	if (codeOf(error) === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return 'too_large';
	return /TIMEOUT|ETIMEDOUT/.test(codeOf(error)) ? 'timeout' : 'network';
}

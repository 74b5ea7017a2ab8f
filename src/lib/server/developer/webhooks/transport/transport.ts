import type { Agent } from 'undici';
import {
	AddressNotAllowed,
	guardedLookup,
	NameNotFound,
	resolveLocally,
	resolvePublicly,
	type Resolve
} from '#lib/server/platform/ssrf/ssrf-lookup.ts';
import { isPublicAddress } from '#lib/domain/ip-address.ts';
import { urlRefusal, type UrlRules } from './url-rules.ts';

type Failure =
	| 'timeout'
	| 'address_not_allowed'
	| 'name_not_found'
	| 'connection_failed'
	| 'certificate_invalid'
	| 'response_invalid'
	| 'interrupted';

export type Outcome =
	{ statusCode: number; retryAfter: string | null; response: string } | { failure: Failure };

/** For name lookup, connection and response together. */
export const TOTAL_TIMEOUT_MS = 15_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
export const KEPT_RESPONSE_BYTES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;

export type Transport = ReturnType<typeof createTransport>;

/** Sends requests without redirects, proxies, decompression, or shared cookies and connections. */
export function createTransport(
	rules: UrlRules & { resolve?: Resolve; isAllowed?: (address: string) => boolean }
) {
	const { allowInsecure, resolve = allowInsecure ? resolveLocally : resolvePublicly } = rules;
	const isAllowed = rules.isAllowed ?? (allowInsecure ? () => true : isPublicAddress);
	const lookup = guardedLookup(resolve, isAllowed);
	return {
		/** Never throws. @param signal aborts the request with the outcome `interrupted` */
		async send(
			{ url, headers, body }: { url: string; headers: Record<string, string>; body: string },
			signal: AbortSignal
		): Promise<Outcome> {
			if (urlRefusal(url, rules) !== null) return { failure: 'address_not_allowed' };
			const limit = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
			let dispatcher: Agent | null = null;
			try {
				// Loads at the first delivery: most installations have no webhooks.
				const { Agent, request } = await import('undici');
				// An agent per request reuses no connection of another endpoint or an earlier address check.
				dispatcher = new Agent({
					connect: { lookup, rejectUnauthorized: true, timeout: TOTAL_TIMEOUT_MS },
					pipelining: 0,
					maxHeaderSize: MAX_HEADER_BYTES
				});
				const answer = await request(url, {
					dispatcher,
					method: 'POST',
					headers,
					body,
					signal: AbortSignal.any([limit, signal])
				});
				const retryAfter = answer.headers['retry-after'];
				return {
					statusCode: answer.statusCode,
					retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
					response: await beginning(answer.body)
				};
			} catch (error) {
				if (signal.aborted) return { failure: 'interrupted' };
				return { failure: limit.aborted ? 'timeout' : failureOf(error) };
			} finally {
				void dispatcher?.destroy().catch(() => {});
			}
		}
	};
}

/** Returns the first kilobyte as text. Reads up to MAX_RESPONSE_BYTES, so that ordinary receivers can finish. */
async function beginning(body: AsyncIterable<Buffer>): Promise<string> {
	const kept: Buffer[] = [];
	let length = 0;
	for await (const chunk of body) {
		if (length < KEPT_RESPONSE_BYTES) kept.push(chunk.subarray(0, KEPT_RESPONSE_BYTES - length));
		length += chunk.length;
		if (length >= MAX_RESPONSE_BYTES) break;
	}
	return new TextDecoder().decode(Buffer.concat(kept));
}

function failureOf(error: unknown): Failure {
	if (error instanceof AddressNotAllowed) return 'address_not_allowed';
	if (error instanceof NameNotFound) return 'name_not_found';
	const code = error instanceof Error && 'code' in error ? String(error.code) : '';
	if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code)) {
		return 'certificate_invalid';
	}
	if (/^(HPE_|UND_ERR_(HEADERS_OVERFLOW|INVALID|RES_|RESPONSE))/.test(code)) return 'response_invalid';
	return 'connection_failed';
}

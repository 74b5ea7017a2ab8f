import type { IncomingMessage } from 'node:http';
import { createAgents, NotAnswered, sendRequest } from '#lib/server/platform/http/http-client.ts';
import {
	AddressNotAllowed,
	guardedLookup,
	NameNotFound,
	resolveLocally,
	resolvePublicly,
	type Resolve
} from '#lib/server/platform/ssrf/ssrf-lookup.ts';
import { isPublicAddress } from '#lib/domain/ip-address.ts';
import { isOnThisMachine, urlRefusal, type UrlRules } from './url-rules.ts';

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

/** For name lookup, connection and the head of the response together. */
export const TOTAL_TIMEOUT_MS = 15_000;
/** The status has been decided by then. */
const BODY_TIMEOUT_MS = 3_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
export const KEPT_RESPONSE_BYTES = 1024;

export type Transport = ReturnType<typeof createTransport>;

/** Sends requests without redirects, proxies, decompression, or shared cookies and connections. */
export function createTransport(
	rules: UrlRules & { resolve?: Resolve; isAllowed?: (address: string) => boolean }
) {
	const { allowInsecure, resolve = allowInsecure ? resolveLocally : resolvePublicly } = rules;
	const isAllowed = rules.isAllowed ?? (allowInsecure ? () => true : isPublicAddress);
	const lookup = guardedLookup(resolve, isAllowed);
	const localLookup = guardedLookup(resolveLocally, (address) => /^(127\.|::1$)/.test(address));
	return {
		/** Never throws. @param signal aborts the request with the outcome `interrupted` */
		async send(
			{ url, headers, body }: { url: string; headers: Record<string, string>; body: string },
			signal: AbortSignal
		): Promise<Outcome> {
			if (urlRefusal(url, rules) !== null) return { failure: 'address_not_allowed' };
			const isHere = rules.allowThisMachine === true && isOnThisMachine(new URL(url));
			// Agents per request reuse no connection of another endpoint or an earlier address check.
			const agents = createAgents({ lookup: isHere ? localLookup : lookup, rejectUnauthorized: true });
			const limit = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
			try {
				const answer = await sendRequest(
					agents,
					{ method: 'POST', url, headers, body },
					{ signal: AbortSignal.any([limit, signal]), connectMs: TOTAL_TIMEOUT_MS }
				);
				return {
					statusCode: answer.statusCode ?? 0,
					retryAfter: answer.headers['retry-after'] ?? null,
					response: await beginning(answer)
				};
			} catch (error) {
				if (signal.aborted) return { failure: 'interrupted' };
				return { failure: limit.aborted ? 'timeout' : failureOf(error) };
			} finally {
				agents.destroy();
			}
		}
	};
}

/**
 * Returns the first kilobyte as text, or what came of it: the body is only for the log, and the status line has decided. Reads
 * up to MAX_RESPONSE_BYTES, so that ordinary receivers can finish.
 */
async function beginning(answer: IncomingMessage): Promise<string> {
	const kept: Buffer[] = [];
	let length = 0;
	const late = setTimeout(() => answer.destroy(), BODY_TIMEOUT_MS);
	try {
		for await (const chunk of answer as AsyncIterable<Buffer>) {
			if (length < KEPT_RESPONSE_BYTES) kept.push(chunk.subarray(0, KEPT_RESPONSE_BYTES - length));
			length += chunk.length;
			if (length >= MAX_RESPONSE_BYTES) break;
		}
	} catch {
		// Cut, endless or slow.
	} finally {
		clearTimeout(late);
	}
	return new TextDecoder().decode(Buffer.concat(kept));
}

function failureOf(thrown: unknown): Failure {
	const error = thrown instanceof NotAnswered ? thrown.cause : thrown;
	if (error instanceof AddressNotAllowed) return 'address_not_allowed';
	if (error instanceof NameNotFound) return 'name_not_found';
	const code = error instanceof Error && 'code' in error ? String(error.code) : '';
	if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code)) {
		return 'certificate_invalid';
	}
	return code.startsWith('HPE_') ? 'response_invalid' : 'connection_failed';
}

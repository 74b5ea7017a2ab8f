import { isIP } from 'node:net';
import { MAX_URL_LENGTH } from '#lib/server/contract/webhooks.ts';
import type { IncomingMessage } from 'node:http';
import { Unavailable } from '#lib/server/platform/errors.ts';
import {
	type Resolve,
	createAgents,
	guardedLookup,
	isLookupFault,
	resolveLocally,
	resolvePublicly,
	sendRequest
} from '#lib/server/platform/http-client.ts';
import { isPublicAddress } from '#lib/domain/address.ts';

/**
 * Rules for webhook URLs (wire format 5.5), checked at registration and before every attempt. Node looks up no name
 * for an IP address in the URL, so the check at connect would miss it.
 */
export interface UrlRules {
	/** Allows http, any host and any port. */
	allowInsecure: boolean;
	/**
	 * Allows http to a program on this machine, by its loopback address, from port 1024 on. Only in a sandbox with demo
	 * data, and only what was registered on this machine: services that trust it would otherwise be open to everybody.
	 */
	allowThisMachine?: boolean;
	/** True in test mode: refusals then name the setting that allows more. */
	isTest?: boolean;
	/** Addresses of this installation, as `host` or `host:port`. */
	ownHosts: readonly string[];
}

const LEAST_PORT = 1_024;
const MAX_NAME_LENGTH = 253;

/** Names that exist only inside a network. */
const INNER_SUFFIXES = ['local', 'internal', 'localhost', 'home.arpa'];
const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Returns why a valid URL is not allowed, as a sentence; null if it is. */
export function checkWebhookUrl(text: string, rules: UrlRules): string | null {
	const { allowInsecure, allowThisMachine = false, isTest, ownHosts } = rules;
	const url = new URL(text);
	const isHere = allowThisMachine && isOnThisMachine(url);
	if (text.length > MAX_URL_LENGTH || url.href.length > MAX_URL_LENGTH) {
		return `Use at most ${MAX_URL_LENGTH} characters.`;
	}
	if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'Use https.';
	if (url.username !== '' || url.password !== '') return 'Leave out the username and password.';
	if (url.href.includes('#')) return 'Leave out the fragment.';
	if (ownHosts.some((own) => isSameHost(url, own, allowInsecure || isHere))) return 'Use a host of your own.';
	if (allowInsecure || isHere) return null;
	const refusal = findInsecurity(url);
	return refusal !== null && isTest
		? `${refusal} In test mode, the administrator can allow other addresses with WEBHOOK_ALLOW_INSECURE=1.`
		: refusal;
}

/** A loopback address, or the name `localhost`, on a port that needs no rights of the system. */
const isOnThisMachine = (url: URL): boolean =>
	url.protocol === 'http:' && Number(url.port) >= LEAST_PORT && isLoopback(url);

function findInsecurity(url: URL): string | null {
	if (url.protocol !== 'https:') return 'Use https.';
	if (url.port !== '' && Number(url.port) < LEAST_PORT) return `Use port 443, or ${LEAST_PORT} and above.`;
	return checkHost(readHostName(url));
}

function checkHost(name: string): string | null {
	if (isIP(name) !== 0 || name.startsWith('[')) return 'Use a host name instead of an address.';
	const labels = name.split('.');
	if (labels.length < 2) return 'Use a full host name, e.g. "app.example.com".';
	if (name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) {
		return 'Use a valid host name.';
	}
	if (INNER_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))) {
		return 'Use a host name of the public internet.';
	}
	return null;
}

/** Drops a trailing dot: `localhost.` is `localhost`. */
const readHostName = (url: URL) => url.hostname.replace(/\.$/, '');

const isLoopback = (url: URL) => /^(localhost|127\.0\.0\.1|\[::1\])$/.test(readHostName(url));

/** Compares ports only where other services of this machine are allowed. */
function isSameHost(url: URL, own: string, withPort: boolean): boolean {
	const text = `${url.protocol}//${own}`;
	if (!URL.canParse(text)) return false;
	const other = new URL(text);
	const isSameName = readHostName(other) === readHostName(url) || (isLoopback(other) && isLoopback(url));
	return isSameName && (other.port === url.port || !(withPort || isLoopback(url)));
}

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

export interface WebhookTransport {
	rules: UrlRules;
	lookup: ReturnType<typeof guardedLookup>;
	/** For addresses of this machine. */
	localLookup: ReturnType<typeof guardedLookup>;
}

export function createWebhookTransport(
	rules: UrlRules & { resolve?: Resolve; isAllowed?: (address: string) => boolean }
): WebhookTransport {
	const { allowInsecure, resolve = allowInsecure ? resolveLocally : resolvePublicly } = rules;
	const isAllowed = rules.isAllowed ?? (allowInsecure ? () => true : isPublicAddress);
	return {
		rules,
		lookup: guardedLookup(resolve, isAllowed),
		localLookup: guardedLookup(resolveLocally, (address) => /^(127\.|::1$)/.test(address))
	};
}

/**
 * Sends a request without redirects, proxies, decompression, or shared cookies and connections. Never throws.
 * @param signal aborts the request with the outcome `interrupted`
 */
export async function postWebhook(
	{ rules, lookup, localLookup }: WebhookTransport,
	{ url, headers, body }: { url: string; headers: Record<string, string>; body: string },
	signal: AbortSignal
): Promise<Outcome> {
	if (checkWebhookUrl(url, rules) !== null) return { failure: 'address_not_allowed' };
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
			response: await readBeginning(answer)
		};
	} catch (error) {
		if (signal.aborted) return { failure: 'interrupted' };
		return { failure: limit.aborted ? 'timeout' : classifyFailure(error) };
	} finally {
		agents.destroy();
	}
}

/**
 * Returns the first kilobyte as text, or what came of it: the body is only for the log, and the status line has decided. Reads
 * up to MAX_RESPONSE_BYTES, so that ordinary receivers can finish.
 */
async function readBeginning(answer: IncomingMessage): Promise<string> {
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

function classifyFailure(thrown: unknown): Failure {
	const error = thrown instanceof Unavailable ? thrown.cause : thrown;
	if (error instanceof Unavailable && isLookupFault(error.reason)) return error.reason;
	const code = error instanceof Error && 'code' in error ? String(error.code) : '';
	if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(code)) {
		return 'certificate_invalid';
	}
	return code.startsWith('HPE_') ? 'response_invalid' : 'connection_failed';
}

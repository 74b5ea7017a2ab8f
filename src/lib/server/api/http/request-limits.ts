import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { App } from '#lib/server/app.ts';
import { MAX_ACTIVE_KEYS } from '#lib/server/developer/api-keys.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { waitSeconds, WINDOW_MS } from '#lib/server/rate-limits/rate-limits.ts';
import type { RateDecision } from '#lib/server/db/database.ts';

/** Sends draft-ietf-httpapi-ratelimit-headers and, while that is a draft, the older X-RateLimit-*. */

const WINDOW_SECONDS = WINDOW_MS / 1000;
/** All keys of an account together, as a multiple of one key: no key is limited by the others. */
export const ACCOUNT_FACTOR = MAX_ACTIVE_KEYS;
/** Calls of the pages per minute and address (IPv6: /64). Many guests share the address of their router. */
const PAGE_LIMITS = { lists: 1_200, orders: 6_000 };
/** Requests without a valid key per minute and address. */
export const MAX_FAILED_KEYS = 300;

/** Limits a key, then its account. Returns headers for the response, whatever its status. @throws RateLimited */
export async function limitCaller(
	{ config, rateLimits, clock }: App,
	{ plan, keyId, accountId }: Caller
): Promise<Record<string, string>> {
	const limit = config.rateLimits[plan];
	const accountLimit = limit * ACCOUNT_FACTOR;
	const [decision, ofAccount] = await rateLimits.takeBoth(
		{ subject: `key:${keyId}`, limit },
		{ subject: `account:${accountId}`, limit: accountLimit }
	);
	const headers = limitHeaders(plan, limit, decision, clock.now());
	if (!decision.admitted) {
		throw new RateLimited(
			`${limit} requests per minute are allowed for this API key.`,
			plan,
			decision,
			headers
		);
	}
	if (ofAccount && !ofAccount.admitted) {
		const what = `${accountLimit} requests per minute are allowed for all API keys of this account.`;
		const ofBoth = limitHeaders('account', accountLimit, ofAccount, clock.now());
		throw new RateLimited(what, 'account', ofAccount, ofBoth);
	}
	return headers;
}

/**
 * Limits what the pages of this process ask for a visitor. All visitors share the portal's key, so none may use it up
 * for the others. Reading a router or a purchase has no limit. @throws RateLimited
 */
export async function limitVisitor(
	{ rateLimits }: App,
	request: { method: string; path: string; network: string }
): Promise<void> {
	const isRead = request.method === 'GET';
	if (isRead && request.path !== '/routers') return;
	const policy = isRead ? 'lists' : 'orders';
	const decision = await rateLimits.take(`${policy}:${request.network}`, PAGE_LIMITS[policy]);
	if (!decision.admitted)
		throw new RateLimited(`Too many ${policy} from this address.`, policy, decision, {});
}

/** Counts a request without a valid key against its address, to stop key guessing. @throws RateLimited */
export async function limitAddress({ rateLimits }: App, network: string): Promise<void> {
	const decision = await rateLimits.take(`address:${network}`, MAX_FAILED_KEYS);
	if (decision.admitted) return;
	throw new RateLimited('Too many requests without a valid API key.', 'failed-keys', decision, {});
}

export class RateLimited extends AppError {
	readonly headers: Readonly<Record<string, string>>;

	constructor(what: string, policy: string, decision: RateDecision, headers: Record<string, string>) {
		const wait = waitSeconds(decision);
		super('rate_limit_exceeded', `${what} Retry in ${wait} s.`, {
			extensions: { retry_after: wait, 'violated-policies': [policy] }
		});
		this.headers = { ...headers, 'retry-after': String(wait) };
	}
}

function limitHeaders(
	policy: string,
	limit: number,
	decision: RateDecision,
	now: number
): Record<string, string> {
	return {
		'ratelimit-policy': `"${policy}";q=${limit};w=${WINDOW_SECONDS}`,
		ratelimit: `"${policy}";r=${decision.remaining};t=${waitSeconds(decision)}`,
		'x-ratelimit-limit': String(limit),
		'x-ratelimit-remaining': String(decision.remaining),
		'x-ratelimit-reset': String(Math.ceil((now + decision.resetMs) / 1000))
	};
}

import type { OpenAPIHono, z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { App } from '#lib/server/app.ts';
import type { RememberBody } from '../billing/sessions.ts';
import { type Caller, hasRole } from '#lib/server/accounts/accounts.ts';
import { requestId } from '#lib/server/platform/secrets.ts';
import { MAX_BODY_BYTES, brokeOff, securityHeaders, tooLarge } from '#lib/server/http/requests.ts';
import { type Scope, findLeastRole } from '#lib/server/contract/scopes.ts';
import { type ApiContext, type ApiEnv, findClientAddress, findOrigin, readRequestedPath } from './env.ts';
import { type ReadAddress, networkOf } from '#lib/server/http/client-address.ts';
import { authenticateKey, MAX_ACTIVE_KEYS } from '../developer/api-keys.ts';
import { noteCall } from '../developer/request-log.ts';
import { bodyLimit } from 'hono/body-limit';
import { waitOutside } from '#lib/server/http/turns.ts';
import { type RateDecision, WINDOW_MS, waitSeconds } from '#lib/server/rate-limits.ts';
import type { Base } from '../base.ts';
import { type StoredResponse, parseIdempotencyKey } from '../idempotency.ts';
import { Refused, Forbidden } from '#lib/server/platform/errors.ts';
import type { SortValues } from '#lib/server/platform/cursor.ts';
import type { Deprecation, Route } from './route.ts';

/**
 * A call of the API: the checks, the handler, and the response. The order of the checks decides which error wins:
 * 1. API key (`authenticate`): 401, also for unknown paths and methods
 * 2. rate limit (`rateLimit`): 429
 * 3. path and method (the router): 404
 * 4. account, role and scope (`access`): 403
 * 5. content type, size and syntax of the body (`jsonBody`), then query, path and fields: 400
 * 6. the object: 404 or 403, then the rules of the service: 400 (the handler)
 */

export const prepare = (app: App, readAddress: ReadAddress) => {
	const commonHeaders = { ...securityHeaders(app.config), 'cache-control': 'no-store' };
	return createMiddleware<ApiEnv>(async (c, next) => {
		const startedAt = performance.now();
		const id = requestId();
		c.set('app', app);
		c.set('readAddress', readAddress);
		c.set('requestId', id);
		c.set('headers', { ...commonHeaders, 'x-request-id': id });
		const { method } = c.req;
		const findRoute = () => formatRoute(routePath(c, -1));
		await observeRequest(app, { method, findRoute }, async () => {
			await next();
			return c.res;
		});
		const caller = c.get('caller') as Caller | undefined;
		if (!caller) return;
		noteCall(app.requestLog, {
			accountId: caller.accountId,
			keyId: caller.keyId,
			method,
			pathname: readRequestedPath(c),
			status: c.res.status,
			problem: c.get('problem') ?? null,
			durationMs: performance.now() - startedAt,
			requestId: id
		});
	});
};

/** Only middleware, which has the path `/*`, matched an unknown path. */
const formatRoute = (path: string) => (path.includes('*') ? 'none' : `/v1${path}`);

export const authenticate = createMiddleware<ApiEnv>(async (c, next) => {
	const app = c.get('app');
	try {
		c.set('caller', await authenticateKey(app.apiKeys, c.req.header('authorization') ?? null));
	} catch (error) {
		if (error instanceof Refused) await limitAddress(app, networkOf(findClientAddress(c)));
		throw error;
	}
	await next();
});

export const rateLimit = createMiddleware<ApiEnv>(async (c, next) => {
	const app = c.get('app');
	const caller = c.get('caller');
	if (caller.plan === 'portal') {
		const { method, path } = c.req;
		await limitVisitor(app, { method, path, network: networkOf(findClientAddress(c)) });
	} else {
		await limitCaller(app, caller, c.get('headers'));
	}
	await next();
});

const access = (scope: Scope) =>
	createMiddleware<ApiEnv>(async (c, next) => {
		const caller = c.get('caller');
		if (caller.suspended) throw new Forbidden('account_suspended');
		if (!hasRole(caller.role, findLeastRole(scope))) throw new Forbidden('owner_role_required');
		if (caller.scopes && !caller.scopes.has(scope)) {
			throw new Forbidden('insufficient_scope', `The API key lacks the scope ${scope}.`, {
				extensions: { required_scope: scope }
			});
		}
		await next();
	});

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;.*)?$/i;

const limited = bodyLimit({
	maxSize: MAX_BODY_BYTES,
	onError() {
		throw tooLarge(MAX_BODY_BYTES);
	}
});

/**
 * Runs before the path and query checks.
 * @throws Refused `unsupported_media_type | body_too_large | invalid_json`
 */
const jsonBody = createMiddleware<ApiEnv>(async (c, next) => {
	requireJsonType(c);
	const bytes = await waitOutside(readBytes(c));
	try {
		JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
	} catch {
		throw new Refused('invalid_json');
	}
	await next();
});

function requireJsonType({ req }: ApiContext): void {
	if (!JSON_TYPE.test(req.header('content-type') ?? '')) {
		throw new Refused('unsupported_media_type');
	}
	// The validator of @hono/zod-openapi knows fewer spellings.
	req.raw.headers.set('content-type', 'application/json');
	const encoding = req.header('content-encoding')?.trim() ?? '';
	if (!/^(identity)?$/i.test(encoding)) {
		throw new Refused(
			'unsupported_media_type',
			'Send the body uncompressed, without the header "Content-Encoding".'
		);
	}
}

async function readBytes(c: ApiContext): Promise<ArrayBuffer> {
	try {
		await limited(c, async () => undefined);
		return await c.req.arrayBuffer();
	} catch (error) {
		// Any other error means that the sender disconnected.
		throw error instanceof Refused ? error : brokeOff();
	}
}

/**
 * Sends `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and links to the reason and the successor (RFC 8288).
 * From the sunset on, the route is unknown.
 */
const deprecated = ({ since, sunset, successor }: Deprecation) =>
	createMiddleware<ApiEnv>(async (c, next) => {
		if (c.var.app.clock.now() >= Date.parse(sunset)) return c.notFound();
		await next();
		c.header('deprecation', `@${Math.floor(Date.parse(since) / 1000)}`);
		c.header('sunset', new Date(sunset).toUTCString());
		c.header('link', `<${findOrigin(c)}/docs/deprecations>; rel="deprecation"`, { append: true });
		if (successor !== null) c.header('link', `<${successor}>; rel="successor-version"`, { append: true });
		return undefined;
	});

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
type Part<R extends Route, K extends 'params' | 'query'> = Parsed<R['request'][K]>;
type SchemaOf<C> = C extends { content: { 'application/json': { schema: infer S } } } ? S : undefined;
type Body<R extends Route> = Parsed<SchemaOf<R['request']['body']>>;
type ResponseBody<R extends Route> = z.input<SchemaOf<R['responses'][keyof R['responses']]>>;

interface Call<R extends Route> {
	app: App;
	caller: Caller;
	params: Part<R, 'params'>;
	query: Part<R, 'query'>;
	body: Body<R>;
	context: ApiContext;
	/** Stores the response in the transaction of its effect. Set for requests with an Idempotency-Key. */
	remember?: RememberBody<ResponseBody<R>>;
}

interface Result<R extends Route> {
	body: ResponseBody<R>;
	/** `body` as JSON, if a handler writes it faster. */
	json?: string;
	/** 200 if the object already existed. */
	status?: 200 | 201;
	headers?: Record<string, string>;
}

export interface Endpoint {
	route: Route;
	mount(hono: OpenAPIHono<ApiEnv>): void;
}

/** Access, body and parameters are checked before the handler runs. */
export const endpoint = <R extends Route>(
	route: R,
	handle: (call: Call<R>) => Promise<Result<R>>
): Endpoint => ({
	route,
	mount(hono) {
		const middleware = [
			...(route.deprecation ? [deprecated(route.deprecation)] : []),
			access(route.scope),
			...(route.request.body ? [jsonBody] : [])
		];
		hono.openapi({ ...route.openapi, middleware }, async (c) => {
			const valid = (target: string) => c.req.valid(target as never);
			const call = {
				app: c.get('app'),
				caller: c.get('caller'),
				params: valid('param'),
				query: valid('query'),
				body: valid('json'),
				context: c
			} as Call<R>;
			const key = route.idempotent ? parseIdempotencyKey(c.req.header('idempotency-key')) : null;
			if (key !== null) return answerOnce(route, handle, call, key);
			const { body, json, status, headers } = await handle(call);
			return respond(c, buildResponse(route, body, status, json), headers);
		});
	}
});

async function answerOnce<R extends Route>(
	route: R,
	handle: (call: Call<R>) => Promise<Result<R>>,
	call: Call<R>,
	key: string
): Promise<Response> {
	const { context: c, caller, app } = call;
	const scope = { account_id: caller.accountId, method: c.req.method, path: route.path, key };
	const { replayed, ...response } = await app.idempotency.once(
		scope,
		await c.req.text(),
		async (remember) => {
			const { body, status } = await handle({
				...call,
				remember: (trx, effect, effectStatus) => remember(trx, buildResponse(route, effect, effectStatus))
			});
			return buildResponse(route, body, status);
		}
	);
	return respond(c, response, replayed ? { 'idempotent-replayed': 'true' } : {});
}

function buildResponse(
	route: Route,
	body: unknown,
	status: 200 | 201 = route.responses[201] ? 201 : 200,
	json = JSON.stringify(body)
): StoredResponse {
	const hasId = typeof body === 'object' && body !== null && 'id' in body;
	// Nothing was created with 200.
	const location =
		route.location && hasId && status === 201 ? route.location.replace('{id}', String(body.id)) : null;
	return { status, location, body: json };
}

const respond = (
	c: ApiContext,
	{ status, location, body }: StoredResponse,
	headers: Record<string, string> = {}
) =>
	new Response(body, {
		status,
		headers: {
			...c.get('headers'),
			'content-type': 'application/json; charset=utf-8',
			...(location === null ? {} : { location }),
			...headers
		}
	});

interface ListCall {
	app: App;
	query: { cursor?: string | undefined };
	context: ApiContext;
}

/** Reads a page from the position of the cursor, which fits these filters only, and links the next page. */
export async function listPage<
	P extends { data: unknown[]; next: SortValues | null },
	Id extends number | string = number
>(
	{ app, query: { cursor }, context }: ListCall,
	filters: readonly unknown[],
	read: (after: SortValues<Id> | null) => Promise<P>
) {
	const found = await read(cursor === undefined ? null : app.cursors.decode<Id>(cursor, filters));
	const next_cursor = found.next && app.cursors.encode(found.next, filters);
	const body = { data: found.data as P['data'], has_more: next_cursor !== null, next_cursor };
	return { body, headers: nextLink(context.req.url, next_cursor) };
}

/** RFC 8288; relative to the request. */
function nextLink(url: string, cursor: string | null): Record<string, string> {
	if (cursor === null) return {};
	const next = new URL(url).searchParams;
	next.set('cursor', cursor);
	return { link: `<?${next}>; rel="next"` };
}

const WINDOW_SECONDS = WINDOW_MS / 1000;
/** All keys of an account together, as a multiple of one key: no key is limited by the others. */
export const ACCOUNT_FACTOR = MAX_ACTIVE_KEYS;
/** Calls of the pages per minute and address (IPv6: /64). Many guests share the address of their router. */
const PAGE_LIMITS = { lists: 1_200, orders: 6_000 };
/** Requests without a valid key per minute and address. */
export const MAX_FAILED_KEYS = 300;

/** Limits a key, then its account. Sets `headers` for the response, whatever its status. @throws Refused */
async function limitCaller(
	{ config, rateLimits, clock }: App,
	{ plan, keyId, accountId }: Caller,
	headers: Record<string, string>
): Promise<void> {
	const limit = config.rateLimits[plan];
	const accountLimit = limit * ACCOUNT_FACTOR;
	const [decision, ofAccount] = await rateLimits.takeBoth(
		{ subject: `key:${keyId}`, limit },
		{ subject: `account:${accountId}`, limit: accountLimit }
	);
	Object.assign(headers, limitHeaders(plan, limit, decision, clock.now()));
	if (!decision.admitted) {
		throw overLimit(`${limit} requests per minute are allowed for this API key.`, plan, decision);
	}
	if (ofAccount && !ofAccount.admitted) {
		const what = `${accountLimit} requests per minute are allowed for all API keys of this account.`;
		Object.assign(headers, limitHeaders('account', accountLimit, ofAccount, clock.now()));
		throw overLimit(what, 'account', ofAccount);
	}
}

/**
 * Limits what the pages of this process ask for a visitor. All visitors share the portal's key, so none may use it up
 * for the others. Reading a router or a purchase has no limit. @throws Refused
 */
async function limitVisitor({ rateLimits }: App, request: { method: string; path: string; network: string }) {
	const isRead = request.method === 'GET';
	if (isRead && request.path !== '/routers') return;
	const policy = isRead ? 'lists' : 'orders';
	const decision = await rateLimits.take(`${policy}:${request.network}`, PAGE_LIMITS[policy]);
	if (!decision.admitted) throw overLimit(`Too many ${policy} from this address.`, policy, decision);
}

/** Counts a request without a valid key against its address, to stop key guessing. @throws Refused */
export async function limitAddress({ rateLimits }: App, network: string): Promise<void> {
	const decision = await rateLimits.take(`address:${network}`, MAX_FAILED_KEYS);
	if (decision.admitted) return;
	throw overLimit('Too many requests without a valid API key.', 'failed-keys', decision);
}

function overLimit(what: string, policy: string, decision: RateDecision): Refused {
	const wait = waitSeconds(decision);
	return new Refused('rate_limit_exceeded', `${what} Retry in ${wait} s.`, {
		extensions: { retry_after: wait, 'violated-policies': [policy] }
	});
}

/** Of draft-ietf-httpapi-ratelimit-headers and, while that is a draft, the older X-RateLimit-*. */
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

interface ObservedRequest {
	method: string;
	/** Returns the pattern of the route, which is known at the end. */
	findRoute: () => string;
}

/** Clients may send any method; the rare ones share a label, so that nobody can multiply the series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export async function observeRequest<Answer extends { status: number }>(
	{ metrics }: Pick<Base, 'metrics'>,
	request: ObservedRequest,
	work: () => Promise<Answer>
): Promise<Answer> {
	if (!metrics.isOn) return work();
	const startedAt = performance.now();
	const answer = await work();
	const route = request.findRoute();
	const method = METHODS.includes(request.method) ? request.method : 'other';
	metrics.count('airtill_http_requests_total', { method, route, status: answer.status });
	metrics.observe('airtill_http_request_duration_seconds', { method, route }, startedAt);
	return answer;
}

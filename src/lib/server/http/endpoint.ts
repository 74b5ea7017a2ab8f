import type { RequestEvent, RequestHandler } from '@sveltejs/kit';
import type { z } from 'zod';
import { hasRole, type Caller } from '../api-keys/api-keys.ts';
import type { App } from '../app.ts';
import { methodsFor, type Route } from '../contract/routes.ts';
import { AppError, validationFailed } from '../errors.ts';
import type { Answer } from '../idempotency/idempotency.ts';
import type { RememberBody } from '../sessions/sessions.ts';
import { announceDeprecation, isPastSunset } from './deprecation.ts';
import { limitAddress, limitCaller, RateLimited } from './limits.ts';
import { parse, parseIdempotencyKey, parseObject, parseQuery, readJson, readJsonText } from './parse.ts';
import { problemResponse } from './problem.ts';

/**
 * Every endpoint of /v1 runs through here, in the order that fixes which error wins:
 * key -> limit -> route -> role and scope -> input -> the handler (object, rule) -> JSON.
 */

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
type Input<R extends Route, K extends keyof Route> = R extends Record<K, infer S> ? Parsed<S> : undefined;

export interface Call<R extends Route> {
	app: App;
	caller: Caller;
	params: Input<R, 'params'>;
	query: Input<R, 'query'>;
	body: Input<R, 'body'>;
	/** The query as it came, for links to this list's next page. */
	search: URLSearchParams;
	/** The host under which the call came in, with its port if it has one. */
	host: string;
	/** Aborts when the client goes away. */
	signal: AbortSignal;
	/** Stores the answer in the transaction of the effect, for a request with an Idempotency-Key. */
	remember?: RememberBody<z.input<R['response']>>;
}

export interface Result<R extends Route> {
	body: z.input<R['response']>;
	/** Where it is not the route's own: its `repeated`. */
	status?: 200 | 201;
	headers?: Record<string, string>;
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** A SvelteKit handler for one route of the contract. */
export function endpoint<R extends Route>(
	route: R,
	handle: (call: Call<R>) => Promise<Result<R>>
): RequestHandler {
	const { deprecation } = route;
	return async (event) => {
		const isGone = deprecation !== undefined && isPastSunset(deprecation, event.locals.app.clock.now());
		const response = await answer(event, async (caller) =>
			isGone ? routeNotFound(event) : serve(event, caller, route, handle)
		);
		if (deprecation && !isGone) announceDeprecation(response.headers, deprecation, event.locals.origin);
		return response;
	};
}

/** One call of an authenticated caller: role, input, then the handler, once for each Idempotency-Key. */
async function serve<R extends Route>(
	event: RequestEvent,
	caller: Caller,
	route: R,
	handle: (call: Call<R>) => Promise<Result<R>>
): Promise<Response> {
	authorise(caller, route);
	const text = route.body ? await readJsonText(event.request) : '';
	// Before path and query: what is not JSON at all is told first, at every endpoint.
	const json = route.body && readJson(text);
	const call = {
		app: event.locals.app,
		caller,
		params: route.params && parse(route.params, event.params, 'path'),
		query: route.query && parseQuery(route.query, event.url.searchParams),
		body: route.body && parseObject(route.body, json),
		search: event.url.searchParams,
		get host() {
			return event.request.headers.get('host') ?? event.url.host;
		},
		signal: event.request.signal
	} as Call<R>;
	const key = route.idempotent ? parseIdempotencyKey(event.request.headers) : null;
	if (key === null) {
		const { body, status, headers } = await handle(call);
		return jsonResponse(wireAnswer(route, body, status), headers);
	}
	const request = {
		accountId: caller.accountId,
		method: route.method,
		path: route.path,
		key,
		body: text
	};
	const result = await event.locals.app.idempotency.once(request, async (remember) => {
		const { body, status } = await handle({
			...call,
			remember: (trx, effect, effectStatus) => remember(trx, wireAnswer(route, effect, effectStatus))
		});
		return wireAnswer(route, body, status);
	});
	return jsonResponse(result, result.replayed ? { 'idempotent-replayed': 'true' } : {});
}

/** An answer as it goes over the wire, and as it is remembered. */
function wireAnswer(route: Route, body: unknown, status: 200 | 201 = route.status): Answer {
	const hasId = typeof body === 'object' && body !== null && 'id' in body;
	const location = route.location && hasId ? route.location.replace('{id}', String(body.id)) : null;
	return { status, location, body: JSON.stringify(body) };
}

function jsonResponse({ status, location, body }: Answer, headers: Record<string, string> = {}): Response {
	return new Response(body, {
		status,
		headers: {
			...JSON_HEADERS,
			// Known here, so that the server needs not send it in chunks.
			'content-length': String(Buffer.byteLength(body)),
			...headers,
			...(location === null ? {} : { location })
		}
	});
}

/** For every path and method under /v1 that the contract does not know; with the methods it does know. */
export const unknownRoute: RequestHandler = (event) =>
	answer(event, async () => {
		if (isMalformed(event.url.pathname)) {
			throw validationFailed([
				{
					in: 'path',
					pointer: '',
					code: 'invalid_format',
					detail: 'The path has malformed percent-encoding.'
				}
			]);
		}
		const path = event.url.pathname
			.replace(/\/{2,}/g, '/')
			.replace(/^\/v1/, '')
			.replace(/\/$/, '');
		const allow = methodsFor(path);
		const response = routeNotFound(event);
		if (allow.length > 0) response.headers.set('allow', allow.join(', '));
		return response;
	});

function routeNotFound(event: RequestEvent): Response {
	const what = `${methodOf(event)} ${event.url.pathname}`;
	return problemResponse(new AppError('route_not_found', `There is no ${what}.`), event.locals);
}

/** Authenticates, runs, turns whatever happens into JSON, and notes it for the caller's request log. */
async function answer(event: RequestEvent, run: (caller: Caller) => Promise<Response>): Promise<Response> {
	const startedAt = performance.now();
	let caller: Caller | null = null;
	let limits: Record<string, string> = {};
	let response: Response;
	try {
		caller = await authenticate(event);
		limits = await limitCaller(event, caller);
		response = await run(caller);
	} catch (error) {
		if (error instanceof RateLimited) limits = error.headers;
		response = errorResponse(event, error);
	}
	for (const [name, value] of Object.entries(limits)) response.headers.set(name, value);
	response.headers.set('cache-control', 'no-store');
	if (caller) noteCall(event, caller, { status: response.status, startedAt });
	return response;
}

/** The method as it was sent: TRACE comes in under another name (server-entry.js), which no client can send. */
const methodOf = ({ request }: RequestEvent): string =>
	request.method === 'UNKNOWN' ? 'TRACE' : request.method;

function noteCall(
	event: RequestEvent,
	{ accountId, keyId }: Caller,
	{ status, startedAt }: { status: number; startedAt: number }
): void {
	event.locals.app.requestLog.note({
		accountId,
		keyId,
		method: methodOf(event),
		pathname: event.url.pathname,
		status,
		durationMs: performance.now() - startedAt,
		requestId: event.locals.requestId
	});
}

async function authenticate(event: RequestEvent): Promise<Caller> {
	try {
		return await event.locals.app.apiKeys.authenticate(event.request.headers.get('authorization'));
	} catch (error) {
		if (error instanceof AppError) await limitAddress(event);
		throw error;
	}
}

function authorise(caller: Caller, route: Route): void {
	if (caller.suspended) throw new AppError('account_suspended', 'The account of this API key is suspended.');
	if (route.role === 'owner' && !hasRole(caller.role, 'owner')) {
		throw new AppError('owner_role_required', 'Only an API key with the role owner may do this.');
	}
	if (!hasRole(caller.role, route.role) || (caller.scopes && !caller.scopes.has(route.scope))) {
		throw new AppError('insufficient_scope', `The API key lacks the scope ${route.scope}.`, {
			extensions: { required_scope: route.scope }
		});
	}
}

function errorResponse(event: RequestEvent, error: unknown): Response {
	if (error instanceof AppError) {
		const response = problemResponse(error, event.locals);
		if (error.status === 401) {
			const sent = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
			response.headers.set('www-authenticate', `Bearer realm="airtill"${sent}`);
		}
		if (error.code === 'idempotency_key_in_use') response.headers.set('retry-after', '1');
		return response;
	}
	if (isTooLarge(error)) {
		return problemResponse(new AppError('body_too_large', 'The body is too large.'), event.locals);
	}
	event.locals.app.log.error({ err: error, request: event.locals.requestId }, 'request failed');
	const internal = new AppError('internal_error', 'Something failed on our side. Try again later.');
	return problemResponse(internal, event.locals);
}

/** adapter-node's own limit (BODY_SIZE_LIMIT) shows as an error while the body is read. */
const isTooLarge = (error: unknown) =>
	typeof error === 'object' && error !== null && 'status' in error && error.status === 413;

function isMalformed(path: string): boolean {
	try {
		// The result is used, because a bundler drops a call that it takes for free of effects.
		return decodeURI(path) === '';
	} catch {
		return true;
	}
}

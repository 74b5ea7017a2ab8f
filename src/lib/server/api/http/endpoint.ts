import type { z } from 'zod';
import { hasRole, type Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import type { App } from '#lib/server/app.ts';
import { methodsFor, type Route } from '../contract/routes.ts';
import { AppError, validationFailed } from '#lib/server/platform/errors.ts';
import type { Answer } from '../idempotency/idempotency.ts';
import type { RememberBody } from '#lib/server/billing/sessions/sessions.ts';
import type { ApiAnswer, ApiRequest } from './api-call.ts';
import { announceDeprecation, isPastSunset } from './deprecation.ts';
import { limitAddress, limitCaller, RateLimited } from './limits.ts';
import { parse, parseIdempotencyKey, parseObject, parseQuery, readJson, readJsonText } from './parse.ts';
import { problemAnswer } from './problem.ts';

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

/** One route of the contract and how it is answered. */
export interface Endpoint {
	route: Route;
	/** @param params what stands in the path where the route has braces */
	answer(request: ApiRequest, params: Params): Promise<ApiAnswer>;
}

export type Params = Readonly<Record<string, string>>;

const JSON_TYPE = 'application/json; charset=utf-8';

export function endpoint<R extends Route>(route: R, handle: (call: Call<R>) => Promise<Result<R>>): Endpoint {
	const { deprecation } = route;
	return {
		route,
		async answer(request, params) {
			const isGone = deprecation !== undefined && isPastSunset(deprecation, request.app.clock.now());
			const answer = await answered(request, async (caller) =>
				isGone ? routeNotFound(request) : serve(request, params, caller, route, handle)
			);
			if (deprecation && !isGone) announceDeprecation(answer.headers, deprecation, request.origin);
			return answer;
		}
	};
}

/** One call of an authenticated caller: role, input, then the handler, once for each Idempotency-Key. */
async function serve<R extends Route>(
	request: ApiRequest,
	params: Params,
	caller: Caller,
	route: R,
	handle: (call: Call<R>) => Promise<Result<R>>
): Promise<ApiAnswer> {
	authorise(caller, route);
	const text = route.body ? await readJsonText(request) : '';
	// Before path and query: what is not JSON at all is told first, at every endpoint.
	const json = route.body && readJson(text);
	const call = {
		app: request.app,
		caller,
		params: route.params && parse(route.params, params, 'path'),
		query: route.query && parseQuery(route.query, request.search),
		body: route.body && parseObject(route.body, json),
		search: request.search,
		get host() {
			return request.host;
		},
		get signal() {
			return request.signal;
		}
	} as Call<R>;
	const key = route.idempotent ? parseIdempotencyKey(request) : null;
	if (key === null) {
		const { body, status, headers } = await handle(call);
		return jsonAnswer(wireAnswer(route, body, status), headers);
	}
	const once = {
		accountId: caller.accountId,
		method: route.method,
		path: route.path,
		key,
		body: text
	};
	const result = await request.app.idempotency.once(once, async (remember) => {
		const { body, status } = await handle({
			...call,
			remember: (trx, effect, effectStatus) => remember(trx, wireAnswer(route, effect, effectStatus))
		});
		return wireAnswer(route, body, status);
	});
	return jsonAnswer(result, result.replayed ? { 'idempotent-replayed': 'true' } : {});
}

/** An answer as it goes over the wire, and as it is remembered. */
function wireAnswer(route: Route, body: unknown, status: 200 | 201 = route.status): Answer {
	const hasId = typeof body === 'object' && body !== null && 'id' in body;
	const location = route.location && hasId ? route.location.replace('{id}', String(body.id)) : null;
	return { status, location, body: JSON.stringify(body) };
}

function jsonAnswer({ status, location, body }: Answer, more: Record<string, string> = {}): ApiAnswer {
	const headers: Record<string, string> = { 'content-type': JSON_TYPE, ...more };
	if (location !== null) headers['location'] = location;
	return { status, headers, body };
}

/** For every path and method under /v1 that the contract does not know; with the methods it does know. */
export const answerUnknown = (request: ApiRequest): Promise<ApiAnswer> =>
	answered(request, async () => {
		if (isMalformed(request.pathname)) {
			throw validationFailed([
				{
					in: 'path',
					pointer: '',
					code: 'invalid_format',
					detail: 'The path has malformed percent-encoding.'
				}
			]);
		}
		const allow = methodsFor(pathBelow(request.pathname));
		const answer = routeNotFound(request);
		if (allow.length > 0) answer.headers['allow'] = allow.join(', ');
		return answer;
	});

/**
 * The path below /v1 as the contract writes it: `{base_url}` ends in a slash and paths begin with one, so simple joins
 * give `/v1//routers`. Such paths are served, not redirected, and one slash may stand at the end.
 */
export const pathBelow = (pathname: string): string =>
	(pathname.includes('//') ? pathname.replace(/\/{2,}/g, '/') : pathname)
		.slice('/v1'.length)
		.replace(/\/$/, '');

function routeNotFound(request: ApiRequest): ApiAnswer {
	const what = `${request.method} ${request.pathname}`;
	return problemAnswer(new AppError('route_not_found', `There is no ${what}.`), request);
}

/** Authenticates, runs, turns whatever happens into JSON, and notes it for the caller's request log. */
async function answered(
	request: ApiRequest,
	run: (caller: Caller) => Promise<ApiAnswer>
): Promise<ApiAnswer> {
	const startedAt = performance.now();
	let caller: Caller | null = null;
	let limits: Readonly<Record<string, string>> = {};
	let answer: ApiAnswer;
	try {
		caller = await authenticate(request);
		limits = await limitCaller(request.app, caller);
		answer = await run(caller);
	} catch (error) {
		if (error instanceof RateLimited) limits = error.headers;
		answer = errorAnswer(request, error);
	}
	Object.assign(answer.headers, limits);
	if (caller) noteCall(request, caller, { status: answer.status, startedAt });
	return answer;
}

function noteCall(
	{ app, method, pathname, requestId }: ApiRequest,
	{ accountId, keyId }: Caller,
	{ status, startedAt }: { status: number; startedAt: number }
): void {
	const durationMs = performance.now() - startedAt;
	app.requestLog.note({ accountId, keyId, method, pathname, status, durationMs, requestId });
}

async function authenticate(request: ApiRequest): Promise<Caller> {
	try {
		return await request.app.apiKeys.authenticate(request.header('authorization'));
	} catch (error) {
		if (error instanceof AppError) await limitAddress(request);
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

function errorAnswer(request: ApiRequest, error: unknown): ApiAnswer {
	if (error instanceof AppError) {
		const answer = problemAnswer(error, request);
		if (error.status === 401) {
			const sent = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
			answer.headers['www-authenticate'] = `Bearer realm="airtill"${sent}`;
		}
		if (error.code === 'idempotency_key_in_use') answer.headers['retry-after'] = '1';
		return answer;
	}
	request.app.log.error({ err: error, request: request.requestId }, 'request failed');
	const internal = new AppError('internal_error', 'Something failed on our side. Try again later.');
	return problemAnswer(internal, request);
}

function isMalformed(path: string): boolean {
	try {
		// The result is used, because a bundler drops a call that it takes for free of effects.
		return decodeURI(path) === '';
	} catch {
		return true;
	}
}

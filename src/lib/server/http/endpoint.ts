import type { RequestEvent, RequestHandler } from '@sveltejs/kit';
import type { z } from 'zod';
import { hasRole, type Caller } from '../api-keys/api-keys.ts';
import type { App } from '../app.ts';
import { methodsFor, type Route } from '../contract/routes.ts';
import { AppError, validationFailed } from '../errors.ts';
import { parse, parseBody, parseQuery } from './parse.ts';
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
	/** Aborts when the client goes away. */
	signal: AbortSignal;
}

export interface Result<R extends Route> {
	body: z.input<R['response']>;
	/** Path of what was created, for a 201. */
	location?: string;
	headers?: Record<string, string>;
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** A SvelteKit handler for one route of the contract. */
export function endpoint<R extends Route>(
	route: R,
	handle: (call: Call<R>) => Promise<Result<R>>
): RequestHandler {
	return (event) =>
		answer(event, async (caller) => {
			authorise(caller, route);
			const call = {
				app: event.locals.app,
				caller,
				params: route.params && parse(route.params, event.params, 'path'),
				query: route.query && parseQuery(route.query, event.url.searchParams),
				body: route.body && (await parseBody(route.body, event.request)),
				search: event.url.searchParams,
				signal: event.request.signal
			} as Call<R>;
			const { body, location, headers } = await handle(call);
			return new Response(JSON.stringify(body), {
				status: route.status,
				headers: { ...JSON_HEADERS, ...headers, ...(location ? { location } : {}) }
			});
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
		const error = new AppError(
			'route_not_found',
			`There is no ${event.request.method} ${event.url.pathname}.`
		);
		const response = problemResponse(error, event.locals);
		if (allow.length > 0) response.headers.set('allow', allow.join(', '));
		return response;
	});

/** Authenticates, runs, and turns whatever happens into JSON. */
async function answer(event: RequestEvent, run: (caller: Caller) => Promise<Response>): Promise<Response> {
	let response: Response;
	try {
		const caller = await event.locals.app.apiKeys.authenticate(event.request.headers.get('authorization'));
		response = await run(caller);
	} catch (error) {
		response = errorResponse(event, error);
	}
	response.headers.set('cache-control', 'no-store');
	return response;
}

function authorise(caller: Caller, route: Route): void {
	if (caller.suspended) throw new AppError('account_suspended', 'The account of this API key is suspended.');
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

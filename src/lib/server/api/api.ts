import { type Hook, OpenAPIHono } from '@hono/zod-openapi';
import { getPath } from 'hono/utils/url';
import type { App } from '#lib/server/app.ts';
import type { Endpoint } from './endpoint.ts';
import type { ReadAddress } from '../http/client-address.ts';
import {
	type ApiBindings,
	type ApiContext,
	type ApiEnv,
	findClientAddress,
	findOrigin,
	readRequestedPath
} from './env.ts';
import { RateLimited, authenticate, prepare, rateLimit } from './middleware.ts';
import { owner } from './owner.ts';
import { payments } from './payments.ts';
import { routers } from './routers.ts';
import { sessions } from './sessions.ts';
import { webhooks } from './webhooks.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { AppError, validationFailed } from '#lib/server/platform/errors.ts';
import { logSecurity } from '#lib/server/http/security-log.ts';
import { PROBLEMS, describeIssue } from '#lib/server/contract/problems.ts';

const ENDPOINTS = [...routers, ...sessions, ...payments, ...owner, ...webhooks];

export const ROUTES = ENDPOINTS.map(({ route }) => route);

export interface Api {
	fetch(request: Request, bindings: ApiBindings): Response | Promise<Response>;
}

export function createApi(
	app: App,
	readAddress: ReadAddress,
	endpoints: readonly Endpoint[] = ENDPOINTS
): Api {
	const hono = new OpenAPIHono<ApiEnv>({ getPath: readPath, defaultHook: refuseInvalid });
	hono.use(prepare(app, readAddress), authenticate, rateLimit);
	for (const endpoint of endpoints) endpoint.mount(hono);
	hono.notFound((c) => answerNotFound(c, findMethods(hono, c.req.path)));
	hono.onError(answerError);
	return { fetch: (request, bindings) => hono.fetch(request, bindings) };
}

function findMethods({ routes }: OpenAPIHono<ApiEnv>, path: string): string[] {
	const matching = routes.filter(
		({ method, path: pattern }) =>
			method !== 'ALL' && new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`).test(path)
	);
	// "/webhooks/register" is no id of "/webhooks/:id".
	const literal = matching.filter(({ path: pattern }) => pattern === path);
	const methods = literal.length > 0 ? literal : matching;
	return [...new Set(methods.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
}

/** Returns the path below /v1. Simple joins of `{base_url}` give `/v1//routers`, which is served too. */
const readPath = (request: Request): string =>
	getPath(request)
		.replace(/\/{2,}/g, '/')
		.slice('/v1'.length)
		.replace(/\/$/, '') || '/';

const TARGETS: Readonly<Record<string, 'body' | 'query' | 'path'>> = {
	json: 'body',
	query: 'query',
	param: 'path'
};

const refuseInvalid: Hook<unknown, ApiEnv, string, void> = (result) => {
	if (result.success) return;
	const sent: unknown = (result as { data?: unknown }).data;
	const location = TARGETS[result.target] ?? 'header';
	throw validationFailed(result.error.issues.flatMap((issue) => describeIssue(location, issue, sent)));
};

function answerError(error: Error, c: ApiContext): Response {
	if (error instanceof AppError) {
		if (isRefusal(error)) logRefusal(error, c);
		return sendProblem(error, c);
	}
	c.var.app.log.error({ err: error, request: c.var.requestId }, 'request failed');
	return sendProblem(new AppError('internal_error'), c);
}

/** A request without a key is not an attempt. */
const isRefusal = ({ status, code }: AppError) => status === 403 || code === 'invalid_api_key';

function logRefusal({ code, cause }: AppError, c: ApiContext): void {
	const caller = c.get('caller') as Caller | undefined;
	const source = { locals: { ...c.var, clientAddress: () => findClientAddress(c) } };
	logSecurity(source, 'API request refused', {
		account: caller?.accountId ?? null,
		...(caller ? { keyId: caller.keyId } : {}),
		reason: typeof cause === 'string' ? `${code}: ${cause}` : code
	});
}

/** Responds to an unknown path or method. `Allow` lists the methods of the path. */
function answerNotFound(c: ApiContext, allow: readonly string[]): Response {
	const path = readRequestedPath(c);
	if (isMalformed(path)) {
		const detail = 'The path has malformed percent-encoding.';
		return sendProblem(validationFailed([{ in: 'path', pointer: '', code: 'invalid_format', detail }]), c);
	}
	if (allow.length > 0) c.var.headers['allow'] = allow.join(', ');
	return sendProblem(new AppError('route_not_found', `There is no ${c.req.method} ${path}.`), c);
}

function sendProblem(error: AppError, c: ApiContext): Response {
	const { status, title, type } = PROBLEMS[error.code];
	c.set('problem', error.code);
	const body = {
		type: type ?? `${findOrigin(c)}/problems/${error.code}`,
		title,
		status,
		detail: error.message,
		code: error.code,
		request_id: c.var.requestId,
		...(error.items ? { errors: error.items } : {}),
		...error.extensions
	};
	return new Response(JSON.stringify(body), {
		status,
		headers: { ...c.var.headers, ...problemHeaders(error) }
	});
}

function problemHeaders(error: AppError): Record<string, string> {
	const sent = error.code === 'invalid_api_key' ? ', error="invalid_token"' : '';
	return {
		'content-type': 'application/problem+json',
		...(error.status === 401 ? { 'www-authenticate': `Bearer realm="airtill"${sent}` } : {}),
		...(error.code === 'idempotency_key_in_use' ? { 'retry-after': '1' } : {}),
		...(error.status === 429 ? { 'retry-after': String(error.extensions['retry_after']) } : {}),
		...(error instanceof RateLimited ? error.headers : {})
	};
}

function isMalformed(path: string): boolean {
	try {
		// Uses the result, because a bundler drops a call that seems to have no effect.
		return decodeURI(path) === '';
	} catch {
		return true;
	}
}

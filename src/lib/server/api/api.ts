import { type Hook, OpenAPIHono } from '@hono/zod-openapi';
import { getPath } from 'hono/utils/url';
import type { App } from '#lib/server/app.ts';
import { type ReadAddress, logSecurity } from '../http/client-address.ts';
import {
	type ApiBindings,
	type ApiContext,
	type ApiEnv,
	findClientAddress,
	findOrigin,
	readRequestedPath
} from './env.ts';
import { type Endpoint, authenticate, prepare, rateLimit } from './call.ts';
import { owner } from './owner.ts';
import { payments } from './payments.ts';
import { routers } from './routers.ts';
import { sessions } from './sessions.ts';
import { vouchers } from './vouchers.ts';
import { webhooks } from './webhooks.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { validationFailed, Refused, NotFound, Forbidden, isProblem } from '#lib/server/platform/errors.ts';
import { PROBLEMS, describeIssue } from '#lib/server/contract/problems.ts';

const ENDPOINTS = [...routers, ...sessions, ...payments, ...vouchers, ...owner, ...webhooks];

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
	const isPattern = ({ route }: Endpoint) => route.path.includes('{');
	const literal = endpoints.filter((one) => !isPattern(one));
	for (const endpoint of literal) endpoint.mount(hono);
	// "/webhooks/register" is no id of "/webhooks/{id}".
	for (const { route } of literal)
		hono.all(route.path, (c) => answerNotFound(c, findMethods(hono, route.path)));
	for (const endpoint of endpoints.filter(isPattern)) endpoint.mount(hono);
	hono.notFound((c) => answerNotFound(c, findMethods(hono, c.req.path)));
	hono.onError(answerError);
	return { fetch: (request, bindings) => hono.fetch(request, bindings) };
}

function findMethods({ routes }: OpenAPIHono<ApiEnv>, path: string): string[] {
	const matching = routes.filter(
		({ method, path: pattern }) =>
			method !== 'ALL' && new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`).test(path)
	);
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
	if (isProblem(error)) {
		if (error instanceof Forbidden || error.reason === 'invalid_api_key') logRefusal(error, c);
		return sendProblem(error, c);
	}
	c.var.app.log.error({ err: error, request: c.var.requestId }, 'request failed');
	return sendProblem(new Refused('internal_error'), c);
}

/** A request without a key is not an attempt. */
function logRefusal({ reason, cause }: Refused, c: ApiContext): void {
	const caller = c.get('caller') as Caller | undefined;
	const source = { locals: { ...c.var, clientAddress: () => findClientAddress(c) } };
	logSecurity(source, 'API request refused', {
		account: caller?.accountId ?? null,
		...(caller ? { keyId: caller.keyId } : {}),
		reason: typeof cause === 'string' ? `${reason}: ${cause}` : reason
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
	return sendProblem(new NotFound('route_not_found', `There is no ${c.req.method} ${path}.`), c);
}

function sendProblem(error: Refused, c: ApiContext): Response {
	const { status, title, type } = PROBLEMS[error.reason];
	c.set('problem', error.reason);
	const body = {
		type: type ?? `${findOrigin(c)}/problems/${error.reason}`,
		title,
		status,
		detail: error.message,
		code: error.reason,
		request_id: c.var.requestId,
		...(error.items ? { errors: error.items } : {}),
		...error.extensions
	};
	return new Response(JSON.stringify(body), {
		status,
		headers: { ...c.var.headers, ...problemHeaders(error, status) }
	});
}

function problemHeaders({ reason, extensions }: Refused, status: number): Record<string, string> {
	const sent = reason === 'invalid_api_key' ? ', error="invalid_token"' : '';
	return {
		'content-type': 'application/problem+json',
		...(status === 401 ? { 'www-authenticate': `Bearer realm="airtill"${sent}` } : {}),
		...(reason === 'idempotency_key_in_use' ? { 'retry-after': '1' } : {}),
		...(status === 429 ? { 'retry-after': String(extensions['retry_after']) } : {})
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

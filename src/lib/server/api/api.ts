import { OpenAPIHono } from '@hono/zod-openapi';
import { getPath } from 'hono/utils/url';
import type { App } from '#lib/server/app.ts';
import type { Endpoint } from './endpoint.ts';
import type { ReadAddress } from '../http/client-address.ts';
import type { ApiBindings, ApiEnv } from './env.ts';
import { authenticate, prepare, rateLimit } from './middleware/index.ts';
import { errorResponse, notFoundResponse, validationProblem } from './middleware/error-response.ts';
import { ENDPOINTS } from './routes/index.ts';

export interface Api {
	fetch(request: Request, bindings: ApiBindings): Response | Promise<Response>;
}

export function createApi(
	app: App,
	readAddress: ReadAddress,
	endpoints: readonly Endpoint[] = ENDPOINTS
): Api {
	const hono = new OpenAPIHono<ApiEnv>({ getPath: pathBelow, defaultHook: validationProblem });
	hono.use(prepare(app, readAddress), authenticate, rateLimit);
	for (const endpoint of endpoints) endpoint.mount(hono);
	hono.notFound((c) => notFoundResponse(c, methodsOf(hono, c.req.path)));
	hono.onError(errorResponse);
	return { fetch: (request, bindings) => hono.fetch(request, bindings) };
}

function methodsOf({ routes }: OpenAPIHono<ApiEnv>, path: string): string[] {
	const methods = routes.filter(
		({ method, path: pattern }) =>
			method !== 'ALL' && new RegExp(`^${pattern.replace(/:\w+/g, '[^/]+')}$`).test(path)
	);
	return [...new Set(methods.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
}

/** Returns the path below /v1. Simple joins of `{base_url}` give `/v1//routers`, which is served too. */
const pathBelow = (request: Request): string =>
	getPath(request)
		.replace(/\/{2,}/g, '/')
		.slice('/v1'.length)
		.replace(/\/$/, '') || '/';

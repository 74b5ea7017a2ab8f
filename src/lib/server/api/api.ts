import { OpenAPIHono } from '@hono/zod-openapi';
import { getPath } from 'hono/utils/url';
import type { App } from '#lib/server/app.ts';
import type { Endpoint } from './endpoint.ts';
import type { ProxySettings } from './http/client-address.ts';
import type { ApiBindings, ApiEnv } from './env.ts';
import { authenticate, prepare, rateLimit } from './middleware/index.ts';
import { errorResponse, notFoundResponse, validationProblem } from './middleware/problems.ts';
import { owner } from './routes/owner.ts';
import { payments } from './routes/payments.ts';
import { routers } from './routes/routers.ts';
import { sessions } from './routes/sessions.ts';
import { webhooks } from './routes/webhooks.ts';

export interface Api {
	/** Answers any request under /v1. */
	fetch(request: Request, bindings: ApiBindings): Response | Promise<Response>;
}

export const ENDPOINTS: readonly Endpoint[] = [...routers, ...sessions, ...payments, ...owner, ...webhooks];

/** Creates the API, a Hono application. The order of its checks is described in middleware/index.ts. */
export function createApi(app: App, proxy: ProxySettings, endpoints = ENDPOINTS): Api {
	const hono = new OpenAPIHono<ApiEnv>({ getPath: pathBelow, defaultHook: validationProblem });
	hono.use(prepare(app, proxy), authenticate, rateLimit);
	for (const endpoint of endpoints) endpoint.mount(hono);
	hono.notFound(notFoundResponse);
	hono.onError(errorResponse);
	return { fetch: (request, bindings) => hono.fetch(request, bindings) };
}

/**
 * The path below /v1. `{base_url}` ends in a slash and paths begin with one, so simple joins give `/v1//routers`: such
 * paths are served without a redirect, and so is a slash at the end.
 */
const pathBelow = (request: Request): string =>
	getPath(request)
		.replace(/\/{2,}/g, '/')
		.slice('/v1'.length)
		.replace(/\/$/, '') || '/';

import type { OpenAPIHono, z } from '@hono/zod-openapi';
import type { App } from '#lib/server/app.ts';
import type { RememberBody } from '../billing/sessions/sessions.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import type { ApiContext, ApiEnv } from './env.ts';
import { idempotencyKeyOf, type StoredResponse } from '../idempotency/idempotency.ts';
import { deprecated } from './middleware/deprecation.ts';
import { access } from './middleware/index.ts';
import { jsonBody } from './middleware/json-body.ts';
import type { defineRoute } from './route.ts';

export type Route = ReturnType<typeof defineRoute>;

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
			const key = route.idempotent ? idempotencyKeyOf(c.req.header('idempotency-key')) : null;
			if (key !== null) return once(route, handle, call, key);
			const { body, json, status, headers } = await handle(call);
			return respond(c, responseOf(route, body, status, json), headers);
		});
	}
});
async function once<R extends Route>(
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
				remember: (trx, effect, effectStatus) => remember(trx, responseOf(route, effect, effectStatus))
			});
			return responseOf(route, body, status);
		}
	);
	return respond(c, response, replayed ? { 'idempotent-replayed': 'true' } : {});
}

function responseOf(
	route: Route,
	body: unknown,
	status: 200 | 201 = route.responses[201] ? 201 : 200,
	json = JSON.stringify(body)
): StoredResponse {
	const hasId = typeof body === 'object' && body !== null && 'id' in body;
	const location = route.location && hasId ? route.location.replace('{id}', String(body.id)) : null;
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

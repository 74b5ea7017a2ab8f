import type { HttpBindings } from '@hono/node-server';
import { Hono, type Context } from 'hono';
import type { App } from '#lib/server/app.ts';
import { requestId } from '#lib/server/platform/ids.ts';
import { originOf, SECURITY_HEADERS } from '#lib/server/web/security-headers.ts';
import type { ApiRequest } from './http/api-call.ts';
import { addressOf, readProxySettings, type ProxySettings } from './http/client-address.ts';
import { readBody } from './http/parse.ts';
import { answerApi } from './routes/api.ts';

/** What a caller of `fetch` knows about the client. src/server.js gives the connection, SvelteKit the address. */
export type ApiBindings = Partial<HttpBindings> & { clientAddress?: () => string };

export interface Api {
	/** Answers any request under /v1. */
	fetch(request: Request, bindings: ApiBindings): Response | Promise<Response>;
}

/** @param env the environment of the process, for the proxy settings of adapter-node */
export function createApi(app: App, env: Readonly<Record<string, string | undefined>>): Api {
	const proxy = readProxySettings(env);
	const hono = new Hono<{ Bindings: ApiBindings }>();
	hono.all('*', async (c) => {
		const call = callOf(app, c, proxy);
		const { status, headers, body } = await answerApi(call);
		return new Response(body, {
			status,
			headers: {
				...SECURITY_HEADERS,
				'cache-control': 'no-store',
				'x-request-id': call.requestId,
				...headers
			}
		});
	});
	return { fetch: (request, bindings) => hono.fetch(request, bindings) };
}

function callOf(
	app: App,
	{ req, env }: Context<{ Bindings: ApiBindings }>,
	proxy: ProxySettings
): ApiRequest {
	const url = new URL(req.url);
	return {
		app,
		requestId: requestId(),
		method: req.raw.method,
		pathname: unescaped(url.pathname),
		search: url.searchParams,
		host: url.host,
		get origin() {
			return app.config.origin ?? originOf(req.header('x-forwarded-proto') ?? null, url.host);
		},
		get signal() {
			return req.raw.signal;
		},
		header: (name) => req.header(name) ?? null,
		getClientAddress() {
			if (env.clientAddress) return env.clientAddress();
			if (env.incoming) return addressOf(env.incoming, proxy);
			throw new Error('The address of the client is not known');
		},
		readBody: (maxBytes) => readBody(req.raw, maxBytes)
	};
}

const UNRESERVED = /^[\w.~-]$/;

/** A path without percent-encoding where none is needed (RFC 3986, section 6.2.2). */
const unescaped = (path: string): string =>
	path.replace(/%([0-7][0-9a-f])/gi, (encoded, hex: string) => {
		const character = String.fromCharCode(Number.parseInt(hex, 16));
		return UNRESERVED.test(character) ? character : encoded;
	});

import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { App } from '#lib/server/app.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { originOf } from '#lib/server/http/requests.ts';
import type { ProblemCode } from '../contract/problems.ts';
import { isLocalRequest, type ReadAddress } from '../http/client-address.ts';

/** The origin of a request: src/server.js sets the connection, SvelteKit the client address. */
export type ApiBindings = Partial<HttpBindings> & { clientAddress?: () => string | null };

export interface ApiEnv {
	Bindings: ApiBindings;
	/** Read them with `get`: `c.var` copies them all. */
	Variables: {
		app: App;
		readAddress: ReadAddress;
		/** For every response. A plain object, because building a `Headers` costs a fifth of a short call. */
		headers: Record<string, string>;
		/** `req_<ULID>` */
		requestId: string;
		/** Set on an error. */
		problem?: ProblemCode;
		/** Set once the API key is known. */
		caller: Caller;
	};
}

export type ApiContext = Context<ApiEnv>;

/** Returns the public address of this installation, without a trailing slash. */
export const findOrigin = ({ req, get }: ApiContext): string =>
	get('app').config.origin ?? originOf(req.header('x-forwarded-proto') ?? null, new URL(req.url).host);

/** Returns the client's address in its one spelling; null if it is not known. */
export function findClientAddress({ env, get }: ApiContext): string | null {
	if (env.clientAddress) return env.clientAddress();
	return env.incoming ? get('readAddress')(env.incoming) : null;
}

export const isLocalCall = (context: ApiContext): boolean =>
	isLocalRequest(context.req.raw.headers, findClientAddress(context));

/** Keeps the percent-encoding. The address is absolute and normal: parsing it again would cost more than the router. */
export const readRequestedPath = ({ req }: ApiContext): string =>
	req.url.replace(/^[^/]*\/\/[^/]*|[?#].*$/g, '');

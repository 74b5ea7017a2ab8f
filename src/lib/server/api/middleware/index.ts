import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { App } from '#lib/server/app.ts';
import { hasRole, type Caller } from '#lib/server/accounts/accounts.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { requestId } from '#lib/server/platform/ids.ts';
import { securityHeaders } from '#lib/server/http/security-headers.ts';
import { findLeastRole, type Scope } from '#lib/server/contract/scopes.ts';
import { clientAddressOf, requestedPath, type ApiEnv } from '../env.ts';
import { networkOf, type ReadAddress } from '#lib/server/http/client-address.ts';
import { observeRequest } from '../http/observe-request.ts';
import { limitAddress, limitCaller, limitVisitor } from '../http/request-limits.ts';
import { authenticateKey } from '../../developer/api-keys.ts';

/**
 * The order of these checks decides which error wins:
 * 1. API key (`authenticate`): 401, also for unknown paths and methods
 * 2. rate limit (`rateLimit`): 429
 * 3. path and method (the router): 404
 * 4. account, role and scope (`access`): 403
 * 5. content type, size and syntax of the body (`jsonBody`), then query, path and fields: 400
 * 6. the object: 404 or 403, then the rules of the service: 400 (the handler)
 */

export const prepare = (app: App, readAddress: ReadAddress) => {
	const commonHeaders = { ...securityHeaders(app.config), 'cache-control': 'no-store' };
	return createMiddleware<ApiEnv>(async (c, next) => {
		const startedAt = performance.now();
		const id = requestId();
		c.set('app', app);
		c.set('readAddress', readAddress);
		c.set('requestId', id);
		c.set('headers', { ...commonHeaders, 'x-request-id': id });
		const { method } = c.req;
		const findRoute = () => routeOf(routePath(c, -1));
		await observeRequest(app, { method, findRoute }, async () => {
			await next();
			return c.res;
		});
		const caller = c.get('caller') as Caller | undefined;
		if (!caller) return;
		app.requestLog.note({
			accountId: caller.accountId,
			keyId: caller.keyId,
			method,
			pathname: requestedPath(c),
			status: c.res.status,
			problem: c.get('problem') ?? null,
			durationMs: performance.now() - startedAt,
			requestId: id
		});
	});
};

/** Only middleware, which has the path `/*`, matched an unknown path. */
const routeOf = (path: string) => (path.includes('*') ? 'none' : `/v1${path}`);

export const authenticate = createMiddleware<ApiEnv>(async (c, next) => {
	const app = c.get('app');
	try {
		c.set('caller', await authenticateKey(app.apiKeys, c.req.header('authorization') ?? null));
	} catch (error) {
		if (error instanceof AppError) await limitAddress(app, networkOf(clientAddressOf(c)));
		throw error;
	}
	await next();
});

export const rateLimit = createMiddleware<ApiEnv>(async (c, next) => {
	const app = c.get('app');
	const caller = c.get('caller');
	if (caller.plan === 'portal') {
		const { method, path } = c.req;
		await limitVisitor(app, { method, path, network: networkOf(clientAddressOf(c)) });
	} else {
		Object.assign(c.get('headers'), await limitCaller(app, caller));
	}
	await next();
});

export const access = (scope: Scope) =>
	createMiddleware<ApiEnv>(async (c, next) => {
		const caller = c.get('caller');
		if (caller.suspended) throw new AppError('account_suspended');
		if (!hasRole(caller.role, findLeastRole(scope))) throw new AppError('owner_role_required');
		if (caller.scopes && !caller.scopes.has(scope)) {
			throw new AppError('insufficient_scope', `The API key lacks the scope ${scope}.`, {
				extensions: { required_scope: scope }
			});
		}
		await next();
	});

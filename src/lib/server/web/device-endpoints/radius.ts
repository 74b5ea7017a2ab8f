import type { RequestEvent } from '@sveltejs/kit';
import { z } from 'zod';
import { RateLimited } from '#lib/server/api/http/request-limits.ts';
import { MAX_BODY_BYTES, readBody } from '#lib/server/api/http/read-body.ts';
import type { LoginAnswer } from '#lib/server/access/access.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { radiusText, reportShape } from '#lib/server/radius/report.ts';
import { authenticateGateway } from './bearer.ts';

/**
 * FreeRADIUS' rlm_rest (its mods-available/rest): 200 (attributes as JSON) and 204 accept, 401 rejects with a
 * Reply-Message, 403 rejects, 404 is an unknown user. After 5xx the gateway repeats its request.
 * `do_xlat: false` keeps FreeRADIUS from expanding our strings.
 */
type Event = RequestEvent<{ gateway: string }>;

const loginShape = z.object({ user: radiusText, mac: radiusText });

const login =
	(step: 'authorize' | 'accepted') =>
	(event: Event): Promise<Response> =>
		respond(event, loginShape, async (gateway, { user, mac }) =>
			loginResponse(await event.locals.app.access.radius[step](gateway, { user, mac: mac || null }))
		);

/** Runs before the password check. */
export const authorize = login('authorize');

/** Runs after the password was accepted. */
export const postAuth = login('accepted');

export const accounting = (event: Event): Promise<Response> =>
	respond(event, reportShape, async (gateway, report) => {
		await event.locals.app.access.radius.account(gateway, report);
		return empty(204);
	});

/** For `gateways test`: only checks the token. A test is no sign of life of the gateway. */
export const check = (event: Event): Promise<Response> =>
	respond(event, z.unknown(), () => Promise.resolve(empty(204)));

/** Authenticates the gateway before reading its body. Requests with the right token are not limited. */
async function respond<S extends z.ZodType>(
	event: Event,
	shape: S,
	handle: (gateway: RegisteredGateway, body: z.output<S>) => Promise<Response>
): Promise<Response> {
	const { log } = event.locals.app;
	try {
		const authenticated = await authenticateGateway(event);
		if ('status' in authenticated) return empty(authenticated.status);
		const { gateway } = authenticated;
		const parsed = shape.safeParse(await jsonBody(event));
		if (parsed.success) return await handle(gateway, parsed.data);
		log.warn({ gateway: gateway.name, path: event.route.id }, 'invalid request of a RADIUS server');
		return empty(400);
	} catch (error) {
		if (error instanceof RateLimited) return empty(429, error.headers);
		if (error instanceof AppError) return empty(error.status);
		log.error({ err: error, request: event.locals.requestId }, 'RADIUS request failed');
		return empty(500);
	}
}

/** @throws AppError `body_too_large` */
async function jsonBody({ request }: Event): Promise<unknown> {
	const bytes = await readBody(request, MAX_BODY_BYTES);
	try {
		return JSON.parse(Buffer.from(bytes).toString('utf8'));
	} catch {
		return null;
	}
}

const STATUSES = { accepted: 200, refused: 401, unknown: 404 } as const;

function loginResponse({ kind, attributes }: LoginAnswer): Response {
	const body = Object.entries(attributes).map(([name, value]) => {
		const isNumber = typeof value === 'number';
		return [name, { value, op: ':=', ...(!isNumber && { do_xlat: false }) }];
	});
	if (body.length === 0) return empty(kind === 'accepted' ? 204 : STATUSES[kind]);
	return new Response(JSON.stringify(Object.fromEntries(body)), {
		status: STATUSES[kind],
		headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }
	});
}

const empty = (status: number, headers: Record<string, string> = {}) =>
	new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } });

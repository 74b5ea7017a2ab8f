import type { RequestEvent } from '@sveltejs/kit';
import { z } from 'zod';
import { RateLimited } from '#lib/server/api/http/request-limits.ts';
import { MAX_BODY_BYTES, readBody } from '#lib/server/http/read-body.ts';
import type { LoginAnswer } from '#lib/server/access/access.ts';
import type { GatewayKind, Speed } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { dataWords, isUnlimited, routerOsRate } from '#lib/server/gateways/held-limits.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { radiusText, reportShape } from '#lib/server/access/radius/report.ts';
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
			loginResponse(gateway, await event.locals.app.access.radius[step](gateway, { user, mac: mac || null }))
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

const asText = (value: string | string[]) => ({ value, op: ':=', do_xlat: false });
const asNumber = (value: number) => ({ value, op: ':=' });

function loginResponse({ kind }: RegisteredGateway, answer: LoginAnswer): Response {
	switch (answer.kind) {
		case 'unknown':
			return empty(404);
		case 'accepted':
			return empty(204);
		case 'refused':
			return attributes(401, { 'reply:Reply-Message': asText(answer.message) });
		case 'known':
			return attributes(200, {
				'control:Cleartext-Password': asText(answer.password),
				...sessionAttributes(answer.terms),
				...speedAttributes(kind, answer.speed),
				...dataAttributes(kind, answer.dataLeft)
			});
		case 'keys':
			return attributes(200, {
				'control:Auth-Type': asText('Accept'),
				'reply:Tunnel-Password:0': asText(answer.passwords),
				...(answer.user === null ? {} : { 'reply:User-Name': asText(answer.user) }),
				...sessionAttributes(answer.terms)
			});
	}
}

const sessionAttributes = (terms: Extract<LoginAnswer, { kind: 'known' }>['terms']) => ({
	'reply:Session-Timeout': asNumber(terms.seconds),
	'reply:Acct-Interim-Interval': asNumber(terms.interimSeconds),
	...(terms.className === null ? {} : { 'reply:Class': asText(terms.className) })
});

/** CoovaChilli counts bit/s. An access point alone holds no speed. */
const speedAttributes = (kind: GatewayKind, speed: Speed) => ({
	...(kind === 'mikrotik' &&
		!isUnlimited(speed) && { 'reply:Mikrotik-Rate-Limit': asText(routerOsRate(speed)) }),
	...(kind === 'coova' &&
		speed.down !== null && { 'reply:WISPr-Bandwidth-Max-Down': asNumber(speed.down * 1000) }),
	...(kind === 'coova' && speed.up !== null && { 'reply:WISPr-Bandwidth-Max-Up': asNumber(speed.up * 1000) })
});

/**
 * Both gateways count per connection. FreeRADIUS has no name for CoovaChilli's gigawords: above 4 GiB only the
 * Disconnect-Request ends its connections.
 */
function dataAttributes(kind: GatewayKind, left: number | null) {
	if (left === null) return {};
	const { octets, gigawords } = dataWords(left);
	if (kind === 'coova') return gigawords === 0 && { 'reply:ChilliSpot-Max-Total-Octets': asNumber(octets) };
	return (
		kind === 'mikrotik' && {
			'reply:Mikrotik-Total-Limit': asNumber(octets),
			...(gigawords > 0 && { 'reply:Mikrotik-Total-Limit-Gigawords': asNumber(gigawords) })
		}
	);
}

const empty = (status: number, headers: Record<string, string> = {}) =>
	new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } });

const attributes = (status: number, body: Record<string, unknown>) =>
	new Response(JSON.stringify(body), {
		status,
		headers: { 'content-type': 'application/json', 'cache-control': 'no-store' }
	});

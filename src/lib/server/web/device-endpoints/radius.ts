import { z } from 'zod';
import { MAX_BODY_BYTES, readBody } from '#lib/server/http/requests.ts';
import type { LoginAnswer } from '#lib/server/access/access.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { radiusText, reportShape } from '#lib/server/access/radius/report.ts';
import { answerGateway, authenticateGateway, empty, type GatewayEvent as Event } from './gateway-request.ts';

/**
 * FreeRADIUS' rlm_rest (its mods-available/rest): 200 (attributes as JSON) and 204 accept, 401 rejects with a
 * Reply-Message, 403 rejects, 404 is an unknown user. After 5xx the gateway repeats its request.
 * `do_xlat: false` keeps FreeRADIUS from expanding our strings.
 */

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
const respond = <S extends z.ZodType>(
	event: Event,
	shape: S,
	handle: (gateway: RegisteredGateway, body: z.output<S>) => Promise<Response>
): Promise<Response> =>
	answerGateway(event, async () => {
		const gateway = await authenticateGateway(event);
		if (gateway instanceof Response) return gateway;
		const parsed = shape.safeParse(await jsonBody(event));
		if (parsed.success) return handle(gateway, parsed.data);
		event.locals.app.log.warn(
			{ gateway: gateway.name, path: event.route.id },
			'invalid request of a RADIUS server'
		);
		return empty(400);
	});

/** @throws Refused `body_too_large` */
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

import type { RequestEvent } from '@sveltejs/kit';
import { limitAddress } from '#lib/server/api/middleware.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { logSecurity, networkOf } from '#lib/server/http/client-address.ts';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import { isProblem } from '#lib/server/platform/errors.ts';

export type GatewayEvent = RequestEvent<{ gateway: string }>;

export const empty = (status: number, headers: Record<string, string> = {}) =>
	new Response(null, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** Gateways read the status of an error only. After 5xx a RADIUS server repeats its request. */
export async function answerGateway(event: GatewayEvent, work: () => Promise<Response>): Promise<Response> {
	try {
		return await work();
	} catch (error) {
		if (isProblem(error)) {
			const { retry_after: wait } = error.extensions;
			return empty(error.status, wait === undefined ? {} : { 'retry-after': String(wait) });
		}
		const { app, requestId } = event.locals;
		app.log.error({ err: error, request: requestId }, 'request of a gateway failed');
		return empty(500);
	}
}

/**
 * Limits failed attempts by address.
 * @param sent the token, from the body of a client that cannot send headers
 * @returns the gateway, or the response to a request that is not from it
 * @throws Refused
 */
export async function authenticateGateway(
	event: GatewayEvent,
	sent: string | null = null
): Promise<RegisteredGateway | Response> {
	const { app } = event.locals;
	const gateway = await app.gateways.byKey(event.params.gateway);
	const token = gateway?.credentials.token;
	const given = event.request.headers.get('authorization') ?? `Bearer ${sent}`;
	if (gateway && token !== undefined && equalSecrets(given, `Bearer ${token}`)) return gateway;
	await limitAddress(app, networkOf(event.locals.clientAddress()));
	logSecurity(event, 'gateway key refused', { gateway: gateway?.name ?? 'unknown' });
	return empty(gateway ? 403 : 404);
}

import type { RequestEvent } from '@sveltejs/kit';
import { limitAddress } from '#lib/server/api/http/request-limits.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { logSecurity } from '#lib/server/http/security-log.ts';
import { equalSecrets } from '#lib/server/platform/secrets.ts';

/**
 * Limits failed attempts by address.
 * @param sent the token, from the body of a client that cannot send headers
 * @returns the gateway, or the status to respond with
 * @throws RateLimited
 */
export async function authenticateGateway(
	event: RequestEvent<{ gateway: string }>,
	sent: string | null = null
): Promise<{ gateway: RegisteredGateway } | { status: 403 | 404 }> {
	const { app } = event.locals;
	const gateway = await app.gateways.byKey(event.params.gateway);
	const token = gateway?.credentials.token;
	const given = event.request.headers.get('authorization') ?? `Bearer ${sent}`;
	if (gateway && token !== undefined && equalSecrets(given, `Bearer ${token}`)) return { gateway };
	await limitAddress({ app, getClientAddress: () => event.getClientAddress() });
	logSecurity(event, 'gateway key refused', { gateway: gateway?.name ?? 'unknown' });
	return { status: gateway ? 403 : 404 };
}

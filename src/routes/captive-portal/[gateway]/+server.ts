import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RequestHandler } from './$types';

/**
 * GET /captive-portal/{key}: the Captive Portal API (RFC 8908), which DHCP announces to devices (RFC 8910).
 *
 * A device is recognised by the address that its request comes from, and only when it is the address that the gateway
 * handed over with a visit that led to a running purchase: so on installations that stand on the same network, and
 * nowhere else. Every other device is told `captive: true`, without more. The RFC wants clients to take the answer, and
 * the portal's address, by TLS only: an installation on plain http leaves the addresses out, and should not be
 * announced.
 */
export const GET: RequestHandler = async (event) => {
	const { clock, gateways, captiveSessions } = event.locals.app;
	const gateway = await gateways.byKey(event.params.gateway);
	if (!gateway) {
		const body = { title: 'Not found', status: 404, detail: 'There is no gateway with this key.' };
		return json(body, 404, 'application/problem+json');
	}
	const { origin } = event.locals;
	const places = origin.startsWith('https:')
		? {
				'user-portal-url': `${origin}/splash/${gateway.key}`,
				'venue-info-url': `${origin}/r/${gateway.routerId}`
			}
		: {};
	const tokenHash = await captiveSessions.onlineAt(gateway, clientAddress(event));
	const ends = tokenHash === null ? [] : await endsOf(event, tokenHash);
	if (ends.length === 0) return json({ captive: true, ...places });
	const remaining = Math.max(0, Math.ceil((Math.max(...ends) - clock.now()) / 1000));
	return json({ captive: false, ...places, 'seconds-remaining': remaining, 'can-extend-session': true });
};

const json = (body: object, status = 200, type = 'application/captive+json') =>
	new Response(JSON.stringify(body), {
		status,
		headers: { 'content-type': type, 'cache-control': 'private, no-store' }
	});

/** '' where the proxy that names addresses was gone around: nobody is recognised then. */
function clientAddress(event: Parameters<RequestHandler>[0]): string {
	try {
		return event.getClientAddress();
	} catch {
		return '';
	}
}

/** When the time of a purchase ends, or of an API buyer's pass (epoch milliseconds); none where it is not known. */
async function endsOf(event: Parameters<RequestHandler>[0], tokenHash: string): Promise<number[]> {
	const { apiBuyers, purchases } = event.locals.app;
	const apiBuyerEnd = await apiBuyers.endOf(tokenHash);
	return apiBuyerEnd === null ? activeUntil(event, await purchases.sessionsOf(tokenHash)) : [apiBuyerEnd];
}

/**
 * When the sessions end that are active, in milliseconds since the epoch.
 * @returns none when it is not known: then the device is told the portal's address again
 */
async function activeUntil(event: Parameters<RequestHandler>[0], ids: readonly number[]): Promise<number[]> {
	try {
		const { recent } = apiClient(event);
		const sessions = await Promise.all(ids.map((id) => recent.getSession(id)));
		const active = sessions.filter(({ status }) => status === 'active');
		return active.map(({ expires_at }) => Date.parse(expires_at ?? '')).filter(Number.isFinite);
	} catch (problem) {
		if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return [];
		throw problem;
	}
}

import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/api-client.ts';
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
	const { gateways, purchases, visits } = event.locals.app;
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
	const tokenHash = await visits.onlineAt(gateway, clientAddress(event));
	const ids = tokenHash === null ? [] : await purchases.sessionsOf(tokenHash);
	const sessions = await Promise.all(ids.map((id) => readSession(event, id)));
	// Added time follows the first: what is left is what is left of the last one.
	const left = sessions.flatMap((session) =>
		session?.status === 'active' ? (session.remaining_seconds ?? 0) : []
	);
	if (left.length === 0) return json({ captive: true, ...places });
	return json({
		captive: false,
		...places,
		'seconds-remaining': Math.max(...left),
		'can-extend-session': true
	});
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

/** @returns null when it is not known: then the device is told the portal's address again */
async function readSession(event: Parameters<RequestHandler>[0], id: number) {
	try {
		return await apiClient(event).recent.getSession(id);
	} catch (problem) {
		if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return null;
		throw problem;
	}
}

import { addressOf } from '#lib/server/web/operator-callbacks.ts';
import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import type { RequestHandler } from './$types';

/**
 * GET /captive-portal/{key}: the Captive Portal API (RFC 8908), which DHCP announces (RFC 8910).
 * Devices are recognised by the IP address of their captive session, so NAT towards this installation
 * prevents it. Other devices get `captive: true`. RFC 8908 requires TLS: an http installation sends no URLs.
 */
export const GET: RequestHandler = async (event) => {
	const { clock, gateways, captiveSessions } = event.locals.app;
	const gateway = await gateways.byKey(event.params.gateway);
	if (!gateway) {
		const body = { title: 'Not found', status: 404, detail: 'No gateway has this key.' };
		return json(body, 404, 'application/problem+json');
	}
	const { origin } = event.locals;
	const urls = origin.startsWith('https:')
		? {
				'user-portal-url': `${origin}/splash/${gateway.key}`,
				'venue-info-url': `${origin}/r/${gateway.routerId}`
			}
		: {};
	const tokenHash = await captiveSessions.onlineAt(gateway, addressOf(event));
	const ends = tokenHash === null ? [] : await endsOf(event, tokenHash);
	if (ends.length === 0) return json({ captive: true, ...urls });
	const remaining = Math.max(0, Math.ceil((Math.max(...ends) - clock.now()) / 1000));
	return json({ captive: false, ...urls, 'seconds-remaining': remaining, 'can-extend-session': true });
};

const json = (body: object, status = 200, type = 'application/captive+json') =>
	new Response(JSON.stringify(body), {
		status,
		headers: { 'content-type': type, 'cache-control': 'private, no-store' }
	});

/** Returns the ends of an API buyer's pass or a purchase's active sessions, in ms; empty if unknown. */
async function endsOf(event: Parameters<RequestHandler>[0], tokenHash: string): Promise<number[]> {
	const { apiBuyers, purchases } = event.locals.app;
	const apiBuyerEnd = await apiBuyers.endOf(tokenHash);
	if (apiBuyerEnd !== null) return [apiBuyerEnd];
	const ids = await purchases.sessionsOf(tokenHash);
	try {
		const { recent } = apiClient(event);
		const sessions = await Promise.all(ids.map((id) => recent.getSession(id)));
		const active = sessions.filter(({ status }) => status === 'active');
		return active.map(({ expires_at }) => Date.parse(expires_at ?? '')).filter(Number.isFinite);
	} catch (problem) {
		// The device asks again.
		if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return [];
		throw problem;
	}
}

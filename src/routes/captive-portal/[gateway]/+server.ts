import { MEGABYTE } from '#lib/domain/offers.ts';
import { findApiBuyerTime } from '#lib/server/passes.ts';
import { Refused, Unavailable } from '#lib/server/platform/errors.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readSessions } from '#lib/server/portal/purchases.ts';
import type { RequestHandler } from './$types';
import { findGatewayByKey } from '#lib/server/gateways/gateways.ts';
import { findPurchaseOnline } from '#lib/server/gateways/captive-sessions.ts';

/**
 * GET /captive-portal/{key}: the Captive Portal API (RFC 8908), which DHCP announces (RFC 8910).
 * Devices are recognised by the IP address of their captive session, so NAT towards this installation
 * prevents it. Other devices get `captive: true`. RFC 8908 requires TLS: an http installation sends no URLs.
 */
export const GET: RequestHandler = async (event) => {
	const { clock, gateways, captiveSessions } = event.locals.app;
	const gateway = await findGatewayByKey(gateways, event.params.gateway);
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
	const tokenHash = await findPurchaseOnline(captiveSessions, gateway, event.locals.clientAddress());
	const passes = tokenHash === null ? [] : await passesOf(event, tokenHash);
	if (passes.length === 0) return json({ captive: true, ...urls, 'can-extend-session': true });
	const endMs = Math.max(...passes.map(({ untilMs }) => untilMs));
	const left = passes.flatMap(({ leftMb }) => leftMb ?? []);
	return json({
		...{ captive: false, ...urls },
		'seconds-remaining': Math.max(0, Math.ceil((endMs - clock.now()) / 1000)),
		// Time without a data limit goes on.
		...(left.length === passes.length && { 'bytes-remaining': Math.max(...left) * MEGABYTE }),
		'can-extend-session': true
	});
};

const json = (body: object, status = 200, type = 'application/captive+json') =>
	new Response(JSON.stringify(body), {
		status,
		headers: { 'content-type': type, 'cache-control': 'private, no-store' }
	});

/** Returns what is left of an API buyer's pass or of a purchase's active sessions; empty if unknown. */
async function passesOf(
	event: Parameters<RequestHandler>[0],
	tokenHash: string
): Promise<{ untilMs: number; leftMb: number | null }[]> {
	const { app } = event.locals;
	const ofApiBuyer = await findApiBuyerTime(app, tokenHash);
	if (ofApiBuyer !== null) return [ofApiBuyer];
	try {
		const sessions = await readSessions(app.purchases, apiClient(event), tokenHash);
		const active = sessions.filter(({ status }) => status === 'active');
		return active.flatMap(({ expires_at: end, data_left_mb: leftMb }) =>
			end === null ? [] : [{ untilMs: Date.parse(end), leftMb }]
		);
	} catch (problem) {
		// The device asks again.
		if (problem instanceof Unavailable || problem instanceof Refused) return [];
		throw problem;
	}
}

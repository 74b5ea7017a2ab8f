import type { RequestHandler } from './$types';
import { normaliseMac } from '#lib/domain/address.ts';
import { readBody } from '#lib/server/http/requests.ts';
import { formatOpenndsLimits } from '#lib/server/gateways/gateway.ts';
import {
	type GatewayEvent,
	answerGateway,
	authenticateGateway,
	empty
} from '#lib/server/web/gateway-requests.ts';
import { recordStatus, learnLimits } from '#lib/server/gateways/gateways.ts';
import { admitClient, confirmClient, endClient } from '#lib/server/access/opennds-clients.ts';

const MAX_BODY_BYTES = 8 * 1024;
const TOKEN = /^[0-9a-f]{1,64}$/;
/** openNDS 9 sets the limits of a script after its firewall rules: it never limits downloads (measured with 9.10). */
const HOLDS_LIMITS = 10;
const CUSTOM = /^[A-Za-z0-9+/]{1,64}={0,2}$/;

/**
 * POST /opennds/{key}/binauth, called by openNDS' script of `gateways config`.
 * `auth_client`: 200 with the seconds that the device may be online and its limits, or 403. `*_deauth`: 204. `ndsctl_auth`: 204, or 404
 * if the device was not fetched yet: the script repeats its report.
 */
export const POST: RequestHandler = (event) => answerGateway(event, () => answer(event));

async function answer(event: GatewayEvent): Promise<Response> {
	const { access, gateways } = event.locals.app;
	const bytes = await readBody(event.request, MAX_BODY_BYTES);
	const fields = new URLSearchParams(Buffer.from(bytes).toString('utf8'));
	const gateway = await authenticateGateway(event, fields.get('key'));
	if (gateway instanceof Response) return gateway;
	const mac = normaliseMac(fields.get('mac') ?? '');
	const custom = (fields.get('custom') ?? '').replaceAll(' ', '+');
	const token = fields.get('token') ?? '';
	if (mac === null) await recordStatus(gateways, gateway, { unreadDevice: fields.get('mac') ?? '' });
	if (mac === null || !TOKEN.test(token) || !CUSTOM.test(custom)) return empty(400);
	const device = { mac, token, user: Buffer.from(custom, 'base64').toString('utf8') };
	await recordStatus(gateways, gateway, { seen: true });
	const method = fields.get('method') ?? '';
	if (method.endsWith('_deauth')) {
		await endClient(access, gateway, device, countOf(fields, 'bytes_in') + countOf(fields, 'bytes_out'));
		return empty(204);
	}
	if (method === 'ndsctl_auth') {
		if (gateway.settings.level !== 4) return empty(400);
		const isConfirmed = await confirmClient(access, gateway, device);
		return empty(isConfirmed ? 204 : 404);
	}
	if (method !== 'auth_client') return empty(400);
	// Scripts of earlier versions take only the seconds, and ask for nothing else.
	const takesLimits = fields.get('limits') === '1';
	const holdsLimits = countOf(fields, 'version') >= HOLDS_LIMITS;
	if (holdsLimits && !gateway.settings.binauthLimits) await learnLimits(gateways, gateway);
	const admitted = await admitClient(access, gateway, device);
	if (admitted === null) return empty(403);
	const { seconds, speed, dataLeft } = admitted;
	return text(takesLimits ? `${seconds} ${formatOpenndsLimits(speed, dataLeft)}` : String(seconds));
}

/** Returns 0 for a number that is missing or broken. */
function countOf(fields: URLSearchParams, name: string): number {
	const count = fields.get(name) ?? '';
	return /^\d{1,15}$/.test(count) ? Number(count) : 0;
}

const text = (body: string) => new Response(body, { headers: { 'content-type': 'text/plain' } });

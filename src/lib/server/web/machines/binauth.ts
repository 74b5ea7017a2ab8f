import type { RequestEvent } from '@sveltejs/kit';
import { normaliseMac } from '#lib/domain/mac.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import { limitAddress } from '#lib/server/api/http/limits.ts';
import { readBody } from '#lib/server/api/http/read-body.ts';

const MAX_BODY_BYTES = 8 * 1024;
const TOKEN = /^[0-9a-f]{1,64}$/;
const CUSTOM = /^[A-Za-z0-9+/]{1,64}={0,2}$/;

/**
 * POST /opennds/{key}/binauth: the script that `gateways config` prints asks for how many seconds a device may be online
 * (200 and a number, 403 when it may not), and says when it was put out (204). Whoever does not show the token of that
 * gateway learns nothing.
 */
export async function answerBinauth(event: RequestEvent<{ gateway: string }>): Promise<Response> {
	const { access, gateways } = event.locals.app;
	try {
		const gateway = await gateways.byKey(event.params.gateway);
		const token = gateway?.credentials.token;
		const shown = event.request.headers.get('authorization') ?? '';
		if (!gateway || token === undefined || !equalSecrets(shown, `Bearer ${token}`)) {
			await limitAddress({
				app: event.locals.app,
				getClientAddress: () => event.getClientAddress()
			});
			return text('', gateway ? 403 : 404);
		}
		const bytes = await readBody(event.request, MAX_BODY_BYTES);
		const fields = new URLSearchParams(Buffer.from(bytes).toString('utf8'));
		const mac = normaliseMac(fields.get('mac') ?? '');
		const custom = (fields.get('custom') ?? '').replaceAll(' ', '+');
		const stay = fields.get('token') ?? '';
		if (mac === null || !TOKEN.test(stay) || !CUSTOM.test(custom)) return text('', 400);
		const user = Buffer.from(custom, 'base64').toString('utf8');
		await gateways.recordStatus(gateway.id, { seen: true });
		const method = fields.get('method') ?? '';
		if (method.endsWith('_deauth')) {
			await access.binauth.left(gateway, { mac, token: stay, user });
			return new Response(null, { status: 204 });
		}
		if (method !== 'auth_client') return text('', 400);
		const seconds = await access.binauth.admit(gateway, { mac, token: stay, user });
		return seconds === null ? text('', 403) : text(String(seconds));
	} catch (error) {
		if (error instanceof AppError) return text('', error.status);
		throw error;
	}
}

const text = (body: string, status = 200) =>
	new Response(body, { status, headers: { 'content-type': 'text/plain' } });

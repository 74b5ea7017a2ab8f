import { MINUTE_MS } from '#lib/domain/time/time.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import type { DeviceLogin } from '../gateway.ts';
import { openndsLimits } from '../held-limits.ts';

/**
 * openNDS' `authmon` at level 4 (libs/authmon.sh of version 10; version 9 posts the same at level 3).
 *
 * Protocol: `auth_get=view` fetches `* item item`. The next `view` acknowledges authorized `rhid`s, base64 in
 * `payload`.
 * Trust: requests have no signature and no secret, and every customer sees the portal address. So a request confirms
 * nothing: the BinAuth script, which has the gateway's token, reports connected devices. An item is the `rhid` of a
 * paid device and authorizes that device only; reading it is harmless.
 * Limit: a forged request can count as a sign of life. A buyer of a dead gateway is refunded after ten minutes.
 */

/** authmon processes at most four items of a response. */
export const MAX_ITEMS = 4;
/** Bytes that authmon reads of a response. */
const MAX_RESPONSE = 1_024;
const MAX_PAYLOAD = 8_192;
const RHID = /^[0-9a-f]{64}$/;

/** `notice`: what only needs an answer, such as the acknowledgement of authorized devices. */
export type AuthmonRequest = 'clear' | 'fetch' | 'notice';

export function readAuthmonRequest(fields: URLSearchParams): AuthmonRequest | null {
	const asked = fields.get('auth_get');
	if (!RHID.test(fields.get('gatewayhash') ?? '')) return null;
	switch (asked) {
		case 'clear':
			return 'clear';
		case 'list':
			return 'fetch';
		case 'deauthed':
		case 'custom':
			return 'notice';
		case 'view':
			break;
		default:
			return null;
	}
	// authmon does not escape plus signs: they arrive as spaces.
	const payload = (fields.get('payload') ?? '').replaceAll(' ', '+');
	if (payload.length > MAX_PAYLOAD || !/^[A-Za-z0-9+/]*={0,2}$/.test(payload)) return null;
	const text = Buffer.from(payload, 'base64').toString('utf8').trim();
	if (text === '' || text === 'none') return 'fetch';
	const [star, ...rhids] = text.split(/\s+/);
	return star === '*' && rhids.every((rhid) => RHID.test(rhid)) ? 'notice' : null;
}

type AuthmonDevice = Pick<DeviceLogin, 'user' | 'speed' | 'dataLeft'> & { hid: string; untilMs: number };

/** Formats a response. A shell evaluates it, so items have only hexadecimal digits, numbers and base64. */
export function formatItems(devices: readonly AuthmonDevice[], faskey: string, now: number): string {
	let response = '*';
	for (const { hid, user, speed, dataLeft, untilMs } of devices.slice(0, MAX_ITEMS)) {
		const rhid = sha256(hid + faskey);
		const minutes = Math.max(1, Math.ceil((untilMs - now) / MINUTE_MS));
		const item = `${rhid} ${minutes} ${openndsLimits(speed, dataLeft)} ${Buffer.from(user).toString('base64')}`;
		const next = `${response} ${encodeURIComponent(item)}`;
		if (next.length > MAX_RESPONSE) break;
		response = next;
	}
	return response;
}

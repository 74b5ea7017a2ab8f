import { sha256 } from '#lib/server/platform/secrets.ts';
import { decoded } from '../captive-sessions/fields.ts';

/**
 * openNDS' `authmon` at level 4 (libs/authmon.sh of version 10; level 3 of version 9 sends the same in a form).
 *
 * Protocol: `auth_get=view` fetches `* item item`. The next `view` acknowledges the `rhid`s that were authorized, base64
 * in `payload`; we then delete them, as authmon expects.
 *
 * Trust: requests have no signature and no secret. The portal address and the hash of the gateway's name
 * (`gatewayhash`) are visible to every customer. Only a request under the name in the devices' own redirects counts as a
 * sign of life and as an acknowledgement; others get the same items, and nothing is recorded, so that a router that
 * hashes its name in an unknown way still works. An item is the `rhid` of a paid device and authorizes that device only,
 * so reading it is harmless. A device with a forged acknowledgement is redirected again, and then listed again.
 */

/** authmon processes at most four items of a response. */
export const MAX_ITEMS = 4;
/** Bytes of a response that authmon reads. */
const MAX_RESPONSE = 1_024;
const MAX_PAYLOAD = 8_192;
const RHID = /^[0-9a-f]{64}$/;
const MINUTE_MS = 60_000;

export type AuthmonRequest =
	| { kind: 'clear' | 'list' | 'view' | 'notice' }
	/** Acknowledges authorized devices; the list may be empty. */
	| { kind: 'ack'; rhids: readonly string[] };

type Login = Readonly<Record<string, string>>;

/**
 * Hashes a gateway name in every form that a router may use: as sent (percent-encoded, with a space at its end), without
 * that space, and decoded.
 */
export function nameHashes(name: string): string[] {
	if (name === '') return [];
	const plain = decoded(name);
	const forms = [name, name.trim(), name.replace(/(?:%20|\+|\s)+$/i, ''), plain, plain.trim()];
	return [...new Set(forms)].map(sha256);
}

/** Whether a captive session came under one of these names; one without a name matches all. */
export function matchesName(login: Login, gatewayHashes: ReadonlySet<string>): boolean {
	const named = login['named'] ?? '';
	return named === '' ? gatewayHashes.size > 0 : named.split(' ').some((hash) => gatewayHashes.has(hash));
}

/** The `rhid` of a captive session; null if it has no `hid`. */
export const rhidOf = (login: Login, faskey: string): string | null =>
	login['hid'] === undefined ? null : sha256(login['hid'] + faskey);

/** Reads a request. @returns null if it is invalid */
export function readAuthmonRequest(fields: URLSearchParams): AuthmonRequest | null {
	const asked = fields.get('auth_get');
	if (!RHID.test(fields.get('gatewayhash') ?? '')) return null;
	switch (asked) {
		case 'clear':
		case 'list':
			return { kind: asked };
		case 'deauthed':
		case 'custom':
			return { kind: 'notice' };
		case 'view':
			break;
		default:
			return null;
	}
	// authmon does not escape plus signs: they arrive as spaces.
	const payload = (fields.get('payload') ?? '').replaceAll(' ', '+');
	if (payload.length > MAX_PAYLOAD || !/^[A-Za-z0-9+/]*={0,2}$/.test(payload)) return null;
	const text = Buffer.from(payload, 'base64').toString('utf8').trim();
	if (text === '' || text === 'none') return { kind: 'view' };
	const [star, ...rhids] = text.split(/\s+/);
	return star === '*' && rhids.every((rhid) => RHID.test(rhid)) ? { kind: 'ack', rhids } : null;
}

export interface AuthmonItem {
	rhid: string;
	user: string;
	untilMs: number;
}

/** Formats a response. A shell evaluates it, so items consist of hexadecimal digits, numbers and base64 only. */
export function formatItems(items: readonly AuthmonItem[], now: number): string {
	let response = '*';
	for (const { rhid, user, untilMs } of items.slice(0, MAX_ITEMS)) {
		const minutes = Math.max(1, Math.ceil((untilMs - now) / MINUTE_MS));
		const item = `${rhid} ${minutes} 0 0 0 0 ${Buffer.from(user).toString('base64')}`;
		const next = `${response} ${encodeURIComponent(item)}`;
		if (next.length > MAX_RESPONSE) break;
		response = next;
	}
	return response;
}

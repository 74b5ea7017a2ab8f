import { sha256 } from '#lib/server/platform/secrets.ts';
import { decoded } from '../captive-sessions/fields.ts';

/**
 * How openNDS' `authmon` asks at level 4 (libs/authmon.sh of version 10; level 3 of version 9 says the same in a form):
 * `auth_get=view` fetches `* item item`, the next `view` carries the `rhid`s that were let in, base64 in `payload`.
 *
 * What is asked has no signature, and nothing in it is a secret: the portal's address and the gateway's name (its hash
 * is `gatewayhash`), which is all that it holds, are seen by every customer. Only a question under the name that the
 * devices' own entries bring counts as the router's: it shows that the router lives, and what it acknowledges begins a
 * buyer's time. That keeps out who knows the address alone; a customer who imitates the router is not kept out, and
 * cannot be. Under any other name the same items are shown and nothing is noted, so that a router that hashes its name
 * in a way that is not known here locks no buyer out. An item is the `rhid` of a
 * device that has paid, and opens that very router for that very device alone: reading it gives nothing that was not
 * bought. What was acknowledged is deleted, as authmon expects; a device for which somebody else has acknowledged is sent
 * to the portal again by its router, and from then on is handed out again for a while.
 */

/** It takes this many in one go. */
export const MAX_ITEMS = 4;
/** It reads no more. */
const MAX_ANSWER = 1_024;
const MAX_PAYLOAD = 8_192;
const RHID = /^[0-9a-f]{64}$/;
const MINUTE_MS = 60_000;

export type AuthmonQuestion =
	| { kind: 'clear' | 'list' | 'view' | 'notice' }
	/** Devices that the router has let in; none is one too. */
	| { kind: 'ack'; rhids: readonly string[] };

type Login = Readonly<Record<string, string>>;

/**
 * How a router may hash its name: as it is sent (percent-encoded, with the router's address and a blank at its end),
 * without that blank, or decoded.
 */
export function nameHashes(name: string): string[] {
	if (name === '') return [];
	const plain = decoded(name);
	const forms = [name, name.trim(), name.replace(/(?:%20|\+|\s)+$/i, ''), plain, plain.trim()];
	return [...new Set(forms)].map(sha256);
}

/** Whether one of these is the name that an entry brought; one that brought none fits every name. */
export function fitsName(login: Login, gatewayHashes: ReadonlySet<string>): boolean {
	const named = login['named'] ?? '';
	return named === '' ? gatewayHashes.size > 0 : named.split(' ').some((hash) => gatewayHashes.has(hash));
}

/** What only the router and this installation can make of a visit; null where the visit has no `hid`. */
export const rhidOf = (login: Login, faskey: string): string | null =>
	login['hid'] === undefined ? null : sha256(login['hid'] + faskey);

/** @returns null for a question that is none */
export function readQuestion(fields: URLSearchParams): AuthmonQuestion | null {
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
	// A plus sign that nobody escaped arrives as a blank.
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

/** `*` and what is to be let in: it is run by a shell there, so every item holds digits and base64 alone. */
export function answerItems(items: readonly AuthmonItem[], now: number): string {
	let answer = '*';
	for (const { rhid, user, untilMs } of items.slice(0, MAX_ITEMS)) {
		const minutes = Math.max(1, Math.ceil((untilMs - now) / MINUTE_MS));
		const item = `${rhid} ${minutes} 0 0 0 0 ${Buffer.from(user).toString('base64')}`;
		const next = `${answer} ${encodeURIComponent(item)}`;
		if (next.length > MAX_ANSWER) break;
		answer = next;
	}
	return answer;
}

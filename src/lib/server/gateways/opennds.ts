import { normaliseIp } from '#lib/domain/address.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { checkSize, clientMacOf, decoded, field, webAddressOf } from './fields.ts';
import { type DeviceLogin, type Entry, EntryRefused, type GatewayAdapter } from './gateway.ts';
import { registeredHost } from './captive-sessions.ts';
import { openndsConfig } from './opennds-config.ts';
import { MINUTE_MS } from '#lib/domain/time.ts';
import { openndsLimits } from './held-limits.ts';

/**
 * openNDS 9 and newer, with Airtill as its forward authentication service (docs/source/fas.rst).
 *
 * Redirect: levels 1 and 4 of `fas_secure_enabled` send `?fas=`, base64 of `key=value, key=value`. Some
 * values are percent-encoded. Version 9 appends the junk item `(null)(null)...`.
 * Trust: `hid` is the hash of a token that the router keeps. `hid` and the faskey together make `rhid`, which
 * authorizes that client only. A forged MAC address is useless.
 */

const DEFAULT_PORT = 2050;
const ITEM = /^([a-z][a-z0-9_()-]{0,40})=(.*)$/is;
const HASH = /^[0-9a-f]{64}$/;

function readFas(fas: string): Map<string, string> {
	// openNDS does not escape the query: a plus sign arrives as a space.
	const base64 = fas.replaceAll(' ', '+');
	if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new EntryRefused('broken', 'fas is not base64');
	const items = new Map<string, string>();
	for (const item of Buffer.from(base64, 'base64').toString('utf8').split(', ')) {
		const [, name, value] = ITEM.exec(item.trim()) ?? [];
		if (name === undefined || value === undefined || items.has(name)) continue;
		items.set(name, value === '(null)' ? '' : value);
	}
	return items;
}

function parse(items: ReadonlyMap<string, string>): Pick<Entry, 'clientMac' | 'clientIp' | 'originalUrl'> {
	return {
		clientMac: clientMacOf(decoded(items.get('clientmac') ?? '')),
		clientIp: normaliseIp(items.get('clientip') ?? ''),
		originalUrl: webAddressOf(decoded(items.get('originurl') ?? ''))
	};
}

export const opennds: GatewayAdapter = {
	title: 'openNDS',
	secretName: 'faskey',
	defaultPort: DEFAULT_PORT,
	startPath: '/',
	// Level 4 (authmon) closes the sign-in in the browser.
	controlMode: ({ settings }) => (settings.level === 4 ? 'poll' : 'browser'),
	controller: null,
	configFor: openndsConfig,

	parseEntry(request, facts) {
		checkSize(request);
		const { fields } = request;
		const redir = field(fields, 'redir');
		// An authenticated client arrives with `status` in plain text, and with the old `fas=` inside `redir`.
		const isOnline = field(fields, 'status') === 'authenticated';
		// Not trimmed, because a final space was a plus sign.
		const fas = fields.get('fas') || (isOnline ? (/fas=([^&]+)/.exec(redir)?.[1] ?? '') : '');
		if (isOnline) {
			const items = fas === '' ? new Map<string, string>() : readFas(decoded(fas));
			const known = parse(items);
			return {
				...known,
				state: 'online',
				problem: null,
				clientIp: normaliseIp(field(fields, 'clientip')) ?? known.clientIp,
				originalUrl: known.originalUrl ?? webAddressOf(redir),
				login: {}
			};
		}
		if (fas === '') throw new EntryRefused('missing', 'fas is missing');
		const items = readFas(fas);
		const hid = items.get('hid')?.toLowerCase() ?? '';
		const known = parse(items);
		if (!HASH.test(hid)) throw new EntryRefused('broken', 'fas has no hid');
		if (known.clientMac === null) throw new EntryRefused('broken', 'fas has no clientmac');
		const gateway = registeredHost(facts, items.get('gatewayaddress') ?? '', DEFAULT_PORT);
		return { ...known, state: 'new', problem: null, login: { hid, gateway } };
	},

	// Only the device's own redirects contain the hash of its token.
	provesDevice: ({ login: { hid } }, earlier) => hid !== undefined && hid === earlier.login['hid'],

	signInUrl({ login }, { user, landing }, facts) {
		const { hid = '', gateway = '' } = login;
		if (!HASH.test(hid) || facts.secret === null) throw new EntryRefused('missing', 'hid is missing');
		const host = registeredHost(facts, gateway, DEFAULT_PORT);
		const url = new URL(`http://${host}/opennds_auth/?tok=${sha256(hid + facts.secret)}`);
		url.searchParams.set('custom', Buffer.from(user).toString('base64'));
		url.searchParams.set('redir', landing);
		return url.href;
	}
};

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

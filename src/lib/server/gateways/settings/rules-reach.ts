import { X509Certificate } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { isPublicAddress } from '#lib/server/platform/public-addresses.ts';
import type { GatewayCredentials, GatewayKind, GatewaySettings } from '../gateway.ts';

/** Rules for how a gateway and we reach each other: its API, RADIUS, its program on this machine. */

/** All of it as typed; null and '' where it was not. */
export interface ReachInput {
	/** MikroTik: `radius` or `rest`. */
	control: string | null;
	/** `ADDRESS[:PORT]` for RADIUS. */
	nas: string | null;
	/** openNDS at level 1: path of its `ndsctl`. */
	ndsctl: string | null;
	/** Address of its own API. */
	api: string | null;
	apiUser: string | null;
	/** UniFi's API key, RouterOS' password. */
	apiKey: string | null;
	/** PEM. */
	apiCertificate: string | null;
	/** Its API may be asked without TLS. */
	apiInsecure: boolean;
	/** One to take over; null: one is made. */
	radiusSecret: string | null;
}

export type ReachField =
	| 'control'
	| 'nas'
	| 'ndsctl'
	| 'api'
	| 'api-user'
	| 'api-key'
	| 'api-certificate'
	| 'api-insecure'
	| 'radius-secret';

type Wrong = (field: ReachField, reason: string) => void;

const MAX_API_LENGTH = 300;
const MAX_CERTIFICATE_LENGTH = 16_384;
const USER = /^[\x21-\x39\x3b-\x7e]{1,64}$/;
/** What an HTTP header takes. */
const KEY = /^[\x20-\x7e]{1,256}$/;
/** FreeRADIUS' clients file takes these without quotes; RFC 2865 wants at least 16. */
const RADIUS_SECRET = /^[A-Za-z0-9_-]{16,64}$/;
const PROGRAM = /^\/[\w./-]{1,200}$/;

/** Under which path the API is, where an address names none. */
const API_PATHS: Partial<Record<GatewayKind, string>> = {
	unifi: '/proxy/network/integration/v1',
	mikrotik: '/rest'
};

/** Whether a gateway of this kind asks a RADIUS server. */
export const asksRadius = (kind: GatewayKind, { control }: GatewaySettings): boolean =>
	kind === 'coova' || kind === 'hostapd' || (kind === 'mikrotik' && control !== 'rest');

/** Adds what is typed to the settings. */
export function checkReach(
	input: ReachInput,
	kind: GatewayKind,
	settings: GatewaySettings,
	wrong: Wrong
): GatewayCredentials {
	if (input.control !== null) {
		if (kind !== 'mikrotik') wrong('control', 'only MikroTik has a choice');
		else if (input.control === 'radius' || input.control === 'rest') settings.control = input.control;
		else wrong('control', 'use radius, or rest (RouterOS 7 without a RADIUS server)');
	}
	checkNdsctl(input, kind, settings, wrong);
	const radius = checkRadius(input, kind, settings, wrong);
	return { ...radius, ...checkApi(input, kind, settings, wrong) };
}

function checkNdsctl(
	{ ndsctl }: ReachInput,
	kind: GatewayKind,
	settings: GatewaySettings,
	wrong: Wrong
): void {
	if (ndsctl === null) return;
	if (kind !== 'opennds' || settings.level === 4)
		wrong('ndsctl', 'only openNDS at level 1 has it on this machine');
	else if (!PROGRAM.test(ndsctl)) wrong('ndsctl', 'use a whole path, e.g. /usr/bin/ndsctl');
	else settings.ndsctl = ndsctl;
}

function checkRadius(
	{ nas, radiusSecret }: ReachInput,
	kind: GatewayKind,
	settings: GatewaySettings,
	wrong: Wrong
): GatewayCredentials {
	if (!asksRadius(kind, settings)) {
		if (nas !== null) wrong('nas', 'it asks no RADIUS server: leave it out');
		if (radiusSecret !== null) wrong('radius-secret', 'it asks no RADIUS server: leave it out');
		return {};
	}
	if (nas !== null) {
		const found = parseNas(nas);
		if (!found) wrong('nas', `"${nas}" is no address, or address:port, e.g. 10.8.0.2 or 10.8.0.2:3799`);
		else Object.assign(settings, found);
	}
	if (radiusSecret === null) return {};
	const problem = radiusSecretProblem(radiusSecret);
	if (problem !== null) wrong('radius-secret', problem);
	return { radiusSecret };
}

export const radiusSecretProblem = (secret: string): string | null =>
	RADIUS_SECRET.test(secret) ? null : 'use 16 to 64 letters, digits, hyphens or underscores';

/** `10.8.0.2`, `10.8.0.2:3799`, `fd00::2`, `[fd00::2]:3799` */
function parseNas(text: string): { nas: string; nasPort?: number } | null {
	const trimmed = text.trim().toLowerCase();
	if (isIP(trimmed) !== 0) return { nas: trimmed };
	const [, six, four, port = ''] = /^(?:\[([^\]]+)\]|([\d.]+)):(\d{1,5})$/.exec(trimmed) ?? [];
	const nas = six ?? four ?? '';
	const nasPort = Number(port);
	return isIP(nas) !== 0 && nasPort >= 1 && nasPort <= 65_535 ? { nas, nasPort } : null;
}

/** Whether two addresses are the same one, however they are written (`fd00::2`, `fd00:0::2`). */
export function isSameAddress(one: string, other: string): boolean {
	const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
	const bare = (address: string) => address.replace(/%.*$/, '');
	const list = new BlockList();
	list.addAddress(bare(one), family(one));
	return list.check(bare(other), family(other));
}

function checkApi(
	input: ReachInput,
	kind: GatewayKind,
	settings: GatewaySettings,
	wrong: Wrong
): GatewayCredentials {
	const { api, apiUser, apiKey, apiCertificate, apiInsecure } = input;
	const path = API_PATHS[kind];
	if (path === undefined || (kind === 'mikrotik' && settings.control !== 'rest')) {
		const reason =
			kind === 'mikrotik' ? 'only with --control rest' : `${kind} is not asked by us: leave it out`;
		if (api !== null) wrong('api', reason);
		if (apiUser !== null) wrong('api-user', reason);
		if (apiKey !== null) wrong('api-key', reason);
		if (apiCertificate !== null) wrong('api-certificate', reason);
		if (apiInsecure) wrong('api-insecure', reason);
		return {};
	}
	if (api === null) {
		if (kind === 'mikrotik') wrong('api', 'say where its REST API is, e.g. https://10.8.0.2');
		for (const field of ['api-user', 'api-key', 'api-certificate'] as const) {
			const given = { 'api-user': apiUser, 'api-key': apiKey, 'api-certificate': apiCertificate }[field];
			if (given !== null && kind === 'unifi') wrong(field, 'say with --api where its API is');
		}
		return {};
	}
	const { address, problem } = apiAddress(api, path, kind === 'unifi' && !apiInsecure);
	if (problem !== null) wrong('api', problem);
	else settings.api = address;
	if (apiCertificate !== null) {
		const pem = certificate(apiCertificate);
		if (pem === null) wrong('api-certificate', 'the file is no certificate in PEM');
		else if (address.startsWith('http:'))
			wrong('api-certificate', 'its address has none: it begins with http:');
		else settings.apiCertificate = pem;
	}
	return checkApiCredentials(input, kind, wrong);
}

export function checkApiCredentials(
	{ apiUser, apiKey }: Pick<ReachInput, 'apiUser' | 'apiKey'>,
	kind: GatewayKind,
	wrong: Wrong
): GatewayCredentials {
	if (kind === 'mikrotik') {
		if (apiUser === null) wrong('api-user', 'name the user of RouterOS that may use its REST API');
		else if (!USER.test(apiUser)) wrong('api-user', 'use up to 64 characters without blanks and colons');
	} else if (apiUser !== null) wrong('api-user', 'only RouterOS has users: leave it out');
	if (apiKey === null) {
		wrong(
			'api-key',
			kind === 'unifi' ? 'give a file with its API key' : "give a file with that user's password"
		);
	} else if (!KEY.test(apiKey)) wrong('api-key', 'the file must hold one line of up to 256 plain characters');
	return {
		...(apiKey === null ? {} : { apiKey }),
		...(apiUser === null ? {} : { apiUser })
	};
}

/** Without TLS the key is read by whoever is on the way: at most inside a private network, or a VPN. */
function apiAddress(
	text: string,
	path: string,
	onlyTls: boolean
): { address: string; problem: string | null } {
	const none = (problem: string) => ({ address: '', problem });
	if (text.length > MAX_API_LENGTH || !URL.canParse(text))
		return none('use an address, e.g. https://10.8.0.2');
	const url = new URL(text);
	const { protocol, hostname, pathname } = url;
	if (protocol !== 'https:' && protocol !== 'http:')
		return none('the address begins with https:// or http://');
	if (url.username !== '' || url.password !== '')
		return none('the address names no user; its key comes in a file');
	if (url.search !== '' || url.hash !== '') return none('the address ends before ? and #');
	if (protocol === 'http:') {
		if (onlyTls) return none('use https; on a private network http is taken with --api-insecure');
		if (!isPrivateHost(hostname))
			return none('http is taken for addresses of a private network only: use https');
	}
	const own = pathname.replace(/\/+$/, '');
	return { address: `${url.origin}${own === '' ? path : own}`, problem: null };
}

function isPrivateHost(hostname: string): boolean {
	const host = hostname.replace(/^\[|\]$/g, '');
	return host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host));
}

function certificate(pem: string): string | null {
	if (pem.length > MAX_CERTIFICATE_LENGTH) return null;
	try {
		return new X509Certificate(pem).toString();
	} catch {
		return null;
	}
}

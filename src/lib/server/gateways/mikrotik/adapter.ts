import { createHash } from 'node:crypto';
import { normaliseIp } from '#lib/domain/ip-address.ts';
import {
	checkSize,
	clientMacOf,
	decoded,
	field,
	problemOf,
	webAddressOf
} from '../captive-sessions/fields.ts';
import { EntryRefused, type EntryRequest, type GatewayAdapter, type GatewayFacts } from '../gateway.ts';
import { registeredHost } from '../captive-sessions/login-hosts.ts';
import { mikrotikConfig } from './config.ts';
import { mikrotikController } from './client.ts';

/**
 * MikroTik hotspot (help.mikrotik.com, "HotSpot customisation").
 *
 * Redirect: its `login.html` sends `$(variables)`, each as it is or in its `-esc` form, by form or query.
 * Sign-in: GET or POST to `link-login-only`; we redirect with GET. With HTTP CHAP the password is
 * `md5_hex(chap-id || password || chap-challenge)`. Both variables are octal-escaped, for example `\371`.
 */

const LOGIN_PATH = '/login';
const DEFAULT_PORT = 80;
/** RouterOS uses 16; the length is one octet (RFC 1994). */
const MAX_CHALLENGE_BYTES = 255;

/** Reads a field or its `-esc` form. The query is already decoded, a form field is not. */
function read({ method, fields }: EntryRequest, name: string): string {
	const plain = field(fields, name);
	if (plain !== '') return plain;
	const escaped = field(fields, `${name}-esc`);
	return method === 'POST' ? decoded(escaped) : escaped;
}

/** Reads without trimming, because any byte may be part of a challenge. */
function readRaw({ method, fields }: EntryRequest, name: string): string {
	const escaped = fields.get(`${name}-esc`) ?? '';
	return fields.get(name) || (method === 'POST' ? decoded(escaped) : escaped);
}

function octalBytes(text: string): Buffer {
	const bytes: number[] = [];
	for (const [part] of text.matchAll(/\\[0-3][0-7]{2}|\\\\|[^]/g)) {
		if (part.length === 4) bytes.push(Number.parseInt(part.slice(1), 8));
		else bytes.push(part.charCodeAt(part.length - 1) & 0xff);
	}
	return Buffer.from(bytes);
}

function loginAddress(text: string, facts: GatewayFacts): string {
	if (text === '') throw new EntryRefused('missing', 'link-login-only is missing');
	if (!URL.canParse(text)) throw new EntryRefused('broken', 'link-login-only is not a URL');
	const { protocol, hostname, port, pathname, username, password } = new URL(text);
	if (protocol !== 'http:' && protocol !== 'https:') {
		throw new EntryRefused('foreign-host', `${protocol} is not http or https`);
	}
	const usual = protocol === 'https:' ? 443 : DEFAULT_PORT;
	registeredHost(facts, port === '' ? hostname : `${hostname}:${port}`, usual);
	if (pathname !== LOGIN_PATH || username !== '' || password !== '') {
		throw new EntryRefused('foreign-host', `${pathname} is not the sign-in page of a hotspot`);
	}
	return `${protocol}//${hostname}${port === '' ? '' : `:${port}`}${LOGIN_PATH}`;
}

function chapOf(request: EntryRequest): Record<string, string> {
	const bytes = (name: string) => octalBytes(read(request, name) === '' ? '' : readRaw(request, name));
	const [id, challenge] = [bytes('chap-id'), bytes('chap-challenge')];
	if (id.length === 0 && challenge.length === 0) return {};
	if (id.length !== 1 || challenge.length === 0 || challenge.length > MAX_CHALLENGE_BYTES) {
		throw new EntryRefused('broken', 'The CHAP challenge is invalid');
	}
	return { chapId: id.toString('hex'), challenge: challenge.toString('hex') };
}

export const mikrotik: GatewayAdapter = {
	title: 'MikroTik hotspot',
	secretName: null,
	defaultPort: DEFAULT_PORT,
	startPath: LOGIN_PATH,
	controlMode: ({ settings }) => (settings.control === 'rest' ? 'push' : 'radius'),
	controller: mikrotikController,
	configFor: mikrotikConfig,

	parseEntry(request, facts) {
		checkSize(request);
		const error = read(request, 'error');
		const isOnline = read(request, 'logged-in') === 'yes';
		return {
			state: isOnline ? 'online' : error === '' ? 'new' : 'refused',
			problem: isOnline || error === '' ? null : problemOf(error),
			clientMac: clientMacOf(read(request, 'mac')),
			clientIp: normaliseIp(read(request, 'ip')),
			originalUrl: webAddressOf(read(request, 'link-orig')),
			login: isOnline
				? {}
				: { address: loginAddress(read(request, 'link-login-only'), facts), ...chapOf(request) }
		};
	},

	signInUrl({ login }, { user, password, landing }, facts) {
		const url = new URL(loginAddress(login['address'] ?? '', facts));
		const { chapId, challenge } = login;
		url.searchParams.set('username', user);
		url.searchParams.set(
			'password',
			chapId === undefined || challenge === undefined
				? password
				: createHash('md5').update(chapId, 'hex').update(password).update(challenge, 'hex').digest('hex')
		);
		url.searchParams.set('dst', landing);
		// Mini-browsers cannot open the status window.
		url.searchParams.set('popup', 'false');
		return url.href;
	}
};

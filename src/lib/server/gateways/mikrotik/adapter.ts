import { createHash } from 'node:crypto';
import {
	checkSize,
	clientIpOf,
	clientMacOf,
	decoded,
	field,
	problemOf,
	webAddressOf
} from '../captive-sessions/fields.ts';
import { EntryRefused, type EntryRequest, type Gateway, type GatewayFacts } from '../gateway.ts';
import { registeredHost } from '../captive-sessions/login-hosts.ts';
import { mikrotikConfig } from './config.ts';
import { mikrotikController } from './client.ts';

/**
 * MikroTik's hotspot (help.mikrotik.com, "HotSpot customisation"): its `login.html` sends the browser here with the
 * values of `$(variables)`, by a form or in the query. Fields may carry the plain variable or its `-esc` form. The
 * sign-in is a GET or POST to `link-login-only`; we use GET, because a browser can be sent there from any page. With
 * HTTP CHAP the password is `md5_hex(chap-id || password || chap-challenge)`, whose two parts are written in octal:
 * `\371`.
 */

const LOGIN_PATH = '/login';
const DEFAULT_PORT = 80;
/** RouterOS uses 16; RFC 1994 allows what one octet can count. */
const MAX_CHALLENGE_BYTES = 255;

/** A field, plain or in its `-esc` form, which a query decodes by itself and a form does not. */
function read({ method, fields }: EntryRequest, name: string): string {
	const plain = field(fields, name);
	if (plain !== '') return plain;
	const escaped = field(fields, `${name}-esc`);
	return method === 'POST' ? decoded(escaped) : escaped;
}

/** The same as it stands. */
function written({ method, fields }: EntryRequest, name: string): string {
	const escaped = fields.get(`${name}-esc`) ?? '';
	return fields.get(name) || (method === 'POST' ? decoded(escaped) : escaped);
}

/** Bytes of a text in which some are written `\ooo`, and a backslash as `\\`. */
export function octalBytes(text: string): Buffer {
	const bytes: number[] = [];
	for (const [part] of text.matchAll(/\\[0-3][0-7]{2}|\\\\|[^]/g)) {
		if (part.length === 4) bytes.push(Number.parseInt(part.slice(1), 8));
		else bytes.push(part.charCodeAt(part.length - 1) & 0xff);
	}
	return Buffer.from(bytes);
}

/** The sign-in address, when it is one of the registered gateway. @throws EntryRefused */
function loginAddress(text: string, facts: GatewayFacts): string {
	if (text === '') throw new EntryRefused('missing', 'There is no link-login-only');
	if (!URL.canParse(text)) throw new EntryRefused('broken', 'link-login-only is no address');
	const { protocol, hostname, port, pathname, username, password } = new URL(text);
	if (protocol !== 'http:' && protocol !== 'https:') {
		throw new EntryRefused('foreign-host', `${protocol} is no address of a gateway`);
	}
	const usual = protocol === 'https:' ? 443 : DEFAULT_PORT;
	registeredHost(facts, hostname, port === '' ? usual : Number(port), usual);
	if (pathname !== LOGIN_PATH || username !== '' || password !== '') {
		throw new EntryRefused('foreign-host', `${pathname} is not the sign-in of a gateway`);
	}
	return `${protocol}//${hostname}${port === '' ? '' : `:${port}`}${LOGIN_PATH}`;
}

function chapOf(request: EntryRequest): Record<string, string> {
	// Without trimming: each byte may be any.
	const bytes = (name: string) => octalBytes(read(request, name) === '' ? '' : written(request, name));
	const [id, challenge] = [bytes('chap-id'), bytes('chap-challenge')];
	if (id.length === 0 && challenge.length === 0) return {};
	if (id.length !== 1 || challenge.length === 0 || challenge.length > MAX_CHALLENGE_BYTES) {
		throw new EntryRefused('broken', 'The CHAP challenge is none');
	}
	return { chapId: id.toString('hex'), challenge: challenge.toString('hex') };
}

export const mikrotik: Gateway = {
	kind: 'mikrotik',
	title: 'MikroTik hotspot',
	secretName: null,
	defaultPort: DEFAULT_PORT,
	finishes: () => 'navigate',
	controlMode: ({ settings }) => (settings.control === 'rest' ? 'push' : 'radius'),
	takesPassword: () => true,
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
			clientIp: clientIpOf(read(request, 'ip')),
			originalUrl: webAddressOf(read(request, 'link-orig')),
			login: isOnline
				? {}
				: { address: loginAddress(read(request, 'link-login-only'), facts), ...chapOf(request) }
		};
	},

	finish({ login }, { user, password, landing }, facts) {
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
		// No status window: mini-browsers open none.
		url.searchParams.set('popup', 'false');
		return { kind: 'navigate', url: url.href };
	},

	startAddress: ({ loginHosts: [host] }) => (host === undefined ? null : `http://${host}${LOGIN_PATH}`)
};

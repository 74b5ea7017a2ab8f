import { hash } from 'node:crypto';
import { normaliseIp } from '#lib/domain/ip-address.ts';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import { coovaConfig } from './config.ts';
import { checkSize, clientMacOf, field, problemOf, webAddressOf } from '../captive-sessions/fields.ts';
import { EntryRefused, type EntryRequest, type EntryState, type GatewayAdapter } from '../gateway.ts';
import { registeredHost } from '../captive-sessions/login-hosts.ts';

/**
 * CoovaChilli's universal access method (src/redir.c).
 *
 * Redirect: `?res=notyet&uamip=..&uamport=3990&challenge=..&mac=..&md=..`. `md` is the upper-case MD5 of the
 * URL before `&md=`, followed by the uamsecret. It reveals changed parameters.
 * Sign-in: `http://uamip:uamport/logon` with a CHAP response.
 */

const DEFAULT_PORT = 3990;
const CHALLENGE = /^[0-9a-f]{32}$/;

const md5 = (...parts: (string | Buffer)[]) =>
	hash('md5', Buffer.concat(parts.map((part) => Buffer.from(part))), 'buffer');

function checkSignature({ address }: EntryRequest, secret: string): void {
	const at = address.lastIndexOf('&md=');
	const given = at === -1 ? '' : address.slice(at + '&md='.length);
	const expected = md5(address.slice(0, Math.max(at, 0)), secret)
		.toString('hex')
		.toUpperCase();
	if (at === -1 || !equalSecrets(given.toUpperCase(), expected)) {
		throw new EntryRefused('forged', 'md does not match the URL');
	}
}

const STATES: Readonly<Record<string, EntryState>> = {
	notyet: 'new',
	success: 'online',
	already: 'online',
	failed: 'refused',
	logoff: 'signed-out',
	timeout: 'new'
};

export const coova: GatewayAdapter = {
	title: 'CoovaChilli',
	secretName: 'uamsecret',
	defaultPort: DEFAULT_PORT,
	startPath: '/prelogin',
	controlMode: () => 'radius',
	controller: null,
	configFor: coovaConfig,

	parseEntry(request, facts) {
		checkSize(request);
		const { fields } = request;
		const state = STATES[field(fields, 'res')];
		if (state === undefined) throw new EntryRefused('missing', 'res is missing');
		if (facts.secret !== null) checkSignature(request, facts.secret);
		const port = field(fields, 'uamport') || String(DEFAULT_PORT);
		const host = field(fields, 'uamip');
		if (!/^\d{1,5}$/.test(port) || host === '') throw new EntryRefused('broken', 'uamip is missing');
		const address = registeredHost(facts, `${host}:${port}`, DEFAULT_PORT);
		const challenge = field(fields, 'challenge').toLowerCase();
		if (state !== 'online' && !CHALLENGE.test(challenge)) {
			throw new EntryRefused('broken', 'The challenge is invalid');
		}
		return {
			state,
			problem:
				state === 'refused'
					? problemOf(field(fields, 'reply') || field(fields, 'reason') || 'rejected')
					: null,
			clientMac: clientMacOf(field(fields, 'mac')),
			clientIp: normaliseIp(field(fields, 'ip')),
			originalUrl: webAddressOf(field(fields, 'userurl')),
			login: state === 'online' ? {} : { address, challenge }
		};
	},

	// parseEntry checked the signature, which covers the MAC address.
	provesDevice: (_entry, _earlier, { secret }) => secret !== null,

	signInUrl({ login }, { user, password, landing }, facts) {
		const { address = '', challenge = '' } = login;
		if (!CHALLENGE.test(challenge)) throw new EntryRefused('missing', 'The challenge is missing');
		const raw = Buffer.from(challenge, 'hex');
		const shared = facts.secret === null ? raw : md5(raw, facts.secret);
		const url = new URL(`http://${registeredHost(facts, address, DEFAULT_PORT)}/logon`);
		url.searchParams.set('username', user);
		url.searchParams.set('response', md5('\0', password, shared).toString('hex'));
		url.searchParams.set('userurl', landing);
		return url.href;
	}
};

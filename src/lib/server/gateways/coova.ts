import { hash } from 'node:crypto';
import { normaliseIp } from '#lib/domain/address.ts';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import {
	type ConfigContext,
	type ConfigPart,
	refuseEntry,
	type EntryRequest,
	type EntryState,
	type GatewayAdapter,
	type GatewayFacts,
	checkSize,
	classifyProblem,
	formatFile,
	parseClientMac,
	parseWebAddress,
	readField,
	requireRegisteredHost
} from './gateway.ts';
import { freeRadius } from './freeradius.ts';

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

function checkSignature({ address, host }: EntryRequest, secret: string): void {
	const at = address.lastIndexOf('&md=');
	const given = address.slice(at + '&md='.length).toUpperCase();
	const isSigned = (written: string) =>
		equalSecrets(given, md5(written, secret).toString('hex').toUpperCase());
	if (at !== -1 && Iterator.from(listSpellings(address.slice(0, at), host)).some(isSigned)) return;
	throw refuseEntry('forged', 'md does not match the URL');
}

/**
 * Chilli signs its uamserver as an administrator wrote it. The browser asks for it in lower case, without the default
 * port; our redirect removes a slash at its end. So what was signed is one of these, the usual one first.
 */
function* listSpellings(address: string, host: string | undefined): Generator<string> {
	yield address;
	const [, scheme = '', authority = '', path = '', query = ''] =
		/^(https?):\/\/([^/?]*)([^?]*)(.*)$/s.exec(address) ?? [];
	const bare = path.replace(/(?<!\/)\/+$/, '');
	for (const one of new Set([authority, host ?? authority])) {
		for (const origin of listOrigins(scheme, one)) {
			for (const written of [bare, `${bare}/`]) yield origin + written + query;
		}
	}
}

function* listOrigins(scheme: string, host: string): Generator<string> {
	// A proxy may hide the scheme with which the device came.
	for (const other of ['http', 'https', 'HTTP', 'HTTPS']) yield `${other}://${host}`;
	for (const name of listCapitals(host)) {
		yield `${scheme}://${name}`;
		yield `${scheme}://${withPort(name, scheme)}`;
	}
}

const withPort = (host: string, scheme: string) =>
	/:\d+$/.test(host) ? host : `${host}:${scheme === 'https' ? 443 : 80}`;

/** Each pair of letters costs four digests of a forged redirect. */
const MAX_CAPITALS_LENGTH = 40;

/** Returns a host in lower and in upper case, with a capital in front of its parts, and with one or two capitals. */
function listCapitals(host: string): string[] {
	const name = host.toLowerCase();
	const plain = [
		host,
		name,
		name.toUpperCase(),
		name.replace(/(^|[.-])[a-z]/g, (part) => part.toUpperCase())
	];
	if (name.length > MAX_CAPITALS_LENGTH) return plain;
	const raise = (text: string, at: number) =>
		text.slice(0, at) + text.charAt(at).toUpperCase() + text.slice(at + 1);
	const letters = [...name.matchAll(/[a-z]/g)].map(({ index }) => index);
	const raised = letters.flatMap((one) =>
		letters.filter((other) => other >= one).map((other) => raise(raise(name, one), other))
	);
	return [...new Set([...plain, ...raised])];
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
		const state = STATES[readField(fields, 'res')];
		if (state === undefined) throw refuseEntry('missing', 'res is missing');
		if (facts.secret !== null) checkSignature(request, facts.secret);
		const port = readField(fields, 'uamport') || String(DEFAULT_PORT);
		const host = readField(fields, 'uamip');
		if (!/^\d{1,5}$/.test(port) || host === '') throw refuseEntry('broken', 'uamip is missing');
		const address = requireRegisteredHost(facts, `${host}:${port}`, DEFAULT_PORT);
		const challenge = readField(fields, 'challenge').toLowerCase();
		if (state !== 'online' && !CHALLENGE.test(challenge)) {
			throw refuseEntry('broken', 'The challenge is invalid');
		}
		return {
			state,
			problem:
				state === 'refused'
					? classifyProblem(readField(fields, 'reply') || readField(fields, 'reason') || 'rejected')
					: null,
			clientMac: parseClientMac(readField(fields, 'mac')),
			clientIp: normaliseIp(readField(fields, 'ip')),
			originalUrl: parseWebAddress(readField(fields, 'userurl')),
			login: state === 'online' ? {} : { address, challenge }
		};
	},

	// parseEntry checked the signature, which covers the MAC address.
	provesDevice: (_entry, _earlier, { secret }) => secret !== null,

	signInUrl({ login }, { user, password, landing }, facts) {
		const { address = '', challenge = '' } = login;
		if (!CHALLENGE.test(challenge)) throw refuseEntry('missing', 'The challenge is missing');
		const raw = Buffer.from(challenge, 'hex');
		const shared = facts.secret === null ? raw : md5(raw, facts.secret);
		const url = new URL(`http://${requireRegisteredHost(facts, address, DEFAULT_PORT)}/logon`);
		url.searchParams.set('username', user);
		url.searchParams.set('response', md5('\0', password, shared).toString('hex'));
		url.searchParams.set('userurl', landing);
		return url.href;
	}
};

/**
 * Returns /etc/chilli/config (Debian's package) and the RADIUS server's configuration. OpenWrt's package has the same
 * options in /etc/config/chilli, in lower case without `HS_`.
 */
function coovaConfig(facts: GatewayFacts, context: ConfigContext): ConfigPart[] {
	const [own = '10.1.0.1'] = facts.loginHosts;
	const [address = own, port = '3990'] = own.split(':');
	const { gateway, portal, radiusServer } = context;
	const lines = [
		'# Add HS_WANIF, HS_LANIF and HS_NETWORK of this router. Chilli controls only IPv4: disable IPv6 on HS_LANIF',
		'# (sysctl -w net.ipv6.conf.HS_LANIF.disable_ipv6=1), or the kernel forwards it for devices that have not paid.',
		`HS_UAMLISTEN=${address}`,
		`HS_UAMPORT=${port}`,
		`HS_NASID=airtill-${gateway.name}`,
		`HS_UAMSECRET=${facts.secret ?? ''}`,
		`HS_UAMFORMAT=${portal.origin}/splash/${gateway.key}`,
		`HS_UAMHOMEPAGE=`,
		'# Reachable before a sign-in: only the portal, never the pages with which phones detect the internet.',
		`HS_UAMALLOW=${portal.hostname}`,
		`HS_RADIUS=${radiusServer}`,
		`HS_RADIUS2=${radiusServer}`,
		`HS_RADSECRET=${facts.credentials.radiusSecret ?? ''}`,
		'# Port for Disconnect-Requests: a pass that is ended early ends at once.',
		`HS_COAPORT=${facts.settings.nasPort ?? 3799}`,
		'# From any address: it is signed with the RADIUS secret.',
		'HS_RAW_CONFIG2=coanoipcheck',
		'HS_DEFINTERIMINTERVAL=60'
	];
	const title = `# ${gateway.name}: devices without internet are sent to ${portal.origin}. Contains secrets: mode 600.`;
	return [
		{ title: 'CoovaChilli', file: '/etc/chilli/config', text: formatFile(title, lines) },
		...freeRadius(facts, context)
	];
}

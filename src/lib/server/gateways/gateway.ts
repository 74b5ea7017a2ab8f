import { z } from 'zod';
import type { AccessKind } from '#lib/domain/wifi.ts';
import type { HttpOutcome, HttpRequest } from '../platform/http-client.ts';
import { normaliseMac } from '#lib/domain/address.ts';
import { isIPv4 } from 'node:net';
import { Refused } from '../platform/errors.ts';

/**
 * The adapter interface for gateways.
 *
 * Flow: the gateway redirects a device without internet to `/splash/{key}`. The buyer pays there, and the
 * gateway connects the device (see ControlMode).
 * Trust: every customer sees the key, and a redirect comes through the customer's browser. Prices, the
 * network name and login hosts come from our own rows only.
 * Layers: adapters translate between a vendor and these types, without a database. access/ decides which
 * devices may be online, and until when.
 */

export const GATEWAY_KINDS = ['opennds', 'mikrotik', 'mikrotik-fetch', 'coova', 'unifi', 'hostapd'] as const;
export type GatewayKind = (typeof GATEWAY_KINDS)[number];

export const settingsShape = z.object({
	/** openNDS: `fas_secure_enabled`. */
	level: z.union([z.literal(1), z.literal(4)]).optional(),
	/**
	 * openNDS at level 1: its BinAuth script sets the limits of an offer. Gateways get this with the first question of
	 * the script on openNDS 10 or newer.
	 */
	binauthLimits: z.literal(true).optional(),
	/** UniFi: the site's name in the redirect. */
	site: z.string().optional(),
	/** UniFi: MAC addresses of the access points, if several gateways share a site name. */
	accessPoints: z.array(z.string()).optional(),
	/** MikroTik: how it is controlled; default `radius`. */
	control: z.enum(['radius', 'rest']).optional(),
	/** Base URL of the gateway's own API: RouterOS REST or the UniFi console. */
	api: z.string().optional(),
	/** PEM of the API's certificate, or of the authority that signed it. */
	apiCertificate: z.string().optional(),
	/** An owner gave the API's address and key: Airtill connects only to public addresses. */
	publicApi: z.literal(true).optional(),
	/** Address from which it sends RADIUS requests, and at which it accepts Disconnect-Requests. */
	nas: z.string().optional(),
	/** Default 3799. */
	nasPort: z.int().optional()
});
export type GatewaySettings = z.output<typeof settingsShape>;

/** Credentials besides `secret`; generated here or entered at registration. */
export const credentialsShape = z.object({
	/** Shared by gateway and RADIUS server (RFC 2865). */
	radiusSecret: z.string().optional(),
	/** Bearer token of the RADIUS server, or of a script on the gateway. The hash of it for a MikroTik that fetches. */
	token: z.string().optional(),
	/** UniFi: X-API-KEY. RouterOS: the password of its API user. */
	apiKey: z.string().optional(),
	apiUser: z.string().optional()
});
export type GatewayCredentials = z.output<typeof credentialsShape>;

export interface GatewayFacts {
	/** `host` or `host:port`, lower case. We send browsers with a password to no other host. */
	loginHosts: readonly string[];
	/** openNDS: faskey. CoovaChilli: uamsecret. */
	secret: string | null;
	credentials: GatewayCredentials;
	settings: GatewaySettings;
	/** Hexadecimal id of this installation, because several installations may control one gateway. */
	installation: string;
}

/**
 * The source from which a gateway learns which devices may be online.
 * - `browser`: the sign-in in the browser.
 * - `radius`: a RADIUS server, which asks us.
 * - `push`: our calls.
 * - `poll`: a list that it fetches from us.
 * - `fetch`: a script that it fetches from us and runs. It reports what is there.
 * - `external`: another system.
 */
export type ControlMode = 'browser' | 'radius' | 'push' | 'poll' | 'fetch' | 'external';

/** The browser's request after a redirect by the gateway. */
export interface EntryRequest {
	method: 'GET' | 'POST';
	/** The complete URL, byte by byte as requested: CoovaChilli signs it. */
	address: string;
	/** The Host header, if it may differ from the host of the address: this installation has a public address. */
	host?: string | undefined;
	fields: URLSearchParams;
}

export const entryShape = z.object({
	/** `refused`: a sign-in has just failed; see `problem`. */
	state: z.enum(['new', 'online', 'refused', 'signed-out']),
	/** Derived from the gateway's message, which is never shown. */
	problem: z.enum(['wrong-password', 'time-over', 'too-many-devices', 'not-ready', 'unknown']).nullable(),
	/** `aa:bb:cc:dd:ee:ff` */
	clientMac: z.string().nullable(),
	clientIp: z.string().nullable(),
	originalUrl: z.string().nullable(),
	/** Data for the adapter's `signInUrl`, for example a challenge. */
	login: z.record(z.string(), z.string())
});
export type Entry = z.output<typeof entryShape>;
export type EntryState = Entry['state'];
type EntryProblem = NonNullable<Entry['problem']>;

/** `foreign-host`: the host is not registered. `forged`: the signature is wrong. */
export type RefusalReason = 'missing' | 'broken' | 'too-long' | 'foreign-host' | 'forged';

/** Rejects a request that is not a redirect of this gateway. */
export const refuseEntry = (reason: RefusalReason, detail: string) =>
	new Refused<RefusalReason>(reason, detail);

export interface PassLogin {
	user: string;
	password: string;
	/** Our URL, to which the gateway sends the browser afterwards. */
	landing: string;
}

/** The speed limits of a device in kbit/s; null without a limit. */
export interface Speed {
	down: number | null;
	up: number | null;
}

export interface DeviceLogin {
	user: string;
	/** '' for a disconnect. */
	password: string;
	/** `aa:bb:cc:dd:ee:ff`; null at gateways that control users. */
	mac: string | null;
	/** `Entry.login` of the captive session; empty if that has expired. */
	login: Readonly<Record<string, string>>;
	maxDevices: number;
	speed: Speed;
	/** Bytes that the pass has left; null without a limit. */
	dataLeft: number | null;
}

/** Why a gateway that lets in only devices on its Wi-Fi has not let one in. Buyers are told to join. */
export const DEVICE_ABSENT = 'The device is not on the Wi-Fi now.';

/** `impossible`: the device has left, so the gateway cannot disconnect it. Its access expires there. */
export type CommandResult = 'done' | 'impossible';

export interface GatewayStatus {
	/** Sentences for people. */
	problems: string[];
	reachable: boolean;
	/** False if it would refuse our commands, such as for a wrong key: a buyer there would pay and stay offline. */
	isUsable: boolean;
	/** Its clock minus ours; null if it does not report its time. */
	clockOffsetMs: number | null;
	/** Devices online; null if it does not report them. */
	online: number | null;
	/** What it lets in; null without a reading. */
	reading: GatewayReading | null;
}

export interface GatewayReading {
	/** Whether it lets in a device or user that it was told of; null if it does not tell. */
	letsIn(device: Pick<DeviceLogin, 'user' | 'mac'>): boolean | null;
	/** The users that this installation made. */
	users: readonly string[];
}

/** The network for adapters, limited in time and size. */
export interface GatewayTransport {
	send(
		outgoing: HttpRequest,
		settings: Pick<GatewaySettings, 'apiCertificate' | 'publicApi'>
	): Promise<HttpOutcome>;
	/** Milliseconds since the epoch. */
	now(): number;
}

/** Controls a gateway by calling it. Every call is safe to repeat. Methods throw Unavailable if it did not apply a command, with a
 * message for people and without secrets. */
export interface DeviceController {
	/** `device`: by MAC address. `user`: by username. */
	subject: 'device' | 'user';
	/** Connects a device until `untilMs`, or moves its end. */
	connect(
		device: DeviceLogin,
		untilMs: number,
		facts: GatewayFacts,
		transport: GatewayTransport
	): Promise<'done'>;
	/** Ends access now. Returns `done` as well if the gateway does not know the device. */
	disconnect(device: DeviceLogin, facts: GatewayFacts, transport: GatewayTransport): Promise<CommandResult>;
	/** Returns the bytes that it counted for a device or user; null if the gateway does not know it. */
	usage(device: DeviceLogin, facts: GatewayFacts, transport: GatewayTransport): Promise<number | null>;
	status(facts: GatewayFacts, transport: GatewayTransport): Promise<GatewayStatus>;
	/** Returns whether a device is on the gateway's network now, at its IP address if the redirect has one. */
	sees?(
		device: { mac: string; ip: string | null },
		facts: GatewayFacts,
		transport: GatewayTransport
	): Promise<boolean>;
}

export interface ConfigContext {
	portal: PortalAddress;
	/** URL at which the RADIUS server reaches this installation. */
	apiOrigin: string;
	/** Address of the RADIUS server as the gateway reaches it. */
	radiusServer: string;
	gateway: { name: string; key: string };
	router: { ssid: string; hidden: boolean; accessKind: AccessKind };
}

export interface ConfigPart {
	title: string;
	/** Path of the file; null for manual steps. */
	file: string | null;
	text: string;
}

export interface GatewayAdapter {
	title: string;
	/** The vendor's name for `secret`; null if there is none. */
	secretName: string | null;
	/** Port of a login host without one; null if the kind has no login hosts. */
	defaultPort: number | null;
	/** Path on a login host that triggers another redirect; null if only the operating system's probes do. */
	startPath: string | null;
	controlMode(facts: Pick<GatewayFacts, 'settings'>): ControlMode;
	/** null for kinds that we never call. */
	controller: DeviceController | null;
	/** Returns the complete configuration, including secrets. */
	configFor(facts: GatewayFacts, context: ConfigContext): ConfigPart[];
	/** Reads a redirect. @throws Refused */
	parseEntry(request: EntryRequest, facts: GatewayFacts): Entry;
	/** Returns whether a redirect shows, by more than a MAC address, the device of an earlier one. */
	provesDevice?(entry: Entry, earlier: Entry, facts: GatewayFacts): boolean;
	/** Returns the URL with which the browser signs in. @throws Refused if the entry's host is not registered */
	signInUrl?(entry: Entry, login: PassLogin, facts: GatewayFacts): string;
}

/** Characters. No real redirect is longer. */
const MAX_ENTRY_LENGTH = 8_192;
const MAX_URL_LENGTH = 2_048;

/** @throws Refused if the redirect is too long or empty */
export function checkSize({ address, fields }: EntryRequest): void {
	if (address.length > MAX_ENTRY_LENGTH || String(fields).length > MAX_ENTRY_LENGTH) {
		throw refuseEntry('too-long', `A redirect has at most ${MAX_ENTRY_LENGTH} characters`);
	}
	if (fields.size === 0) throw refuseEntry('missing', 'The redirect has no fields');
}

/** Matches a missing value: RouterOS leaves `$(name)` in place, openNDS prints `(null)`. */
const EMPTY = /^(\(null\)|\$\([\w-]+\))?$/;

/** Returns the first value of a field; '' if it is missing. */
export function readField(fields: URLSearchParams, name: string): string {
	const value = (fields.get(name) ?? '').trim();
	return EMPTY.test(value) ? '' : value;
}

/** Returns null for ''. @throws Refused if the address is invalid */
export function parseClientMac(text: string): string | null {
	if (text === '') return null;
	const mac = normaliseMac(text);
	if (mac === null) throw refuseEntry('broken', 'The MAC address of the client is invalid');
	return mac;
}

export function parseWebAddress(text: string): string | null {
	if (text === '' || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
	const { protocol, href } = new URL(text);
	return protocol === 'http:' || protocol === 'https:' ? href : null;
}

export function decodeText(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Messages of RouterOS, FreeRADIUS and CoovaChilli. The first match counts. */
const PROBLEMS: readonly [RegExp, EntryProblem][] = [
	[/simultaneous|no more sessions|multiple logins|device/i, 'too-many-devices'],
	[/uptime limit|time limit|expired|session limit|no (more )?(time|data)|quota|traffic limit/i, 'time-over'],
	[/not responding|timeout|timed out|not ready|unavailable|internal|try again/i, 'not-ready'],
	[/invalid|password|reject|unknown user|not found|incorrect|denied/i, 'wrong-password']
];

export const classifyProblem = (message: string): EntryProblem =>
	PROBLEMS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown';

const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const MAX_HOST_LENGTH = 253;

/** Normalises `host` or `host:port`; null if invalid. No gateway redirects with an IPv6 address. */
export function normaliseLoginHost(text: string): string | null {
	const [, host = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(text.trim().toLowerCase()) ?? [];
	if (host.length > MAX_HOST_LENGTH || !HOST.test(host)) return null;
	if (/^[\d.]+$/.test(host) && !isIPv4(host)) return null;
	if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return null;
	return port === undefined ? host : `${host}:${Number(port)}`;
}

/**
 * @param address `host` or `host:port`
 * @param defaultPort port of an address that names none
 * @returns `host:port` @throws Refused for an address that is not registered
 */
export function requireRegisteredHost(
	{ loginHosts }: GatewayFacts,
	address: string,
	defaultPort: number
): string {
	const withPort = (host: string) => (host.includes(':') ? host : `${host}:${defaultPort}`);
	const wanted = withPort(address.toLowerCase());
	if (loginHosts.map(withPort).includes(wanted)) return wanted;
	throw refuseEntry('foreign-host', `${wanted} is not a registered login host`);
}

/** WISPr attributes and RouterOS count bit/s in 32 bits. */
const MAX_KBPS = 4_294_967;
/** The integration API takes 2 to this many kbit/s. */
const UNIFI_MOST_KBPS = 100_000;

interface Limiting {
	kind: GatewayKind;
	mode: ControlMode;
	settings: GatewaySettings;
}

/** Returns the highest speed limit that a gateway takes. */
export const computeMaxSpeedKbps = ({ kind }: Pick<Limiting, 'kind'>): number =>
	kind === 'unifi' ? UNIFI_MOST_KBPS : MAX_KBPS;

/** Returns why a gateway does not hold a limit of speed; null if it does. See src/docs/routers-and-gateways.md. */
export function explainUnheldSpeed({ kind, mode, settings }: Limiting, kbps: number) {
	if (mode === 'external' || kind === 'hostapd') return 'unable';
	if (mode === 'browser' && !settings.binauthLimits) return 'needs_script';
	return kbps > computeMaxSpeedKbps({ kind }) ? 'too_fast' : null;
}

/** As `explainUnheldSpeed`, for a limit of data that so many devices share. */
export function explainUnheldData({ kind, mode, settings }: Limiting, access: AccessKind, devices: number) {
	switch (mode) {
		case 'external':
			return 'unable';
		case 'radius':
			// Only a Disconnect-Request ends all devices of a pass.
			if (settings.nas === undefined) return 'needs_address';
			return kind === 'hostapd' && access !== 'wpa_enterprise' ? 'needs_enterprise' : null;
		case 'push':
			if (kind !== 'mikrotik') return null;
			break;
		case 'browser':
			if (!settings.binauthLimits) return 'needs_script';
			break;
		case 'poll':
		case 'fetch':
	}
	// The gateway ends each device at what was left of the pass when that device came, and may report at its end only.
	return devices === 1 ? null : 'one_device_only';
}

/**
 * Bytes that a device can use between two reads of its counter, at 80 Mbit/s. A gateway that forgets the counter of a
 * device that it ends gets this much above what is left, so that we read the counter before.
 */
export const UNSEEN_BYTES = 150_000_000;

export const isUnlimited = ({ down, up }: Speed): boolean => down === null && up === null;

/** Formats a speed as RouterOS does: from the device, then to it. Both are needed, so no limit is the highest one. */
export const formatRouterOsRate = ({ down, up }: Speed): string => `${up ?? MAX_KBPS}k/${down ?? MAX_KBPS}k`;

/** RADIUS integers have 32 bits. */
const GIGAWORD = 2 ** 32;

/** Splits an amount of data for RADIUS. The low word is never 0, which gateways read as no limit. */
export const splitDataWords = (bytes: number): { octets: number; gigawords: number } => ({
	octets: Math.max(1, bytes % GIGAWORD),
	gigawords: Math.floor(bytes / GIGAWORD)
});

/**
 * Formats the limits for openNDS: kbit/s up and down, then units of 1,024 bytes up and down; 0 is no limit. It counts
 * each direction on its own, so each gets all that is left. Rounded up: what openNDS ends has used its limit.
 */
export function formatOpenndsLimits({ down, up }: Speed, dataLeft: number | null): string {
	const quota = dataLeft === null ? 0 : Math.max(1, Math.ceil(dataLeft / 1_024));
	return `${up ?? 0} ${down ?? 0} ${quota} ${quota}`;
}

/** Placeholders for unknown addresses. Gateways reject them, so an unfinished file fails at import. */
export const UNKNOWN = {
	machine: 'THIS-MACHINE',
	radius: 'ADDRESS-OF-RADIUS',
	gateway: 'ADDRESS-OF-GATEWAY',
	airtill: 'ADDRESS-OF-AIRTILL'
} as const;

const MEANINGS: Record<keyof typeof UNKNOWN, string> = {
	machine: 'the address of this installation (or set ORIGIN)',
	radius: 'the address at which the gateway reaches the RADIUS server (or use --radius-server)',
	gateway: 'the address from which the gateway sends RADIUS requests (register it with --nas)',
	airtill: 'the address from which Airtill sends Disconnect-Requests'
};

/** Returns the placeholders in a text, and what to put there. */
export const findPlaceholders = (text: string): { name: string; what: string }[] =>
	Object.entries(UNKNOWN).flatMap(([key, name]) =>
		text.includes(name) ? [{ name, what: MEANINGS[key as keyof typeof UNKNOWN] }] : []
	);

/** Returns the text of a file, with comments about its placeholders after the first line. */
export function formatFile(firstLine: string, lines: readonly string[]): string {
	const text = lines.join('\n');
	const notes = findPlaceholders(text).map(({ name, what }) => `# ${name}: ${what}.`);
	return `${[firstLine, ...notes, text].join('\n')}\n`;
}

/** The address at which devices reach this installation; `port` is '' for the protocol's default. */
export type PortalAddress = ReturnType<typeof parsePortalAddress>;

export function parsePortalAddress({ origin: text, port: ownPort }: { origin: string | null; port: number }) {
	if (text !== null) {
		const { origin, protocol, hostname, port } = new URL(text);
		return { origin, protocol, hostname, port };
	}
	// A URL would lower-case the placeholder.
	const port = ownPort === 80 ? '' : String(ownPort);
	const origin = `http://${UNKNOWN.machine}${port === '' ? '' : `:${port}`}`;
	return { origin, protocol: 'http:', hostname: UNKNOWN.machine, port };
}

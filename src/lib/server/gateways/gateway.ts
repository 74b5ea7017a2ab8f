import { z } from 'zod';
import type { AccessKind } from '#lib/domain/wifi.ts';
import type { PortalAddress } from './config-text.ts';
import type { HttpOutcome, HttpRequest } from '../platform/http-client.ts';

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

export const GATEWAY_KINDS = ['opennds', 'mikrotik', 'coova', 'unifi', 'hostapd'] as const;
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
	/** Bearer token of the RADIUS server, or of a script on the gateway. */
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
 * - `external`: another system.
 */
export type ControlMode = 'browser' | 'radius' | 'push' | 'poll' | 'external';

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
export type EntryProblem = NonNullable<Entry['problem']>;

/** `foreign-host`: the host is not registered. `forged`: the signature is wrong. */
export type RefusalReason = 'missing' | 'broken' | 'too-long' | 'foreign-host' | 'forged';

/** Rejects a request that is not a redirect of this gateway. */
export class EntryRefused extends Error {
	readonly reason: RefusalReason;

	constructor(reason: RefusalReason, detail: string) {
		super(detail);
		this.name = 'EntryRefused';
		this.reason = reason;
	}
}

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

/** Reports that a gateway did not apply a command. The message is for people and has no secrets. */
export class Unavailable extends Error {}

/** `impossible`: the device has left, so the gateway cannot disconnect it. Its grant expires there. */
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

/** Controls a gateway by calling it. Every call is safe to repeat. Methods throw Unavailable. */
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
	/** Reads a redirect. @throws EntryRefused */
	parseEntry(request: EntryRequest, facts: GatewayFacts): Entry;
	/** Returns whether a redirect shows, by more than a MAC address, the device of an earlier one. */
	provesDevice?(entry: Entry, earlier: Entry, facts: GatewayFacts): boolean;
	/** Returns the URL with which the browser signs in. @throws EntryRefused if the entry's host is not registered */
	signInUrl?(entry: Entry, login: PassLogin, facts: GatewayFacts): string;
}

import { z } from 'zod';
import type { AccessKind } from '#lib/domain/access-kind.ts';
import type { HttpOutcome, OperatorRequest } from '../billing/operators/http.ts';

/**
 * The adapter interface for gateways.
 *
 * Flow: the gateway redirects a device without internet to `/splash/{key}`. The buyer pays there, and the gateway lets
 * the device online: because we call it, because it polls us, because it asks a RADIUS server, or because the browser
 * signs in at it.
 *
 * Trust: every customer sees the key, and everything in a redirect comes through the customer's browser. Prices, the
 * network name and the hosts that a browser may be sent to come from our own rows only.
 *
 * Adapters translate between a vendor and these types. They use no database; access/ decides which devices may be
 * online, and until when.
 */

export const GATEWAY_KINDS = ['opennds', 'mikrotik', 'coova', 'unifi', 'hostapd'] as const;
export type GatewayKind = (typeof GATEWAY_KINDS)[number];

/** Settings that only some kinds have. */
export const settingsShape = z.object({
	/** openNDS: `fas_secure_enabled`. */
	level: z.union([z.literal(1), z.literal(4)]).optional(),
	/** UniFi: the site's name in the redirect. */
	site: z.string().optional(),
	/** UniFi: MAC addresses of the access points, where several gateways share a site name. */
	accessPoints: z.array(z.string()).optional(),
	/** MikroTik: how it is controlled; default `radius`. */
	control: z.enum(['radius', 'rest']).optional(),
	/** Base URL of the gateway's own API: RouterOS REST, UniFi console. */
	api: z.string().optional(),
	/** PEM of the certificate that its API presents, or of the authority that signed it. */
	apiCertificate: z.string().optional(),
	/** openNDS at level 1 on this machine: path of `ndsctl`. */
	ndsctl: z.string().optional(),
	/** Address from which it sends RADIUS requests, and at which it accepts Disconnect-Requests. */
	nas: z.string().optional(),
	/** Port for Disconnect-Requests; default 3799. */
	nasPort: z.int().optional(),
	/** Something other than Airtill lets its devices online. */
	external: z.literal(true).optional()
});
export type GatewaySettings = z.output<typeof settingsShape>;

/** Credentials besides `secret`; generated here or entered at registration. */
export const credentialsShape = z.object({
	/** Shared by gateway and RADIUS server (RFC 2865). */
	radiusSecret: z.string().optional(),
	/** `Authorization: Bearer` of the RADIUS server, or of a script on the gateway. */
	token: z.string().optional(),
	/** UniFi: X-API-KEY. RouterOS: the password of its API user. */
	apiKey: z.string().optional(),
	/** RouterOS: user of its REST API. */
	apiUser: z.string().optional()
});
export type GatewayCredentials = z.output<typeof credentialsShape>;

/** The part of a registered gateway that adapters see. */
export interface GatewayFacts {
	/** `host` or `host:port`, lower case. A browser is sent to no other host. */
	loginHosts: readonly string[];
	/** openNDS: faskey. CoovaChilli: uamsecret. */
	secret: string | null;
	credentials: GatewayCredentials;
	settings: GatewaySettings;
	/** Hexadecimal id of this installation, for a gateway that several installations control. */
	installation: string;
}

/**
 * How a gateway learns which devices may be online.
 * - `browser`: the sign-in in the browser proves it.
 * - `radius`: the gateway asks a RADIUS server, which asks us.
 * - `push`: we call the gateway.
 * - `poll`: the gateway fetches a list from us.
 * - `external`: another system does it.
 */
export type ControlMode = 'browser' | 'radius' | 'push' | 'poll' | 'external';

/** The request that the gateway made the browser send. */
export interface EntryRequest {
	method: 'GET' | 'POST';
	/** The complete URL, byte by byte as requested. */
	address: string;
	/** Query parameters or form fields. */
	fields: URLSearchParams;
}

/** The content of a redirect. Unverified: it comes through the customer's browser. */
export const entryShape = z.object({
	/** `refused`: a sign-in has just failed, see `problem`. */
	state: z.enum(['new', 'online', 'refused', 'signed-out']),
	/** Derived from the gateway's message. The message itself is never shown. */
	problem: z.enum(['wrong-password', 'time-over', 'too-many-devices', 'not-ready', 'unknown']).nullable(),
	/** `aa:bb:cc:dd:ee:ff` */
	clientMac: z.string().nullable(),
	clientIp: z.string().nullable(),
	/** The URL that the customer requested first. */
	originalUrl: z.string().nullable(),
	/** Data for `finish` of the same adapter, for example a challenge. */
	login: z.record(z.string(), z.string())
});
export type Entry = z.output<typeof entryShape>;
export type EntryState = Entry['state'];
export type EntryProblem = NonNullable<Entry['problem']>;

/** `foreign-host`: it would send the browser to a host that is not registered. `forged`: its signature is wrong. */
export type RefusalReason = 'missing' | 'broken' | 'too-long' | 'foreign-host' | 'forged';

/** The request is not a redirect of this gateway. */
export class EntryRefused extends Error {
	readonly reason: RefusalReason;

	constructor(reason: RefusalReason, detail: string) {
		super(detail);
		this.name = 'EntryRefused';
		this.reason = reason;
	}
}

/** The username and password of a pass, for a sign-in at the gateway. */
export interface PassLogin {
	user: string;
	password: string;
	/** URL of ours to which the gateway sends the browser afterwards. */
	landing: string;
}

/** `navigate`: the browser opens `url` to sign in. `waits`: the gateway lets the device online by itself. */
export type Finish = { kind: 'navigate'; url: string } | { kind: 'waits' };

/** The device or user of a grant. */
export interface DeviceLogin {
	user: string;
	/** '' for a disconnect. */
	password: string;
	/** `aa:bb:cc:dd:ee:ff`; null at gateways that control users instead of devices. */
	mac: string | null;
	/** `Entry.login` of the device's captive session; empty if that has expired. */
	login: Readonly<Record<string, string>>;
	/** Devices that may use the pass at the same time. */
	maxDevices: number;
	/** The grant is older than the installation id in user comments. */
	mayBeUnmarked: boolean;
}

/** A gateway did not apply a command. The message is a sentence for people and contains no secret. */
export class Unavailable extends Error {}

/** `impossible`: the gateway cannot do it, because the device has left. It ends the access by itself. */
export type CommandResult = 'done' | 'impossible';

export interface GatewayStatus {
	/** Sentences for people; empty if all is well. */
	problems: string[];
	reachable: boolean;
	/** Its clock minus ours; null if it does not report its time. */
	clockOffsetMs: number | null;
	/** Number of devices online; null if it does not report it. */
	online: number | null;
}

/** Network and processes for adapters, limited in time and size. */
export interface Reach {
	/** See operators/http.ts. @param certificate see GatewaySettings.apiCertificate; null: the system's authorities */
	send(outgoing: OperatorRequest, certificate?: string | null): Promise<HttpOutcome>;
	/** Runs a local program without a shell. The code is -1 if it did not start or timed out. */
	run(program: string, args: readonly string[]): Promise<{ code: number; output: string }>;
	/** Milliseconds since the epoch. */
	now(): number;
}

/** Controls a gateway by calling it. Every call may be repeated. Methods throw Unavailable. */
export interface DeviceController {
	/** Whether it controls devices (by MAC address) or users. */
	subject: 'device' | 'user';
	/** Lets a device online until `untilMs`, or moves its end. */
	authorize(device: DeviceLogin, untilMs: number, facts: GatewayFacts, reach: Reach): Promise<'done'>;
	/** Ends access now. Also `done` if the gateway does not know the device. */
	disconnect(device: DeviceLogin, facts: GatewayFacts, reach: Reach): Promise<CommandResult>;
	status(facts: GatewayFacts, reach: Reach): Promise<GatewayStatus>;
}

/** The addresses that a printed configuration needs. */
export interface ConfigSite {
	/** Public URL of this installation; null if unknown. */
	origin: string | null;
	/** URL at which the RADIUS server reaches this installation. */
	apiOrigin: string;
	/** Address of the RADIUS server as the gateway reaches it; null if unknown. */
	radiusServer: string | null;
	port: number;
	gateway: { name: string; key: string; routerId: number };
	router: { ssid: string; accessKind: AccessKind; networkPassword: string | null } | null;
}

/** Placeholders for unknown addresses. No gateway accepts them, so an unfinished configuration fails at import. */
export const UNKNOWN = {
	radius: 'ADDRESS-OF-RADIUS',
	airtill: 'ADDRESS-OF-AIRTILL',
	gateway: 'ADDRESS-OF-GATEWAY',
	machine: 'THIS-MACHINE'
} as const;

/** One file or one manual step of a gateway's configuration. */
export interface ConfigPart {
	/** For example `FreeRADIUS: client`, `login.html`. */
	title: string;
	/** Where the file belongs, e.g. `/etc/freeradius/3.0/mods-enabled/airtill-lobby`; null for manual steps. */
	file: string | null;
	text: string;
}

/** The adapter of one kind of gateway. */
export interface Gateway {
	kind: GatewayKind;
	/** The vendor's spelling. */
	title: string;
	/** The vendor's name for `secret`; null if there is none. */
	secretName: string | null;
	/** Port of a login host that names none; null if the kind has no login hosts. */
	defaultPort: number | null;
	/** How sign-ins finish at this gateway. */
	finishes(facts: GatewayFacts): Finish['kind'];
	controlMode(facts: GatewayFacts): ControlMode;
	/** Whether a person can sign in there by typing the username and password of a pass. */
	takesPassword(facts: GatewayFacts): boolean;
	/** null for kinds that we never call. */
	controller: DeviceController | null;
	/** The complete configuration of this gateway, including its secrets. */
	configFor(facts: GatewayFacts, site: ConfigSite): ConfigPart[];
	/** Reads a redirect. @throws EntryRefused */
	parseEntry(request: EntryRequest, facts: GatewayFacts): Entry;
	/** The next step for the browser. @throws EntryRefused if the host in the entry is no longer registered */
	finish(entry: Entry, login: PassLogin, facts: GatewayFacts): Finish;
	/** URL that makes the gateway redirect again; null if only the operating system's probes do. */
	startAddress(facts: GatewayFacts): string | null;
}

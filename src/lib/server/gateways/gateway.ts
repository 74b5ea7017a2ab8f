import type { AccessKind } from '#lib/domain/access-kind.ts';
import type { HttpOutcome, OperatorRequest } from '../billing/operators/http.ts';

/**
 * The interface to gateways: the programs on a router that send devices without internet to our splash page.
 *
 * Connecting a gateway (portal side): `airtill gateways add NAME --router ID --kind opennds|mikrotik|coova|unifi|hostapd
 * --login-host HOST` registers it and prints the address that has to be entered in it as its portal, with the secret
 * that both sides share. From then on whoever joins that router's Wi-Fi lands on `/splash/{key}`, sees the price of that
 * router, pays, reads the password and is sent back to the gateway, which lets the device online. The key names the
 * gateway and proves nothing, because every customer sees it; all that the gateway hands over comes through the
 * customer's browser, so prices, the Wi-Fi name and the hosts that a browser may be sent to come from our own rows only.
 * `airtill gateways show NAME` repeats the addresses, with the text for DHCP option 114 (RFC 8910) that announces
 * `/captive-portal/{key}` (RFC 8908) on installations that are reached by https. `gateways config NAME` prints what else
 * has to be set in it, `gateways test NAME` looks whether it works.
 *
 * An adapter translates and decides nothing: it reads what its gateway hands over (`parseEntry`), says where a browser
 * has to go to be let online (`finish`), tells the gateway who may be (`tell`), and writes its configuration
 * (`configFor`). It touches no database; who may be online, and until when, is decided in access/.
 */

export const GATEWAY_KINDS = ['opennds', 'mikrotik', 'coova', 'unifi', 'hostapd'] as const;
export type GatewayKind = (typeof GATEWAY_KINDS)[number];

/** What only some kinds need. */
export interface GatewaySettings {
	/** openNDS: `fas_secure_enabled`. */
	level?: 1 | 4 | undefined;
	/** UniFi: the site's name in the address that it calls. */
	site?: string | undefined;
	/** UniFi: its access points, where several gateways share one site name. */
	accessPoints?: string[] | undefined;
	/** How a MikroTik learns who may be online; `radius` where it is not said. */
	control?: 'radius' | 'rest' | undefined;
	/** Base address of the gateway's own API: RouterOS' REST, UniFi's console. */
	api?: string | undefined;
	/** PEM of the one certificate that its API shows, or of the authority that signed it. */
	apiCertificate?: string | undefined;
	/** openNDS at level 1 on this machine: path of its `ndsctl`. */
	ndsctl?: string | undefined;
	/** Address from which it asks RADIUS, and at which it takes Disconnect-Requests; its port where that is not 3799. */
	nas?: string | undefined;
	nasPort?: number | undefined;
	/** Something else lets its devices online. */
	external?: true | undefined;
}

/** What lets the two sides know each other, beside `secret`; all of it made here, or typed by whoever registers it. */
export interface GatewayCredentials {
	/** The secret between gateway and RADIUS server (RFC 2865). */
	radiusSecret?: string | undefined;
	/** What the RADIUS server, or a script on the gateway, shows us: `Authorization: Bearer`. */
	token?: string | undefined;
	/** UniFi: X-API-KEY. RouterOS: its user's password. */
	apiKey?: string | undefined;
	/** RouterOS: user of its REST API. */
	apiUser?: string | undefined;
}

/** What an adapter may know of a registered gateway. */
export interface GatewayFacts {
	/** `host` or `host:port` of its sign-in addresses, lower case: a browser is sent nowhere else. */
	loginHosts: readonly string[];
	/** Shared with the gateway: openNDS' faskey, CoovaChilli's uamsecret. */
	secret: string | null;
	credentials: GatewayCredentials;
	settings: GatewaySettings;
	/** Tells this installation from others that tell the same gateway: a short text of hexadecimal digits. */
	installation: string;
}

/**
 * How a gateway learns who may be online. `browser`: the sign-in in the browser proves it. `radius`: it asks a RADIUS
 * server, which asks us. `push`: we tell it. `poll`: it comes for a list. `elsewhere`: something else does it.
 */
export type ControlMode = 'browser' | 'radius' | 'push' | 'poll' | 'external';

/** A request as the gateway made the browser send it. */
export interface EntryRequest {
	method: 'GET' | 'POST';
	/** The whole address, byte by byte as it was asked for. */
	address: string;
	/** Parameters of the query, or the fields of the form. */
	fields: URLSearchParams;
}

/**
 * `new`: wants to go online. `online`: is online already. `refused`: a sign-in has just failed, see `problem`.
 * `signed-out`: the device has just been signed out.
 */
export type EntryState = 'new' | 'online' | 'refused' | 'signed-out';

/** Why a gateway refused a sign-in, as far as it can be told from its words, which are never shown themselves. */
export type EntryProblem = 'wrong-password' | 'time-over' | 'too-many-devices' | 'not-ready' | 'unknown';

/** What a gateway hands over. All of it comes through the customer's browser: hints, until the gateway itself acts. */
export interface Entry {
	state: EntryState;
	problem: EntryProblem | null;
	/** `aa:bb:cc:dd:ee:ff` */
	clientMac: string | null;
	clientIp: string | null;
	/** What the customer asked for first. */
	originalUrl: string | null;
	/** What `finish` of the same adapter needs, e.g. a challenge. */
	login: Readonly<Record<string, string>>;
}

/**
 * `missing`: nothing was handed over. `broken`: it cannot be read. `too-long`: it is longer than any honest one.
 * `foreign-host`: it would send the browser to a host that is not registered. `forged`: its signature is wrong.
 */
export type RefusalReason = 'missing' | 'broken' | 'too-long' | 'foreign-host' | 'forged';

/** The entry is not one that this gateway made. */
export class EntryRefused extends Error {
	readonly reason: RefusalReason;

	constructor(reason: RefusalReason, detail: string) {
		super(detail);
		this.name = 'EntryRefused';
		this.reason = reason;
	}
}

/** What a purchase gives to sign in with. */
export interface PassLogin {
	user: string;
	password: string;
	/** Where the gateway sends the browser afterwards: an address of ours. */
	landing: string;
}

/**
 * `navigate`: the browser goes to `url`, which lets the device online. `waits`: the gateway lets the device online by
 * itself, and nothing can be done in the browser.
 */
export type Finish = { kind: 'navigate'; url: string } | { kind: 'waits' };

/** Whom a gateway is told of. */
export interface DeviceLogin {
	user: string;
	/** '' when it is to be put out. */
	password: string;
	/** `aa:bb:cc:dd:ee:ff`; null where users are told, not devices. */
	mac: string | null;
	/** What the gateway handed over with the device (`Entry.login`); empty when that is forgotten. */
	login: Readonly<Record<string, string>>;
	/** As many at once. */
	maxDevices: number;
	/** It was told before users said which installation they are of. */
	mayBeUnmarked: boolean;
}

/**
 * `done`: the gateway has it. `unavailable`: it could not be told now, or did not understand; `reason` is for people, in
 * a sentence. `impossible`: it cannot be told such a thing, at all or of a device that is not there, and acts by itself
 * when the time is over.
 */
export type CommandResult =
	{ kind: 'done' } | { kind: 'unavailable'; reason: string } | { kind: 'impossible' };

export interface GatewayStatus {
	/** What is wrong, for people, in sentences; none where all is well. */
	problems: string[];
	/** Whether it answered at all. */
	reachable: boolean;
	/** Its clock less ours, where it says its time. */
	clockOffsetMs: number | null;
	/** Devices that it has online; null where it does not say. */
	online: number | null;
}

/** The ways out that an adapter may take; every one bounded in time and size. */
export interface Reach {
	/** See operators/http.ts. @param certificate see GatewaySettings.apiCertificate; null: as any other https */
	send(outgoing: OperatorRequest, certificate?: string | null): Promise<HttpOutcome>;
	/** Runs a program of this machine without a shell. @returns its exit code (-1: it did not start, or took too long) and output */
	run(program: string, args: readonly string[]): Promise<{ code: number; output: string }>;
	/** Our time, in milliseconds since the epoch. */
	now(): number;
}

/** For gateways that we tell: each call may be repeated. */
export interface DeviceController {
	/** Whether the gateway is told of a device (which must be known), or of a user. */
	subject: 'device' | 'user';
	/** Lets a guest online until `untilMs`; again with another end, that one counts. */
	authorize(device: DeviceLogin, untilMs: number, facts: GatewayFacts, reach: Reach): Promise<CommandResult>;
	/** Puts a guest out at once; `done` too where the gateway knows nothing of it. */
	disconnect(device: DeviceLogin, facts: GatewayFacts, reach: Reach): Promise<CommandResult>;
	status(facts: GatewayFacts, reach: Reach): Promise<GatewayStatus>;
}

/** Where this installation is, for a configuration. */
export interface ConfigSite {
	/** Its public address; null when it is not known. */
	origin: string | null;
	/** Where the RADIUS server reaches it. */
	apiOrigin: string;
	/** Address of the RADIUS server as the gateway reaches it; null when it is not known. */
	radiusServer: string | null;
	port: number;
	gateway: { name: string; key: string; routerId: number };
	router: { ssid: string; accessKind: AccessKind; networkPassword: string | null } | null;
}

/**
 * What stands where an address is not known: names that no gateway takes, so that an import stops instead of making a
 * router ask itself.
 */
export const UNKNOWN = {
	radius: 'ADDRESS-OF-RADIUS',
	airtill: 'ADDRESS-OF-AIRTILL',
	gateway: 'ADDRESS-OF-GATEWAY',
	machine: 'THIS-MACHINE'
} as const;

/** One file, or one piece of work by hand, of a gateway's configuration. */
export interface ConfigPart {
	/** What it is: `FreeRADIUS: client`, `login.html`. */
	title: string;
	/** Where it belongs, e.g. `/etc/freeradius/3.0/mods-enabled/airtill-lobby`; null for steps by hand. */
	file: string | null;
	text: string;
}

export interface Gateway {
	kind: GatewayKind;
	/** As its makers write it. */
	title: string;
	/** What the shared secret is called there; null where there is none. */
	secretName: string | null;
	/** Port of a login host that names none; null where there is no sign-in address. */
	defaultPort: number | null;
	/** How a sign-in is finished, whoever it is for. */
	finishes(facts: GatewayFacts): Finish['kind'];
	/** How it learns who may be online. */
	controlMode(facts: GatewayFacts): ControlMode;
	/** Whether it can be signed in to by typing the bought user name and password, or something behind it may ask for them. */
	takesPassword(facts: GatewayFacts): boolean;
	/** null for kinds that are never told. */
	controller: DeviceController | null;
	/** The ready configuration of that very gateway, its secrets included. */
	configFor(facts: GatewayFacts, site: ConfigSite): ConfigPart[];
	/** @throws EntryRefused */
	parseEntry(request: EntryRequest, facts: GatewayFacts): Entry;
	/** @throws EntryRefused where the entry's address is not registered any more */
	finish(entry: Entry, login: PassLogin, facts: GatewayFacts): Finish;
	/** Where a browser gets a new entry; null where only the operating system's probes lead there. */
	startAddress(facts: GatewayFacts): string | null;
}

/**
 * The interface to gateways: the programs on a router that send devices without internet to our splash page.
 *
 * Connecting a gateway (portal side): `airtill gateways add NAME --router ID --kind opennds|mikrotik|coova|unifi
 * --login-host HOST` registers it and prints the address that has to be entered in it as its portal, with the secret
 * that both sides share. From then on whoever joins that router's Wi-Fi lands on `/splash/{key}`, sees the price of that
 * router, pays, reads the password and is sent back to the gateway, which lets the device online. The key names the
 * gateway and proves nothing, because every customer sees it; all that the gateway hands over comes through the
 * customer's browser, so prices, the Wi-Fi name and the hosts that a browser may be sent to come from our own rows only.
 * `airtill gateways show NAME` repeats the addresses, with the text for DHCP option 114 (RFC 8910) that announces
 * `/captive-portal/{key}` (RFC 8908) on installations that are reached by https. Kinds whose devices are not let online
 * in the browser (UniFi, openNDS at level 4) are registered only with `--let-in-elsewhere`: nothing of ours lets their
 * devices in.
 *
 * An adapter translates and decides nothing: it reads what its gateway hands over (`parseEntry`) and says where a
 * browser has to go to be let online (`finish`). It touches no database and no network.
 */

export const GATEWAY_KINDS = ['opennds', 'mikrotik', 'coova', 'unifi'] as const;
export type GatewayKind = (typeof GATEWAY_KINDS)[number];

/** What only some kinds need. */
export interface GatewaySettings {
	/** openNDS: `fas_secure_enabled`. */
	level?: 1 | 4 | undefined;
	/** UniFi: the site's name in the address that it calls. */
	site?: string | undefined;
	/** UniFi: its access points, where several gateways share one site name. */
	accessPoints?: string[] | undefined;
}

/** What an adapter may know of a registered gateway. */
export interface GatewayFacts {
	/** `host` or `host:port` of its sign-in addresses, lower case: a browser is sent nowhere else. */
	loginHosts: readonly string[];
	/** Shared with the gateway: openNDS' faskey, CoovaChilli's uamsecret. */
	secret: string | null;
	settings: GatewaySettings;
}

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
export interface Access {
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
	/** @throws EntryRefused */
	parseEntry(request: EntryRequest, facts: GatewayFacts): Entry;
	/** @throws EntryRefused where the entry's address is not registered any more */
	finish(entry: Entry, access: Access, facts: GatewayFacts): Finish;
	/** Where a browser gets a new entry; null where only the operating system's probes lead there. */
	startAddress(facts: GatewayFacts): string | null;
}

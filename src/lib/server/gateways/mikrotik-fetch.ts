import {
	type ConfigPart,
	type DeviceLogin,
	type GatewayAdapter,
	type GatewayFacts,
	formatRouterOsRate,
	isUnlimited,
	normaliseLoginHost
} from './gateway.ts';
import { mikrotik, nameProfile, quoteRouterOs as quote } from './mikrotik.ts';

/**
 * A MikroTik hotspot behind any line (CGNAT, Starlink): the router fetches, and nobody calls it.
 *
 * Setup: the owner pastes one line (`formatLine`) in the terminal. It runs `formatSetup`: the login page, the walled garden
 * and a scheduler. Every ten seconds that fetches `formatFetched`, which changes users of the hotspot and posts a report.
 * Everything but the scheduler's loop comes with the fetch, so routers need no update.
 * Trust: the key of the gateway is in a header of each request. Airtill stores its hash.
 * Certificates: RouterOS before 7.19 has no authorities of its own. The setup tries a request that checks the certificate;
 * if it works, all later ones check it. Otherwise the router trusts the line that it was set up on.
 * Files: scripts are fetched into a variable and run by `:parse`, because a file every ten seconds wears flash memory out. A
 * variable takes 4,096 bytes in old versions.
 * Versions: only commands of RouterOS 6.49 and 7. Not yet run on a device: tests/simulators/gateway/routeros-console.ts
 * holds their syntax.
 * Sources: help.mikrotik.com "Fetch", "Scripting" (`:parse`, escape sequences), "Scheduler", "HotSpot - Captive portal";
 * wiki.mikrotik.com Manual:IP/Hotspot/User (limits), Manual:Tools/Fetch.
 */

/** Bytes of a script; the rest of a variable is for the report. */
export const MAX_CHANGES = 2_500;
const FETCH_SECONDS = 10;
/** Name of everything that the setup makes; a new line replaces it. */
const NAME = 'airtill';
/** `sensitive`: passwords of users. */
const POLICY = 'ftp,read,write,test,sensitive';

/** Where the router fetches. No "?", which the terminal of RouterOS 6 takes as a call for help. */
export interface FetchPlace {
	/** `https://portal/mikrotik/KEY` */
	address: string;
	/** The key of the gateway. */
	token: string;
	isChecked: boolean;
}

const header = ({ token }: Pick<FetchPlace, 'token'>) => `Authorization: Bearer ${token}`;

/** The comment of our users names the installation, as in mikrotik.ts. Its end and call follow (see `formatUser`). */
const formatComment = ({ installation }: GatewayFacts) => `Airtill ${installation} `;
const findOurs = (facts: GatewayFacts) => `comment~${quote(`^${formatComment(facts)}`)}`;

/** Returns the line for the terminal. It writes no file, because the script contains the key. */
export const formatLine = (place: Omit<FetchPlace, 'isChecked'>): string =>
	`{:local r [/tool fetch url=${quote(`${place.address}/setup`)} http-header-field=${quote(header(place))} ` +
	`check-certificate=no output=user as-value]; :local s [:parse ($r->"data")]; $s}`;

/** Returns the line that removes everything that the setup and the fetched scripts made. */
export const formatRemoval = (facts: GatewayFacts): string =>
	[
		`/system scheduler remove [find name=${NAME}]`,
		`/system script remove [find name=${NAME}]`,
		`/ip hotspot walled-garden remove [find comment=${NAME}]`,
		`/ip hotspot walled-garden ip remove [find comment=${NAME}]`,
		`:foreach u in=[/ip hotspot user find ${findOurs(facts)}] do={` +
			'/ip hotspot active remove [find user=[/ip hotspot user get $u name]]; /ip hotspot user remove $u}',
		'/ip hotspot user profile remove [find name~"^airtill-"]',
		runIfKnown(`/ipv6 firewall raw remove [find comment=${NAME}]`),
		'/ip hotspot reset-html [find]'
	].join('; ');

/** A menu that the version lacks is an error when a script is read, which only `:parse` lets it survive. */
const runIfKnown = (commands: string) => `:do {:local f [:parse ${quote(commands)}]; $f} on-error={}`;

/** @param portal host of the portal */
export function formatSetup(place: Omit<FetchPlace, 'isChecked'>, portal: string): string {
	const { address } = place;
	const fetch = (path: string, more: string) =>
		`/tool fetch url=${quote(`${address}/${path}`)} http-header-field=${quote(header(place))} ${more}`;
	const dropIpv6 =
		`/ipv6 firewall raw remove [find comment=${NAME}]; :foreach h in=[/ip hotspot find] do={/ipv6 firewall raw add ` +
		`chain=prerouting in-interface=[/ip hotspot get $h interface] action=drop comment=${NAME}}`;
	return [
		':if ([:len [/ip hotspot find]] = 0) do={:error "Airtill: run /ip hotspot setup first"}',
		':local c "yes"',
		`:do {${fetch('login.html', 'check-certificate=yes output=none')}} on-error={:set c "no"}`,
		':foreach h in=[/ip hotspot find] do={',
		':local p [/ip hotspot get $h profile]',
		'/ip hotspot profile set [find name=$p] login-by=http-chap,http-pap,mac-cookie use-radius=no',
		':local d [/ip hotspot profile get [find name=$p] html-directory]',
		fetch('login.html', 'check-certificate=$c dst-path=($d . "/login.html")'),
		'}',
		`/ip hotspot walled-garden remove [find comment=${NAME}]`,
		`/ip hotspot walled-garden add dst-host=${quote(portal)} action=allow comment=${NAME}`,
		`/ip hotspot walled-garden ip remove [find comment=${NAME}]`,
		`/ip hotspot walled-garden ip add dst-host=${quote(portal)} action=accept comment=${NAME}`,
		// The hotspot controls only IPv4: with IPv6 devices would be online unpaid.
		runIfKnown(dropIpv6),
		`/system scheduler remove [find name=${NAME}]`,
		`/system script remove [find name=${NAME}]`,
		`/system script add name=${NAME} policy=${POLICY} source=(${quote(':local c "')} . $c . ${quote(`"\n${formatLoop(place)}`)})`,
		`/system scheduler add name=${NAME} interval=${FETCH_SECONDS}s start-time=startup policy=${POLICY} on-event=${NAME}`,
		':put "Airtill: done. The router appears on its page within a minute."',
		''
	].join('\n');
}

/** The first line of a script that leaves changes for the next one. */
const MORE = '#more';
/** Scripts in one run: what is left comes ten seconds later. */
const MAX_RUN = 20;

/** The scheduler starts it again while it runs; one that hangs must not stop all. Its first line sets `c`. */
const formatLoop = ({ address, token }: Omit<FetchPlace, 'isChecked'>): string =>
	[
		`:if ([:len [/system script job find script=${NAME}]] < 3) do={`,
		`:local d "${MORE}"`,
		':local n 0',
		`:while (([:pick $d 0 ${MORE.length}] = "${MORE}") and ($n < ${MAX_RUN})) do={`,
		':set n ($n + 1)',
		':do {',
		`:set d ([/tool fetch url=(${quote(`${address}/script-`)} . $c) http-header-field=${quote(header({ token }))} check-certificate=$c output=user as-value]->"data")`,
		':local f [:parse $d]',
		'$f',
		'} on-error={:set d ""; :log warning "airtill: no answer, or its script failed"}',
		'}',
		'}'
	].join('\n');

/** What a script does to a user of the hotspot. */
interface HotspotUser {
	login: DeviceLogin;
	untilMs: number;
	/** Names this change, later than the one before. */
	call: number;
}

const USER = '/ip hotspot user';
const ACTIVE = '/ip hotspot active';

const survive = (commands: string, user: string) =>
	`:do {\n${commands}\n} on-error={:log warning "airtill: ${user}"}\n`;

/** Sets the profile that holds the devices and the speed of a user. */
export function formatProfile(login: DeviceLogin): string {
	const { maxDevices, speed } = login;
	const profile = nameProfile(login);
	const name = `name=${quote(profile)}`;
	const rate = isUnlimited(speed) ? '' : ` rate-limit=${quote(formatRouterOsRate(speed))}`;
	const add = `{${USER} profile add ${name} add-mac-cookie=yes mac-cookie-timeout=3d}`;
	return survive(
		`:if ([:len [${USER} profile find ${name}]] = 0) do=${add}\n` +
			`${USER} profile set [find ${name}] shared-users=${maxDevices}${rate}`,
		profile
	);
}

/**
 * Adds or changes a user. Its limits count what it has used already, as in mikrotik.ts. The comment is set with them, so a
 * report that shows the comment confirms them.
 */
export function formatUser(facts: GatewayFacts, { login, untilMs, call }: HotspotUser, now: number): string {
	const { user, password, maxDevices, dataLeft } = login;
	const name = `name=${quote(user)}`;
	const mark = formatComment(facts);
	const get = (property: string) => `[${USER} get $u ${property}]`;
	const read = (property: string) => `[${ACTIVE} get $a ${property}]`;
	const seconds = Math.max(1, Math.ceil((untilMs - now) / 1000)) * maxDevices;
	const bytes = dataLeft === null ? '0' : `(${Math.max(1, dataLeft)} + $own)`;
	const values = [
		`password=${quote(password)} profile=${quote(nameProfile(login))} disabled=no`,
		`limit-uptime=($t + ${get('uptime')}) limit-bytes-total=${bytes}`,
		`comment=${quote(`${mark}${Math.round(untilMs / 1000)} ${call}`)}`
	];
	return survive(
		[
			`:if ([:len [${USER} find ${name}]] = 0) do={${USER} add ${name} comment=${quote(`${mark}0 0`)}}`,
			`:local t ${seconds}s`,
			':local used 0',
			`:foreach a in=[${ACTIVE} find user=${quote(user)}] do={:set t ($t + ${read('uptime')}); :set used ($used + ${read('bytes-in')} + ${read('bytes-out')})}`,
			// The bytes of a user may not include its open connections (undocumented): neither counts twice.
			`:foreach u in=[${USER} find ${name} ${findOurs(facts)}] do={:local own (${get('bytes-in')} + ${get('bytes-out')}); :if ($own < $used) do={:set own $used}; ${USER} set $u ${values.join(' ')}}`
		].join('\n'),
		user
	);
}

/** Removes a user first, or its device would sign in again. Leaves one alone that somebody else made under this name. */
export function formatRemovedUser(facts: GatewayFacts, user: string): string {
	const name = `name=${quote(user)}`;
	const find = `${USER} find ${name}`;
	return survive(
		[
			`:if ([:len [${find}]] = [:len [${find} ${findOurs(facts)}]]) do={`,
			`${USER} remove [find ${name}]`,
			`/ip hotspot cookie remove [find user=${quote(user)}]`,
			`/ip hotspot active remove [find user=${quote(user)}]`,
			'}'
		].join('\n'),
		user
	);
}

/** What a script reports. `at`: when it is fetched, so its report shows what is there later. */
interface Reporting {
	at: number;
	isSplit: boolean;
}

/** RouterOS posts at most 64 KiB, which is about 600 users. A report is split by the last digit of their names. */
export const MAX_UNSPLIT_USERS = 500;

export const formatFetched = (
	facts: GatewayFacts,
	place: FetchPlace,
	{ changes, isMore, reporting }: { changes: string; isMore: boolean; reporting: Reporting | null }
): string =>
	(isMore ? `${MORE}\n` : '') +
	changes +
	(reporting && !isMore ? formatReporting(facts, place, reporting) : '');

/** Lines of a report: see `readReport`. Rows can go while the script runs. */
function formatReporting(facts: GatewayFacts, place: FetchPlace, { at, isSplit }: Reporting): string {
	const { address, isChecked } = place;
	const ofPart = (property: string) => (isSplit ? ` ${property}~($d . ${quote('$')})` : '');
	const each = (row: string, menu: string, found: string, line: string) =>
		`:foreach ${row} in=[${menu} find${found}] do={:do {:set r ($r . ${line} . "\\n")} on-error={}}`;
	const get = (menu: string, row: string, property: string) => `[${menu} get $${row} ${property}]`;
	const active = '/ip hotspot active';
	const bytes = (menu: string, row: string) =>
		`(${get(menu, row, 'bytes-in')} + ${get(menu, row, 'bytes-out')})`;
	const type = 'Content-Type: application/octet-stream';
	return [
		...(isSplit ? [':local d 0', ':while ($d < 10) do={'] : []),
		`:local r ("at ${at}\\nversion " . [/system resource get version] . "\\ndevices " . [:len [${active} find]] . "\\n")`,
		...(isSplit ? [':set r ($r . "part " . $d . "\\n")'] : []),
		':foreach h in=[/ip hotspot find] do={',
		':local p [/ip hotspot get $h profile]',
		':local i [/ip hotspot get $h interface]',
		...['hotspot-address', 'dns-name'].map(
			(name) => `:set r ($r . "host " . [/ip hotspot profile get [find name=$p] ${name}] . "\\n")`
		),
		each('a', '/ip address', ' interface=$i', `"host " . ${get('/ip address', 'a', 'address')}`),
		'}',
		each(
			...(['u', USER, ` ${findOurs(facts)}${ofPart('name')}`] as const),
			`"user " . ${get(USER, 'u', 'name')} . " " . ${bytes(USER, 'u')} . " " . ${get(USER, 'u', 'comment')}`
		),
		each(
			'a',
			active,
			ofPart('user'),
			`"active " . ${get(active, 'a', 'user')} . " " . ${bytes(active, 'a')}`
		),
		`/tool fetch url=${quote(`${address}/report`)} http-method=post http-header-field=${quote(`${header(place)},${type}`)} http-data=$r check-certificate=${isChecked ? 'yes' : 'no'} output=none`,
		...(isSplit ? [':set d ($d + 1)', '}'] : []),
		''
	].join('\n');
}

/** What a router reported. */
export interface HotspotReport {
	/** When it fetched the script that made the report. */
	at: number;
	/** RouterOS' own words, such as `7.15.3 (stable)`. */
	version: string;
	/** Where its login page may be. */
	hosts: string[];
	/** Users that this installation made: bytes up and down, the end that was set, and the change that set it. */
	users: Map<string, { bytes: number; untilSeconds: number; call: number }>;
	/** Bytes of the devices online, by user. */
	active: Map<string, number>;
	devices: number;
	/** The last digit of the users that it is about; '' for all. */
	part: string;
}

/** @returns null for a text that no script of ours posts */
export function readReport(facts: GatewayFacts, text: string): HotspotReport | null {
	const report: HotspotReport = {
		...{ at: NaN, version: '', hosts: [], users: new Map(), active: new Map(), devices: 0, part: '' }
	};
	const hosts = new Set<string>();
	for (const line of text.split('\n')) {
		const [, what, rest = ''] = /^(\w+) ?(.*)$/.exec(line) ?? [];
		if (what === 'at') report.at = /^\d{10,15}$/.test(rest) ? Number(rest) : NaN;
		else if (what === 'version') report.version = rest.slice(0, 40);
		else if (what === 'host') {
			const host = normaliseLoginHost(rest.replace(/\/\d+$/, ''));
			// An address of its own may be unset.
			if (host !== null && host !== '0.0.0.0') hosts.add(host);
		} else if (what === 'user') {
			const [, name, bytes, comment = ''] = /^(\S+) (\d+) (.*)$/.exec(rest) ?? [];
			const mark = formatComment(facts);
			const [, until, call] = /^(\d+) (\d+)$/.exec(comment.slice(mark.length)) ?? [];
			if (name === undefined || !comment.startsWith(mark)) continue;
			const values = { bytes: Number(bytes), untilSeconds: Number(until ?? 0), call: Number(call ?? 0) };
			report.users.set(name, values);
		} else if (what === 'active') {
			const [, name = '', bytes = '0'] = /^(.*) (\d+)$/.exec(rest) ?? [];
			report.active.set(name, (report.active.get(name) ?? 0) + Number(bytes));
		} else if (what === 'devices' && /^\d{1,6}$/.test(rest)) report.devices = Number(rest);
		else if (what === 'part' && /^\d$/.test(rest)) report.part = rest;
	}
	return Number.isNaN(report.at) ? null : { ...report, hosts: [...hosts] };
}

export const mikrotikFetch: GatewayAdapter = {
	...mikrotik,
	title: 'MikroTik that fetches',
	controlMode: () => 'fetch',
	controller: null,
	configFor: (_facts, { gateway }): ConfigPart[] => [
		{
			title: 'MikroTik: what to do',
			file: null,
			text: `The line for the terminal contains the key of the gateway, of which Airtill keeps only the hash.\nMake a new line: gateways rotate ${gateway.name} --token\n`
		}
	]
};

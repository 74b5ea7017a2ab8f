import { normaliseIp } from '#lib/domain/address.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import {
	type ConfigContext,
	type ConfigPart,
	type DeviceLogin,
	type Entry,
	refuseEntry,
	type GatewayAdapter,
	type GatewayFacts,
	type GatewaySettings,
	type PortalAddress,
	UNKNOWN,
	checkSize,
	decodeText,
	formatOpenndsLimits,
	parseClientMac,
	parseWebAddress,
	readField,
	requireRegisteredHost
} from './gateway.ts';
import { MINUTE_MS } from '#lib/domain/time.ts';
import { isIPv4 } from 'node:net';

/**
 * openNDS 9 and newer, with Airtill as its forward authentication service (docs/source/fas.rst).
 *
 * Redirect: levels 1 and 4 of `fas_secure_enabled` send `?fas=`, base64 of `key=value, key=value`. Some
 * values are percent-encoded. Version 9 appends the junk item `(null)(null)...`.
 * Trust: `hid` is the hash of a token that the router keeps. `hid` and the faskey together make `rhid`, which
 * authorizes that client only. A forged MAC address is useless.
 */

const DEFAULT_PORT = 2050;
const ITEM = /^([a-z][a-z0-9_()-]{0,40})=(.*)$/is;
const HASH = /^[0-9a-f]{64}$/;

function readFas(fas: string): Map<string, string> {
	// openNDS does not escape the query: a plus sign arrives as a space.
	const base64 = fas.replaceAll(' ', '+');
	if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw refuseEntry('broken', 'fas is not base64');
	const items = new Map<string, string>();
	for (const item of Buffer.from(base64, 'base64').toString('utf8').split(', ')) {
		const [, name, value] = ITEM.exec(item.trim()) ?? [];
		if (name === undefined || value === undefined || items.has(name)) continue;
		items.set(name, value === '(null)' ? '' : value);
	}
	return items;
}

function parse(items: ReadonlyMap<string, string>): Pick<Entry, 'clientMac' | 'clientIp' | 'originalUrl'> {
	return {
		clientMac: parseClientMac(decodeText(items.get('clientmac') ?? '')),
		clientIp: normaliseIp(items.get('clientip') ?? ''),
		originalUrl: parseWebAddress(decodeText(items.get('originurl') ?? ''))
	};
}

export const opennds: GatewayAdapter = {
	title: 'openNDS',
	secretName: 'faskey',
	defaultPort: DEFAULT_PORT,
	startPath: '/',
	// Level 4 (authmon) closes the sign-in in the browser.
	controlMode: ({ settings }) => (settings.level === 4 ? 'poll' : 'browser'),
	controller: null,
	configFor: openndsConfig,

	parseEntry(request, facts) {
		checkSize(request);
		const { fields } = request;
		const redir = readField(fields, 'redir');
		// An authenticated client arrives with `status` in plain text, and with the old `fas=` inside `redir`.
		const isOnline = readField(fields, 'status') === 'authenticated';
		// Not trimmed, because a final space was a plus sign.
		const fas = fields.get('fas') || (isOnline ? (/fas=([^&]+)/.exec(redir)?.[1] ?? '') : '');
		if (isOnline) {
			const items = fas === '' ? new Map<string, string>() : readFas(decodeText(fas));
			const known = parse(items);
			return {
				...known,
				state: 'online',
				problem: null,
				clientIp: normaliseIp(readField(fields, 'clientip')) ?? known.clientIp,
				originalUrl: known.originalUrl ?? parseWebAddress(redir),
				login: {}
			};
		}
		if (fas === '') throw refuseEntry('missing', 'fas is missing');
		const items = readFas(fas);
		const hid = items.get('hid')?.toLowerCase() ?? '';
		const known = parse(items);
		if (!HASH.test(hid)) throw refuseEntry('broken', 'fas has no hid');
		if (known.clientMac === null) throw refuseEntry('broken', 'fas has no clientmac');
		const gateway = requireRegisteredHost(facts, items.get('gatewayaddress') ?? '', DEFAULT_PORT);
		return { ...known, state: 'new', problem: null, login: { hid, gateway } };
	},

	// Only the device's own redirects contain the hash of its token.
	provesDevice: ({ login: { hid } }, earlier) => hid !== undefined && hid === earlier.login['hid'],

	signInUrl({ login }, { user, landing }, facts) {
		const { hid = '', gateway = '' } = login;
		if (!HASH.test(hid) || facts.secret === null) throw refuseEntry('missing', 'hid is missing');
		const host = requireRegisteredHost(facts, gateway, DEFAULT_PORT);
		const url = new URL(`http://${host}/opennds_auth/?tok=${sha256(hid + facts.secret)}`);
		url.searchParams.set('custom', Buffer.from(user).toString('base64'));
		url.searchParams.set('redir', landing);
		return url.href;
	}
};

/**
 * openNDS' `authmon` at level 4 (libs/authmon.sh of version 10; version 9 posts the same at level 3).
 *
 * Protocol: `auth_get=view` fetches `* item item`. The next `view` acknowledges authorized `rhid`s, base64 in
 * `payload`.
 * Trust: requests have no signature and no secret, and every customer sees the portal address. So a request confirms
 * nothing: the BinAuth script, which has the gateway's token, reports connected devices. An item is the `rhid` of a
 * paid device and authorizes that device only; reading it is harmless.
 * Limit: a forged request can count as a sign of life. A buyer of a dead gateway is refunded after ten minutes.
 */

/** authmon processes at most four items of a response. */
export const MAX_ITEMS = 4;
/** Bytes that authmon reads of a response. */
const MAX_RESPONSE = 1_024;
const MAX_PAYLOAD = 8_192;
const RHID = /^[0-9a-f]{64}$/;

/** `notice`: what only needs an answer, such as the acknowledgement of authorized devices. */
export type AuthmonRequest = 'clear' | 'fetch' | 'notice';

export function readAuthmonRequest(fields: URLSearchParams): AuthmonRequest | null {
	const asked = fields.get('auth_get');
	if (!RHID.test(fields.get('gatewayhash') ?? '')) return null;
	switch (asked) {
		case 'clear':
			return 'clear';
		case 'list':
			return 'fetch';
		case 'deauthed':
		case 'custom':
			return 'notice';
		case 'view':
			break;
		default:
			return null;
	}
	// authmon does not escape plus signs: they arrive as spaces.
	const payload = (fields.get('payload') ?? '').replaceAll(' ', '+');
	if (payload.length > MAX_PAYLOAD || !/^[A-Za-z0-9+/]*={0,2}$/.test(payload)) return null;
	const text = Buffer.from(payload, 'base64').toString('utf8').trim();
	if (text === '' || text === 'none') return 'fetch';
	const [star, ...rhids] = text.split(/\s+/);
	return star === '*' && rhids.every((rhid) => RHID.test(rhid)) ? 'notice' : null;
}

type AuthmonDevice = Pick<DeviceLogin, 'user' | 'speed' | 'dataLeft'> & { hid: string; untilMs: number };

/** Formats a response. A shell evaluates it, so items have only hexadecimal digits, numbers and base64. */
export function formatItems(devices: readonly AuthmonDevice[], faskey: string, now: number): string {
	let response = '*';
	for (const { hid, user, speed, dataLeft, untilMs } of devices.slice(0, MAX_ITEMS)) {
		const rhid = sha256(hid + faskey);
		const minutes = Math.max(1, Math.ceil((untilMs - now) / MINUTE_MS));
		const item = `${rhid} ${minutes} ${formatOpenndsLimits(speed, dataLeft)} ${Buffer.from(user).toString('base64')}`;
		const next = `${response} ${encodeURIComponent(item)}`;
		if (next.length > MAX_RESPONSE) break;
		response = next;
	}
	return response;
}

/** Returns opennds.conf for openNDS 9 (tested with 9.10 on Debian), and the uci file for 10 and newer. */

/** The limit for devices without an end, which occur only if openNDS cannot run the script. */
const BACKSTOP_MINUTES = 60;
const INTERFACE = 'br-lan';
const BINAUTH_FILE = '/usr/lib/opennds/airtill-binauth.sh';

type Option = readonly [name: string, value: string];

export function openndsConfig(facts: GatewayFacts, { portal, gateway }: ConfigContext): ConfigPart[] {
	const { level = 1 } = facts.settings;
	const options: Option[] = [
		['fas_secure_enabled', String(level)],
		['faskey', facts.secret ?? ''],
		...fasOf(portal, facts),
		['faspath', `/splash/${gateway.key}`],
		['sessiontimeout', String(BACKSTOP_MINUTES)],
		['checkinterval', '15'],
		// Airtill sells time, not traffic: an idle phone stays online.
		['authidletimeout', '44640'],
		['preauthidletimeout', '120'],
		['allow_preemptive_authentication', '1'],
		// openNDS would announce an address without https in DHCP option 114.
		['dhcp_default_url_enable', '0'],
		['binauth', BINAUTH_FILE],
		...(level === 4 ? [['nat_traversal_poll_interval', '5'] as const] : [])
	];
	const { name, key } = gateway;
	return [
		...(level === 1
			? [{ title: 'openNDS 9', file: '/etc/opennds/opennds.conf', text: legacy(name, options) }]
			: []),
		{ title: 'openNDS 10 and newer', file: '/etc/config/opennds', text: uci(name, options) },
		{
			title: 'openNDS: BinAuth script (chmod 700, it contains a secret)',
			file: BINAUTH_FILE,
			text: binauthScript(`${portal.origin}/opennds/${key}/binauth`, facts.credentials.token ?? '')
		},
		...guards(INTERFACE, portal),
		{ title: 'Notes', file: null, text: steps(facts, portal) }
	];
}

/** Leaves out the address of a portal on the router, because openNDS uses its own. */
function fasOf(portal: PortalAddress, facts: GatewayFacts): Option[] {
	const port = ['fasport', portal.port || (portal.protocol === 'https:' ? '443' : '80')] as const;
	if (isOnRouter(portal, facts)) return [port];
	return isIPv4(portal.hostname)
		? [port, ['fasremoteip', portal.hostname]]
		: [port, ['fasremotefqdn', portal.hostname], ['fasremoteip', `IP-OF-${portal.hostname}`]];
}

const isOnRouter = ({ hostname }: PortalAddress, { loginHosts }: GatewayFacts) =>
	loginHosts.some((host) => host.replace(/:\d+$/, '') === hostname);

const legacy = (name: string, options: readonly Option[]) =>
	[
		'# The interface on which devices are.',
		`GatewayInterface ${INTERFACE}`,
		`GatewayName ${name}`,
		'GatewayFQDN disable',
		...options.map(([key, value]) => `${key} ${value}`),
		'',
		'FirewallRuleSet authenticated-users {',
		'    FirewallRule allow all',
		'}',
		'# DHCP and DNS of the router; not its administration.',
		'FirewallRuleSet users-to-router {',
		'    FirewallRule allow udp port 53',
		'    FirewallRule allow tcp port 53',
		'    FirewallRule allow udp port 67',
		'}',
		''
	].join('\n');

const uci = (name: string, options: readonly Option[]) =>
	[
		'config opennds',
		"\toption enabled '1'",
		'\t# The interface on which devices are.',
		`\toption gatewayinterface '${INTERFACE}'`,
		`\toption gatewayname '${name}'`,
		"\toption gatewayfqdn 'disable'",
		...options.map(([key, value]) => `\toption ${key} '${value}'`),
		"\tlist authenticated_users 'allow all'",
		'\t# DHCP and DNS of the router; not its administration.',
		"\tlist users_to_router 'allow udp port 53'",
		"\tlist users_to_router 'allow tcp port 53'",
		"\tlist users_to_router 'allow udp port 67'",
		''
	].join('\n');

function steps(facts: GatewayFacts, portal: PortalAddress): string {
	const { hostname, origin } = portal;
	const { level = 1 } = facts.settings;
	const problem = levelProblem({ level }, origin);
	const hasUnknownIp = !isIPv4(hostname) && !isOnRouter(portal, facts);
	const lines = [
		...(problem === null
			? []
			: [`- No device reaches the portal: ${problem.what}.`, `  Fix: ${problem.advice}.`]),
		...(hostname === UNKNOWN.machine
			? [`- Replace ${UNKNOWN.machine} with the address of this machine, or set ORIGIN.`]
			: []),
		...(hasUnknownIp
			? [
					`- Replace IP-OF-${hostname} (fasremoteip) with the IP address of ${hostname}; with openNDS 10 also in`,
					'  the guard, and remove the "#" from its line. Otherwise no device reaches the portal.'
				]
			: []),
		...COMMON_STEPS,
		...(level === 4 ? LEVEL_4_STEPS : LEVEL_1_STEPS)
	];
	return `${lines.join('\n')}\n`;
}

const COMMON_STEPS = [
	'- Firewall guard: if openNDS stops or cannot set its rules, a router that forwards connects every device unpaid.',
	'  Install the guard above where the firewall starts; then such a device has no internet.',
	'  OpenWrt’s firewall (22.03 and newer) reads the guard of openNDS 10: fw4 check && fw4 reload. On another system',
	'  put it inside a table: table inet airtill { include "/etc/nftables.d/airtill-guard.nft"; }',
	'- IPv6: openNDS 9 and 10 control only IPv4, so the guard blocks IPv6. Without it every device is online unpaid by',
	'  IPv6. Give devices no IPv6 addresses either, or their pages load slowly (OpenWrt: uci set network.lan.ip6assign=0,',
	'  uci set dhcp.lan.ra=disabled and dhcpv6=disabled).',
	'- openNDS 9 needs the legacy iptables (Debian: update-alternatives --set iptables /usr/sbin/iptables-legacy);',
	'  with iptables-nft it exits at once. After a crash its old chains prevent a start:',
	'  iptables -t filter|nat|mangle -F and -X for the chains nds*, or restart the firewall.',
	'- Devices need a lease from the router’s own DHCP (dnsmasq); openNDS answers others with 403.',
	'- Walled garden: openNDS allows the portal automatically. Allow nothing else, above all no address with which',
	'  phones detect the internet (captive.apple.com, connectivitycheck.gstatic.com, msftconnecttest.com).',
	'- DHCP option 114: do not set it. The API identifies a device by its IP address, and all devices behind this router',
	'  share one: a phone would show "sign in" for ever.'
];

const LEVEL_4_STEPS = [
	'- Level 4: install the BinAuth script. Time starts when it reports a device; without it, every purchase is refunded',
	'  after ten minutes. In live mode the router sells after its first report. Send one from the router:',
	`  ${firstReport(BINAUTH_FILE, 4)}`,
	'- Level 4 needs openNDS 10.2 or newer. The router asks Airtill every 5 s. It counts in minutes and cannot disconnect a',
	'  device early: if a purchase is ended early, its device stays online until the end of the paid time.'
];

const LEVEL_1_STEPS = [
	'- In live mode the router sells after the script has asked once. Run it on the router; it may say nothing:',
	`  ${firstReport(BINAUTH_FILE, 1)}`,
	'- Limits of offers need openNDS 10: version 9 sets a script’s speed after its rules, and never limits downloads.',
	'- A device goes offline at the second that was set at its sign-in; added time counts from the next sign-in.'
];

/**
 * Returns why devices cannot reach the portal at this level of `fas_secure_enabled`, and the fix; null if they can.
 * @param origin address of this installation; null if it is unknown
 */
export function levelProblem(
	{ level }: GatewaySettings,
	origin: string | null
): { what: string; advice: string } | null {
	if (origin === null) return null;
	const isHttps = origin.startsWith('https:');
	if (level === 1 && isHttps) {
		return {
			what: `level 1 sends devices by plain http, and the portal is at ${origin}`,
			advice: 'use --level 4 (openNDS 10.2 or newer), or an http ORIGIN'
		};
	}
	if (level === 4 && !isHttps) {
		return {
			what: `level 4 sends devices by https, and the portal is at ${origin}`,
			advice: 'use an https ORIGIN, or --level 1'
		};
	}
	return null;
}

/**
 * Returns openNDS' BinAuth script, for a router that Airtill cannot call. openNDS calls it before it connects
 * a device and after a disconnect. At level 1 the script asks us and prints the seconds and limits. At level 4 it
 * reports the devices that authmon connects (`ndsctl auth`), because authmon's acknowledgements have no secret.
 * Source: forward_authentication_service/binauth of openNDS 9; src/auth.c (binauth_action) of openNDS 10.
 */
export const binauthScript = (address: string, token: string): string => `#!/bin/sh
# Airtill: asks if a device may be online, and for how long. Without an answer the device stays offline.
# openNDS refuses a device if this prints nothing and succeeds. If it fails, openNDS 9 and 10 let the device in.
ADDRESS='${address}'
TOKEN='${token}'

ask() {
	if command -v curl >/dev/null 2>&1; then
		curl -sf -m 10 -H "Authorization: Bearer $TOKEN" --data "$1" "$ADDRESS"
	else
		# GNU wget repeats a request 20 times, while openNDS waits. OpenWrt's own does not, and has no --header before 24.10.
		case $(wget --version 2>/dev/null) in GNU*) once='-t 1' ;; *) once= ;; esac
		wget -q $once -T 10 -O - --post-data "key=$TOKEN&$1" "$ADDRESS"
	fi
}

case "$1" in
auth_client)
	# $2 MAC address, $5 IP address, $6 token, $7 what the sign-in carried (percent-encoded base64)
	# Prints seconds, kbit/s up and down, and units of 1024 bytes up and down; 0 is no limit.
	version=$(opennds -v 2>/dev/null | sed -n 's/.*version \\([0-9]*\\).*/\\1/p')
	limits=$(ask "method=$1&limits=1&version=$version&mac=$2&ip=$5&token=$6&custom=$7") || exit 0
	case "$limits" in
	'' | *[!0-9' ']*) exit 0 ;;
	esac
	echo "$limits"
	;;
ndsctl_auth)
	# $2 MAC address, $7 token, $8 what the sign-in carried. In the background, because openNDS waits for this script.
	(
		for pause in 0 2 10 30 60 120 300; do
			sleep $pause
			ask "method=$1&mac=$2&token=$7&custom=$8" && break
		done
	) >/dev/null 2>&1 &
	;;
*_deauth)
	# $2 MAC address, $3 bytes to it, $4 bytes from it, $7 token, $8 what the sign-in carried
	ask "method=$1&mac=$2&bytes_in=$3&bytes_out=$4&token=$7&custom=$8" >/dev/null &
	;;
esac
exit 0
`;

/** The command with which a router tries the script: in live mode it sells after the first report. */
function firstReport(script: string, level: 1 | 4): string {
	return level === 4
		? `sh ${script} ndsctl_auth 02:00:00:00:00:01 0 0 0 0 00000000 czA=`
		: `sh ${script} auth_client 02:00:00:00:00:01 - - 192.0.2.1 00000000 czA=`;
}

/**
 * Returns firewall rules that follow those of openNDS. The router forwards only packets that openNDS has
 * marked (fw_mark_authenticated, fw_mark_trusted), even if openNDS does not run. openNDS 9 and 10 control
 * only IPv4 (openNDS issues 408 and 625): with IPv6 every device would be online unpaid.
 */
export function guards(lan: string, portal: PortalAddress): ConfigPart[] {
	const port = portal.port || (portal.protocol === 'https:' ? '443' : '80');
	const portalRule = isIPv4(portal.hostname)
		? [`\tip daddr ${portal.hostname} tcp dport ${port} accept`]
		: // A name that is not known would keep the whole guard from loading, and the router open.
			[`\t# ip daddr IP-OF-${portal.hostname} tcp dport ${port} accept`];
	return [
		{
			title: 'Guard for openNDS 9: run at the start of the machine, before openNDS',
			file: '/etc/opennds/airtill-guard.sh',
			text: [
				'#!/bin/sh',
				'# openNDS inserts its chains before this rule, and accepts authenticated devices there.',
				`iptables -C FORWARD -i ${lan} -j REJECT 2>/dev/null || iptables -A FORWARD -i ${lan} -j REJECT`,
				'guarded=$?',
				'# openNDS 9 does not control IPv6: reject it. If ip6tables does not work, disable IPv6 on this interface.',
				'if [ -e /proc/net/if_inet6 ]; then',
				`\tip6tables -C FORWARD -i ${lan} -j REJECT 2>/dev/null || ip6tables -I FORWARD -i ${lan} -j REJECT ||`,
				`\t\techo 1 >/proc/sys/net/ipv6/conf/${lan}/disable_ipv6`,
				'fi',
				'exit $guarded',
				''
			].join('\n')
		},
		{
			title: 'Guard for openNDS 10 and newer',
			file: '/etc/nftables.d/airtill-guard.nft',
			// A chain without a table: OpenWrt's fw4 reads these files inside its own table inet fw4.
			// It creates the table at each start, and keeps the files over a system upgrade.
			text: [
				'# Read by OpenWrt inside "table inet fw4": fw4 check && fw4 reload',
				'# IPv6 bears no mark of openNDS 10, and is rejected.',
				'chain airtill_guard {',
				'\ttype filter hook forward priority filter + 10; policy accept;',
				`\tiifname != "${lan}" accept`,
				'\tmeta mark & 0x30000 == 0x30000 accept',
				'\tmeta mark & 0x30000 == 0x20000 accept',
				...portalRule,
				'\treject',
				'}',
				''
			].join('\n')
		}
	];
}

/** No line of the files. */
const END = 'AIRTILL-END';

const NEEDED = /^\/(etc\/config|usr\/lib\/opennds|etc\/nftables\.d)\//;

/**
 * Returns one block to paste on OpenWrt with openNDS 10: it writes the files, looks up the portal, starts openNDS, and
 * lets the BinAuth script contact Airtill. The subshell keeps a failure from closing the terminal.
 */
export function installScript(parts: readonly ConfigPart[], hostname: string, level: 1 | 4): ConfigPart {
	const files = parts.flatMap(({ file, text }) =>
		file !== null && NEEDED.test(file) ? [{ file, text }] : []
	);
	const script = files.find(({ file }) => file.endsWith('.sh'))?.file ?? '';
	const names = files.map(({ file }) => file).join(' ');
	const lines = [
		'# OpenWrt with openNDS 10 (opkg update && opkg install opennds). Contains secrets.',
		'(',
		'set -e',
		'umask 077',
		...files.flatMap(({ file, text }) => [
			`mkdir -p ${file.replace(/\/[^/]*$/, '')}`,
			`cat >${file} <<'${END}'`,
			text.replace(/\n$/, ''),
			END
		]),
		`chmod 700 ${script}`,
		`if grep -q IP-OF- ${names}; then`,
		`\tip=$(resolveip -4 ${hostname} | head -n 1)`,
		'\t[ -n "$ip" ]',
		`\tsed -i "s/IP-OF-${hostname}/$ip/; s/# ip daddr $ip/ip daddr $ip/" ${names}`,
		'fi',
		// Without the guard, devices would be online unpaid if openNDS stops.
		'fw4 check',
		'fw4 reload',
		'/etc/init.d/opennds enable',
		'/etc/init.d/opennds restart',
		firstReport(script, level),
		')',
		''
	];
	return { title: 'OpenWrt: paste this as root', file: 'airtill-opennds.sh', text: lines.join('\n') };
}

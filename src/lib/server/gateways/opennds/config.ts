import { isIPv4 } from 'node:net';
import { binauthScript, firstReport } from './binauth-script.ts';
import { guards } from './firewall-guard.ts';
import { levelProblem } from './level.ts';
import { UNKNOWN, type PortalAddress } from '../config-text.ts';
import type { ConfigPart, ConfigContext, GatewayFacts } from '../gateway.ts';

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

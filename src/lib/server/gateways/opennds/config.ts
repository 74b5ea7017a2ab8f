import { isIPv4 } from 'node:net';
import { binauthScript } from './binauth.ts';
import { guards } from './firewall-guard.ts';
import { UNKNOWN, type ConfigPart, type ConfigSite, type GatewayFacts } from '../gateway.ts';
import { portalAddress, type PortalAddress } from '../captive-sessions/portal-address.ts';

/**
 * The configuration of openNDS 9 (`/etc/opennds/opennds.conf`, seen with 9.10 on Debian) and of 10 and newer
 * (`/etc/config/opennds`, the same options by uci). What only the router knows, the name of its interface, is the usual
 * one and marked.
 */

/** Of a device that nobody set an end for: it can come to that only while we cannot be reached. */
const BACKSTOP_MINUTES = 60;
const INTERFACE = 'br-lan';
const BINAUTH_FILE = '/usr/lib/opennds/airtill-binauth.sh';

type Option = readonly [name: string, value: string];

export function openndsConfig(facts: GatewayFacts, site: ConfigSite): ConfigPart[] {
	const { settings } = facts;
	const level = settings.level ?? 1;
	const portal = portalAddress(site);
	const asksUs = level === 1 && !settings.ndsctl;
	const options: Option[] = [
		['fas_secure_enabled', String(level)],
		['faskey', facts.secret ?? ''],
		...fasOf(portal, facts),
		['faspath', `/splash/${site.gateway.key}`],
		['sessiontimeout', String(BACKSTOP_MINUTES)],
		['checkinterval', '15'],
		// Time is sold, not traffic: a phone in a pocket stays in.
		['authidletimeout', '44640'],
		['preauthidletimeout', '120'],
		['allow_preemptive_authentication', '1'],
		// It would announce itself by DHCP option 114, at an address without https.
		['dhcp_default_url_enable', '0'],
		...(asksUs ? [['binauth', BINAUTH_FILE] as const] : []),
		...(level === 4 ? [['nat_traversal_poll_interval', '5'] as const] : [])
	];
	const name = gatewayName(site);
	return [
		...(level === 1
			? [{ title: 'openNDS 9', file: '/etc/opennds/opennds.conf', text: legacy(name, options) }]
			: []),
		{ title: 'openNDS 10 and newer', file: '/etc/config/opennds', text: uci(name, options) },
		...(asksUs
			? [
					{
						title: 'openNDS: who may be online (chmod 700, it holds a secret)',
						file: BINAUTH_FILE,
						text: binauthScript(
							`${portal.origin}/opennds/${site.gateway.key}/binauth`,
							facts.credentials.token ?? ''
						)
					}
				]
			: []),
		...guards(INTERFACE, portal),
		{ title: 'What to see to', file: null, text: steps(facts, site, portal) }
	];
}

/** Where devices are sent. On the router itself nothing is named: openNDS then takes its own address. */
function fasOf(portal: PortalAddress, facts: GatewayFacts): Option[] {
	const port = ['fasport', portal.port || (portal.protocol === 'https:' ? '443' : '80')] as const;
	if (isOnRouter(portal, facts)) return [port];
	return isIPv4(portal.hostname)
		? [port, ['fasremoteip', portal.hostname]]
		: [port, ['fasremotefqdn', portal.hostname], ['fasremoteip', `IP-OF-${portal.hostname}`]];
}

const isOnRouter = ({ hostname }: PortalAddress, { loginHosts }: GatewayFacts) =>
	loginHosts.some((host) => host.replace(/:\d+$/, '') === hostname);

/** Quotes end the value in uci, and a blank at its end is cut. */
const gatewayName = ({ gateway }: ConfigSite) => gateway.name;

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

function steps(facts: GatewayFacts, site: ConfigSite, portal: PortalAddress): string {
	const level = facts.settings.level ?? 1;
	const https = portal.protocol === 'https:';
	const lines = [
		'- Failing open: where openNDS stops or cannot set its rules, a router that forwards lets every device online',
		'  unpaid. Put the guard above where the firewall starts; then such a device has no internet at all.',
		'  The one of openNDS 10 is read by OpenWrt’s firewall (22.03 and newer): fw4 check && fw4 reload. On another system',
		'  put it inside a table: table inet airtill { include "/etc/nftables.d/airtill-guard.nft"; }',
		'- IPv6: openNDS 9 and 10 see to IPv4 alone, so the guard lets no device through by IPv6. Give the devices no IPv6',
		`  addresses either (OpenWrt: uci set network.lan.ip6assign=0, uci set dhcp.lan.ra=disabled and dhcpv6=disabled), else`,
		'  their pages wait for what does not come. Without the guard, every device is online unpaid by IPv6.',
		'- openNDS 9 needs the legacy iptables (Debian: update-alternatives --set iptables /usr/sbin/iptables-legacy);',
		'  with the one of nftables it ends at its start. Where it was killed, its old chains keep it from starting:',
		'  iptables -t filter|nat|mangle -F and -X for the chains nds*, or restart the firewall.',
		'- Devices need a lease of the router’s own DHCP (dnsmasq); others are answered 403.',
		'- Walled garden: openNDS opens the way to the portal by itself. Open nothing else; least of all the addresses by',
		'  which phones look for the internet (captive.apple.com, connectivitycheck.gstatic.com, msftconnecttest.com).',
		'- DHCP option 114 is not to be set: the API knows a device by its address alone, and behind this router all have',
		'  the router’s. A phone that reads there that it is captive says so for ever.'
	];
	if (!isIPv4(portal.hostname) && !isOnRouter(portal, facts)) {
		lines.unshift(
			`- Put the IP address of ${portal.hostname} in place of IP-OF-${portal.hostname} (fasremoteip); with openNDS 10 also`,
			'  in the guard, and take the "#" from its line: else no device reaches the portal.'
		);
	}
	if (site.origin === null) {
		lines.unshift(`- Put the address of this machine in place of ${UNKNOWN.machine}, or set ORIGIN.`);
	}
	if (level === 1 && https) {
		lines.unshift(
			'- Level 1 sends devices by plain http: give this installation an http address (ORIGIN), or use --level 4.'
		);
	}
	if (level === 4 && !https) {
		lines.unshift('- Level 4 sends devices by https: give this installation an https address (ORIGIN).');
	}
	if (level === 4) {
		lines.push(
			'- Level 4 begins with openNDS 10. The router asks here every 5 s. It counts in minutes, and cannot be told to',
			'  end before that: a purchase that is ended early stays online there until the time that was paid is over.'
		);
	} else if (facts.settings.ndsctl) {
		lines.push(
			`- Airtill runs ${facts.settings.ndsctl} on this machine: its process must be allowed to (root, as openNDS itself).`
		);
	} else {
		lines.push(
			'- Devices that are online end at the second that was told at their sign-in; added time counts from the next one.'
		);
	}
	return `${lines.join('\n')}\n`;
}

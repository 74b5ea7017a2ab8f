import { freeRadius } from './freeradius.ts';
import type { ConfigPart, ConfigSite, GatewayFacts } from './gateway.ts';

/**
 * Configuration of hostapd, and of OpenWrt, which writes hostapd's own: for a network in which each pass has its own
 * password (`wpa_personal_per_client`), and for one that asks for user name and password (`wpa_enterprise`).
 */
export function hostapdConfig(facts: GatewayFacts, site: ConfigSite): ConfigPart[] {
	const isEnterprise = site.router?.accessKind === 'wpa_enterprise';
	return [
		{
			title: 'hostapd',
			file: '/etc/hostapd/hostapd.conf',
			text: hostapdText(facts, site, isEnterprise)
		},
		{
			title: 'OpenWrt, instead of hostapd.conf',
			file: null,
			text: openWrtText(facts, site, isEnterprise)
		},
		{ title: 'What to know', file: null, text: isEnterprise ? ENTERPRISE : PERSONAL },
		...freeRadius(facts, site)
	];
}

const SSID = 'The Wi-Fi';

/** An SSID is up to 32 bytes of anything: hex where it is not plain. */
const ssidLine = (ssid: string) =>
	/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(ssid)
		? `ssid=${ssid}`
		: `ssid2=${Buffer.from(ssid).toString('hex')}`;

function hostapdText(
	{ credentials, settings }: GatewayFacts,
	site: ConfigSite,
	isEnterprise: boolean
): string {
	const secret = credentials.radiusSecret ?? '';
	const own = settings.nas ?? '192.0.2.1';
	const kind = isEnterprise
		? ['ieee8021x=1', 'wpa_key_mgmt=WPA-EAP']
		: [
				'wpa_key_mgmt=WPA-PSK',
				'# The address of each device is asked for, and its answer holds the password: WPA2, not WPA3.',
				'macaddr_acl=2',
				'wpa_psk_radius=2'
			];
	return `${[
		`# ${site.gateway.name}. Holds secrets: mode 600. Add interface, channel and country of this very access point.`,
		ssidLine(site.router?.ssid ?? SSID),
		'auth_algs=1',
		'wpa=2',
		'rsn_pairwise=CCMP',
		...kind,
		'# The RADIUS server: its address as this access point reaches it.',
		'auth_server_addr=127.0.0.1',
		'auth_server_port=1812',
		`auth_server_shared_secret=${secret}`,
		'acct_server_addr=127.0.0.1',
		'acct_server_port=1813',
		`acct_server_shared_secret=${secret}`,
		'radius_acct_interim_interval=60',
		'# The address from which it asks.',
		`own_ip_addr=${own}`,
		`nas_identifier=airtill-${site.gateway.name}`,
		'# Disconnect-Requests, so that a pass that is ended ends at once: the address from which Airtill sends them.',
		`radius_das_port=${settings.nasPort ?? 3799}`,
		`radius_das_client=127.0.0.1 ${secret}`,
		'radius_das_require_event_timestamp=1',
		'radius_das_require_message_authenticator=1'
	].join('\n')}\n`;
}

/** A text for uci's own quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function openWrtText(
	{ credentials, settings }: GatewayFacts,
	site: ConfigSite,
	isEnterprise: boolean
): string {
	const secret = quoted(credentials.radiusSecret ?? '');
	const set = (name: string, value: string) => `uci set wireless.airtill.${name}=${value}`;
	return [
		'# On the router, with wpad (not wpad-basic); "radio0" is the one that sends the network.',
		'uci set wireless.airtill=wifi-iface',
		set('device', 'radio0'),
		set('network', 'lan'),
		set('mode', 'ap'),
		set('ssid', quoted(site.router?.ssid ?? SSID)),
		...(isEnterprise
			? [set('encryption', 'wpa2')]
			: [
					set('encryption', 'psk2'),
					'# The password of each device comes from RADIUS; there is none for all.',
					set('ppsk', '1')
				]),
		set('auth_server', '127.0.0.1'),
		set('auth_port', '1812'),
		set('auth_secret', secret),
		set('acct_server', '127.0.0.1'),
		set('acct_port', '1813'),
		set('acct_secret', secret),
		set('acct_interval', '60'),
		set('nasid', quoted(`airtill-${site.gateway.name}`)),
		set('dae_client', '127.0.0.1'),
		set('dae_port', String(settings.nasPort ?? 3799)),
		set('dae_secret', secret),
		'uci commit wireless && wifi reload',
		'# Put the address of the RADIUS server (auth_server, acct_server) and of Airtill (dae_client) for 127.0.0.1.',
		''
	].join('\n');
}

const PERSONAL = `The access point asks for the password by the address of the device, before anybody has typed one.
A device that bought on a visit, or was in before, is known by its address. One that is not known (phones take
another address for each network name) is let in with the password of any pass of this router that has room for
another device: of the newest 16, because the access point tries each. What it typed is not told to anybody, so
where several passes had room, its connection belongs to no pass in the books: it ends when the first of them
ends, and it cannot be ended before that. Sell on the same network name where that matters.
hostapd keeps an answer for about 30 seconds: a password that was just bought may need a second try.
`;

const ENTERPRISE = `Devices ask for user name and password, and most of them to trust the certificate of the RADIUS
server once. A certificate of your own spares them the warning about Debian's stand-in (see the module below).
`;

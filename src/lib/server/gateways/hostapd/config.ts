import { freeRadius } from '#lib/server/radius/freeradius-config.ts';
import { UNKNOWN, type ConfigPart, type ConfigSite, type GatewayFacts } from '../gateway.ts';

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
	const own = settings.nas ?? UNKNOWN.gateway;
	const radius = site.radiusServer ?? UNKNOWN.radius;
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
		...unknownOf(settings.nas, site),
		`auth_server_addr=${radius}`,
		'auth_server_port=1812',
		`auth_server_shared_secret=${secret}`,
		`acct_server_addr=${radius}`,
		'acct_server_port=1813',
		`acct_server_shared_secret=${secret}`,
		'radius_acct_interim_interval=60',
		'# The address from which it asks.',
		`own_ip_addr=${own}`,
		`nas_identifier=airtill-${site.gateway.name}`,
		'# Disconnect-Requests, so that a pass that is ended ends at once.',
		`radius_das_port=${settings.nasPort ?? 3799}`,
		`radius_das_client=${UNKNOWN.airtill} ${secret}`,
		'radius_das_require_event_timestamp=1',
		'radius_das_require_message_authenticator=1'
	].join('\n')}\n`;
}

/** Names that hostapd does not start with, each with what belongs there. */
const unknownOf = (nas: string | undefined, { radiusServer }: ConfigSite) => [
	...(nas === undefined
		? [`# ${UNKNOWN.gateway}: the address from which this access point asks (register it with --nas).`]
		: []),
	...(radiusServer === null
		? [
				`# ${UNKNOWN.radius}: the RADIUS server, as this access point reaches it (or print this with --radius-server).`
			]
		: []),
	`# ${UNKNOWN.airtill}: the address from which Airtill sends Disconnect-Requests.`
];

/** A text for uci's own quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function openWrtText(
	{ credentials, settings }: GatewayFacts,
	site: ConfigSite,
	isEnterprise: boolean
): string {
	const secret = quoted(credentials.radiusSecret ?? '');
	const radius = site.radiusServer ?? UNKNOWN.radius;
	const dasPort = String(settings.nasPort ?? 3799);
	const set = (name: string, value: string) => `uci set wireless.airtill.${name}=${value}`;
	const option = (line: string) => `uci add_list wireless.airtill.hostapd_bss_options=${quoted(line)}`;
	return [
		'# On the router, with wpad (not wpad-basic); "radio0" is the one that sends the network.',
		...unknownOf('its own', site),
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
		set('auth_server', radius),
		set('auth_port', '1812'),
		set('auth_secret', secret),
		set('acct_server', radius),
		set('acct_port', '1813'),
		set('acct_secret', secret),
		set('acct_interval', '60'),
		set('nasid', quoted(`airtill-${site.gateway.name}`)),
		'# Disconnect-Requests, so that a pass that is ended ends at once.',
		...(isEnterprise
			? [set('dae_client', UNKNOWN.airtill), set('dae_port', dasPort), set('dae_secret', secret)]
			: [
					'# OpenWrt writes its dae_* options for wpa2 alone: with psk2 they are handed to hostapd as they are.',
					'uci -q delete wireless.airtill.hostapd_bss_options',
					option(`radius_das_port=${dasPort}`),
					option(`radius_das_client=${UNKNOWN.airtill} ${credentials.radiusSecret ?? ''}`),
					option('radius_das_require_event_timestamp=1'),
					option('radius_das_require_message_authenticator=1')
				]),
		'uci commit wireless && wifi reload',
		''
	].join('\n');
}

const PERSONAL = `The access point asks for the password by the address of the device, before anybody has typed one.
A device that bought on a visit, or was in before, is known by its address. One that is not known (phones take
another address for each network name) is let in with the password of any pass of this router that has room for
another device: of 16 at a time, because the access point tries each; one that asks again is given others. What it
typed is not told to anybody, so where several passes had room, its connection belongs to no pass in the books, and to
no limit of devices: it ends when the first of them ends, and it cannot be ended before that. Sell on the same network
name where that matters.
hostapd keeps an answer for about 30 seconds: a password that was just bought may need a second try, and where many
passes wait for their devices, one more for each 16 of them. A device that joins again within these seconds is told the
time that was left at the earlier answer: where Disconnect-Requests do not reach the access point (--nas), it stays so
much longer, 30 seconds at most.
`;

const ENTERPRISE = `Devices ask for user name and password, and most of them to trust the certificate of the RADIUS
server once. A certificate of your own spares them the warning about Debian's stand-in (see the module below).
`;

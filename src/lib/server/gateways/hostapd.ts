import {
	type ConfigContext,
	type ConfigPart,
	refuseEntry,
	type GatewayAdapter,
	type GatewayFacts,
	UNKNOWN,
	formatFile
} from './gateway.ts';
import { freeRadius } from './freeradius.ts';

/**
 * Access points that ask a RADIUS server and have no captive portal: hostapd, OpenWrt, enterprise models. A
 * pass's password is the Wi-Fi password (`wpa_personal_per_client`) or the 802.1X one (`wpa_enterprise`).
 */
export const hostapd: GatewayAdapter = {
	title: 'Access point with RADIUS',
	secretName: null,
	defaultPort: null,
	startPath: null,
	controlMode: () => 'radius',
	controller: null,
	configFor: hostapdConfig,
	parseEntry() {
		throw refuseEntry('missing', 'Access points do not redirect');
	}
};

function hostapdConfig(facts: GatewayFacts, context: ConfigContext): ConfigPart[] {
	const isEnterprise = context.router.accessKind === 'wpa_enterprise';
	return [
		{
			title: 'hostapd',
			file: '/etc/hostapd/hostapd.conf',
			text: hostapdText(facts, context, isEnterprise)
		},
		{
			title: 'OpenWrt, instead of hostapd.conf',
			file: null,
			text: openWrtText(facts, context, isEnterprise)
		},
		{ title: 'Notes', file: null, text: isEnterprise ? ENTERPRISE : PERSONAL },
		...freeRadius(facts, context)
	];
}

/** Writes hex unless the SSID is plain ASCII, because an SSID is up to 32 arbitrary bytes. */
const ssidLine = (ssid: string) =>
	/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(ssid)
		? `ssid=${ssid}`
		: `ssid2=${Buffer.from(ssid).toString('hex')}`;

function hostapdText(
	{ credentials, settings }: GatewayFacts,
	{ gateway, router, radiusServer }: ConfigContext,
	isEnterprise: boolean
): string {
	const secret = credentials.radiusSecret ?? '';
	const kind = isEnterprise
		? ['ieee8021x=1', 'wpa_key_mgmt=WPA-EAP']
		: [
				'wpa_key_mgmt=WPA-PSK',
				'# RADIUS returns the password for the MAC address of each device: WPA2, not WPA3.',
				'macaddr_acl=2',
				'wpa_psk_radius=2'
			];
	const head = `# ${gateway.name}. Contains secrets: mode 600. Add interface, channel and country of this access point.`;
	return formatFile(head, [
		ssidLine(router.ssid),
		...(router.hidden ? ['ignore_broadcast_ssid=1'] : []),
		'auth_algs=1',
		'wpa=2',
		'rsn_pairwise=CCMP',
		...kind,
		`auth_server_addr=${radiusServer}`,
		'auth_server_port=1812',
		`auth_server_shared_secret=${secret}`,
		`acct_server_addr=${radiusServer}`,
		'acct_server_port=1813',
		`acct_server_shared_secret=${secret}`,
		'radius_acct_interim_interval=60',
		'# The address from which it sends RADIUS requests.',
		`own_ip_addr=${settings.nas ?? UNKNOWN.gateway}`,
		`nas_identifier=airtill-${gateway.name}`,
		'# Disconnect-Requests, so that a pass that is ended ends at once.',
		`radius_das_port=${settings.nasPort ?? 3799}`,
		`radius_das_client=${UNKNOWN.airtill} ${secret}`,
		'radius_das_require_event_timestamp=1',
		'radius_das_require_message_authenticator=1'
	]);
}

/** Quotes a text for uci. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function openWrtText(
	{ credentials, settings }: GatewayFacts,
	{ gateway, router, radiusServer }: ConfigContext,
	isEnterprise: boolean
): string {
	const secret = quoted(credentials.radiusSecret ?? '');
	const dasPort = String(settings.nasPort ?? 3799);
	const set = (name: string, value: string) => `uci set wireless.airtill.${name}=${value}`;
	const option = (line: string) => `uci add_list wireless.airtill.hostapd_bss_options=${quoted(line)}`;
	return formatFile('# On the router, with wpad (not wpad-basic); "radio0" is the radio of the network.', [
		'uci set wireless.airtill=wifi-iface',
		set('device', 'radio0'),
		set('network', 'lan'),
		set('mode', 'ap'),
		set('ssid', quoted(router.ssid)),
		...(router.hidden ? [set('hidden', '1')] : []),
		...(isEnterprise
			? [set('encryption', 'wpa2')]
			: [
					set('encryption', 'psk2'),
					'# The password of each device comes from RADIUS; there is no shared password.',
					set('ppsk', '1')
				]),
		set('auth_server', radiusServer),
		set('auth_port', '1812'),
		set('auth_secret', secret),
		set('acct_server', radiusServer),
		set('acct_port', '1813'),
		set('acct_secret', secret),
		set('acct_interval', '60'),
		set('nasid', quoted(`airtill-${gateway.name}`)),
		'# Disconnect-Requests, so that a pass that is ended ends at once.',
		...(isEnterprise
			? [set('dae_client', UNKNOWN.airtill), set('dae_port', dasPort), set('dae_secret', secret)]
			: [
					'# OpenWrt writes its dae_* options only for wpa2; with psk2 they go directly to hostapd.',
					'uci -q delete wireless.airtill.hostapd_bss_options',
					option(`radius_das_port=${dasPort}`),
					option(`radius_das_client=${UNKNOWN.airtill} ${credentials.radiusSecret ?? ''}`),
					option('radius_das_require_event_timestamp=1'),
					option('radius_das_require_message_authenticator=1')
				]),
		'uci commit wireless && wifi reload'
	]);
}

const PERSONAL = `The access point asks RADIUS for the password of a MAC address before the device sends one.
Airtill knows the address of a device that bought at this router or was online before. Phones use another address for
each network name, so other devices are unknown. An unknown device may use the password of any pass of this router that
has room for another device. The access point tries 16 passwords at a time; if the device asks again, it gets others.
RADIUS does not learn which password matched. If several passes had room, the connection counts for no pass and no
device limit. It ends when the first of these passes ends, and cannot be ended before. To avoid this, sell on the same
network name.
hostapd keeps an answer for about 30 seconds: a new password may need a second try, and one more for each 16 passes that
wait for their devices. A device that connects again within 30 seconds gets the remaining time of the earlier answer. If
Disconnect-Requests do not reach the access point (--nas), it stays online up to 30 seconds too long.
`;

const ENTERPRISE = `Devices ask for username and password. Most also ask once whether to trust the certificate of the
RADIUS server. Your own certificate avoids the warning about Debian's self-signed one (see the module below).
`;

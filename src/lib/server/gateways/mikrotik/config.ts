import { freeRadius } from '#lib/server/radius/freeradius-config.ts';
import { UNKNOWN, type ConfigPart, type ConfigSite, type GatewayFacts } from '../gateway.ts';
import { portalAddress } from '../captive-sessions/portal-address.ts';

/**
 * The configuration of a MikroTik hotspot: a script for `/import`, the page `login.html` of its hotspot folder, and what
 * asks us in its place where it learns by RADIUS. The names of interfaces and addresses of a network are that router's
 * own: the hotspot itself is set up there first (`/ip hotspot setup`), and everything here is added to it.
 */
export function mikrotikConfig(facts: GatewayFacts, site: ConfigSite): ConfigPart[] {
	const isRest = facts.settings.control === 'rest';
	return [
		{ title: 'MikroTik: what to do', file: null, text: steps(site, isRest) },
		{ title: 'MikroTik: script', file: 'airtill.rsc', text: script(facts, site, isRest) },
		{ title: 'MikroTik: login.html', file: 'hotspot/login.html', text: loginPage(site) },
		...(isRest ? [] : freeRadius(facts, site))
	];
}

/** A text between the quotes of a RouterOS script. */
const quoted = (text: string) => `"${text.replace(/[\\"$?]/g, '\\$&')}"`;

/** Each name that is to be replaced, with what belongs there. */
const unknownOf = ({ origin, radiusServer }: ConfigSite, isRest: boolean) => [
	...(origin === null
		? [{ name: UNKNOWN.machine, what: 'in both files: the address of this installation (or set ORIGIN)' }]
		: []),
	...(radiusServer === null && !isRest
		? [
				{
					name: UNKNOWN.radius,
					what: 'in airtill.rsc: the RADIUS server as this router reaches it (or: --radius-server)'
				}
			]
		: [])
];

function steps(site: ConfigSite, isRest: boolean): string {
	const unknown = unknownOf(site, isRest);
	return [
		...(unknown.length === 0
			? []
			: [
					'0. Put what is not known in place of these names, and take the line with ":error" out of airtill.rsc:',
					...unknown.map(({ name, what }) => `   ${name} ${what}`)
				]),
		'1. Set up the hotspot on the interface of the guests, if there is none: /ip hotspot setup',
		'   (newer devices: /system device-mode update hotspot=yes, confirmed by the button on the device).',
		'2. Upload airtill.rsc under Files, read it, and run: /import file-name=airtill.rsc',
		'   It changes every hotspot profile; where there are several, put its name in place of the [find].',
		'   It takes no IPv6 from the interfaces of hotspots, which see to IPv4 alone: run it again after adding one.',
		'3. Upload login.html into the folder "hotspot" (flash/hotspot where there is one), in place of the one there.',
		...(isRest
			? [
					'4. Switch on the service www-ssl (or www within a private network), so that its REST API answers, only for',
					'   the address of this installation: /ip service set www-ssl disabled=no certificate=NAME address=ADDRESS'
				]
			: ['4. Set up the RADIUS server with the other parts.']),
		'5. Buy an hour with a phone on that Wi-Fi, and look at: airtill gateways test NAME'
	].join('\n');
}

function script(facts: GatewayFacts, site: ConfigSite, isRest: boolean): string {
	// Where it signs in by name: only that has cookies for the network's own name.
	const { hostname } = portalAddress(site);
	const unknown = unknownOf(site, isRest);
	const name = `airtill-${site.gateway.name}`;
	const { credentials, settings } = facts;
	const api = site.origin?.startsWith('https:') ? `${site.origin}/captive-portal/${site.gateway.key}` : null;
	const radius = [
		'# The RADIUS server, as this router reaches it. Run again, it replaces what is there.',
		`/radius remove [find comment=${name}]`,
		`/radius add service=hotspot address=${site.radiusServer ?? UNKNOWN.radius} secret=${quoted(credentials.radiusSecret ?? '')} timeout=3s comment=${name}`,
		'# A pass that is ended ends at once (RFC 5176).',
		`/radius incoming set accept=yes port=${settings.nasPort ?? 3799}`,
		'/ip hotspot profile set [find] use-radius=yes radius-accounting=yes radius-interim-update=1m'
	];
	const user = quoted(credentials.apiUser ?? '');
	const rest = [
		'# The user by which Airtill adds and removes the users of the hotspot.',
		`:if ([:len [/user group find name=airtill]] = 0) do={/user group add name=airtill policy=read,write,rest-api,api}`,
		`/user remove [find name=${user}]`,
		`/user add name=${user} group=airtill password=${quoted(credentials.apiKey ?? '')} comment=${name}`,
		'/ip hotspot profile set [find] use-radius=no'
	];
	return `${[
		`# ${site.gateway.name}: written by "airtill gateways config". Holds secrets: delete the file after /import.`,
		...(unknown.length === 0
			? []
			: [
					'# Before anything is changed.',
					`:error "airtill.rsc: put in what is not known (${unknown.map(({ name: what }) => what).join(', ')}), and take this line out"`
				]),
		'',
		'# A cookie for the device, so that added time goes on without another sign-in.',
		'/ip hotspot profile set [find] login-by=http-chap,http-pap,mac-cookie html-directory=hotspot',
		'/ip hotspot user profile set [find] add-mac-cookie=yes mac-cookie-timeout=3d',
		'',
		...(isRest ? rest : radius),
		'',
		'# What may be reached before a sign-in: the portal alone, never the pages by which phones look for the internet.',
		`/ip hotspot walled-garden remove [find comment=${name}]`,
		`/ip hotspot walled-garden add dst-host=${hostname} action=allow comment=${name}`,
		`/ip hotspot walled-garden ip remove [find comment=${name}]`,
		`/ip hotspot walled-garden ip add dst-host=${hostname} action=accept comment=${name}`,
		'',
		...(api === null
			? ['# DHCP option 114 is not set: devices take it for https addresses only (RFC 8908).']
			: [
					'# Phones open the portal by themselves (RFC 8910). Only where this router does not translate the addresses of its',
					'# devices on their way to the portal (NAT), which knows a device by its address alone: else leave these out.',
					`/ip dhcp-server option remove [find name=${name}]`,
					`/ip dhcp-server option add name=${name} code=114 value="s'${api}'"`,
					`/ip dhcp-server network set [find] dhcp-option=${name}`
				]),
		'',
		'# The hotspot sees to IPv4 alone: by IPv6 its devices would be online unpaid, so none of it is taken from them. Last,',
		'# because RouterOS 6 without the package "ipv6" has no IPv6 and does not know this command: an error here is none.',
		`/ipv6 firewall raw remove [find comment=${name}]`,
		`:foreach hotspot in=[/ip hotspot find] do={/ipv6 firewall raw add chain=prerouting in-interface=[/ip hotspot get $hotspot interface] action=drop comment=${name}}`
	].join('\n')}\n`;
}

const FIELDS = [
	'mac',
	'ip',
	'identity',
	'link-login-only',
	'link-orig',
	'chap-id',
	'chap-challenge',
	'error'
] as const;

/** Posts itself; without scripts a button does. Its variables are filled in by the router. */
function loginPage(site: ConfigSite): string {
	const action = `${portalAddress(site).origin}/splash/${site.gateway.key}`;
	const inputs = FIELDS.map((name) => `<input type="hidden" name="${name}" value="$(${name})">`);
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="cache-control" content="no-store">
<title>Wi-Fi</title>
</head>
<body>
<form id="r" name="r" action="${action}" method="post">
${inputs.join('\n')}
<input type="hidden" name="server" value="$(server-name)">
<input type="hidden" name="logged-in" value="$(logged-in)">
<noscript><button>Continue to the Wi-Fi</button></noscript>
</form>
<script>document.getElementById('r').submit()</script>
</body>
</html>
`;
}

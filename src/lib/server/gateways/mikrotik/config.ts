import { freeRadius } from '../freeradius/config.ts';
import { placeholdersIn } from '../config-text.ts';
import type { ConfigPart, ConfigContext, GatewayFacts } from '../gateway.ts';

/**
 * Returns a script for `/import`, the page `login.html`, and the RADIUS server if the hotspot uses one. The
 * administrator runs `/ip hotspot setup` first, because interfaces and addresses differ between routers.
 */
export function mikrotikConfig(facts: GatewayFacts, context: ConfigContext): ConfigPart[] {
	const isRest = facts.settings.control === 'rest';
	const commands = script(facts, context, isRest);
	const unknown = placeholdersIn(commands);
	const head = `# ${context.gateway.name}: written by "airtill gateways config". Contains secrets: delete the file after /import.`;
	const stop = `# Stops before any change.
:error "airtill.rsc: put in what is not known (${unknown.map(({ name }) => name).join(', ')}), and take this line out"`;
	const text = [head, ...(unknown.length > 0 ? [stop] : []), commands].join('\n');
	return [
		{ title: 'MikroTik: what to do', file: null, text: steps(unknown, isRest) },
		{ title: 'MikroTik: script', file: 'airtill.rsc', text },
		{ title: 'MikroTik: login.html', file: 'hotspot/login.html', text: loginPage(context) },
		...(isRest ? [] : freeRadius(facts, context))
	];
}

const quoted = (text: string) => `"${text.replace(/[\\"$?]/g, '\\$&')}"`;

function steps(unknown: ReturnType<typeof placeholdersIn>, isRest: boolean): string {
	return [
		...(unknown.length === 0
			? []
			: [
					'0. Replace these placeholders in the files, and remove the line with ":error" from airtill.rsc:',
					...unknown.map(({ name, what }) => `   ${name}: ${what}`)
				]),
		'1. Set up the hotspot on the interface of the guests, if there is none: /ip hotspot setup',
		'   (newer devices: /system device-mode update hotspot=yes, confirmed by the button on the device).',
		'2. Upload airtill.rsc under Files, read it, and run: /import file-name=airtill.rsc',
		'   It changes every hotspot profile; if there are several, replace [find] with the name of one.',
		'   It drops IPv6 from the interfaces of hotspots, which control only IPv4: run it again after you add a hotspot.',
		'3. Replace login.html in the folder "hotspot" (or flash/hotspot) with this login.html.',
		...(isRest
			? [
					'4. Switch on the service www-ssl (or www in a private network) for the REST API, only for the address of this',
					'   installation: /ip service set www-ssl disabled=no certificate=NAME address=ADDRESS'
				]
			: ['4. Set up the RADIUS server with the other parts.']),
		'5. Open the router for sale, and buy an hour with a phone on that Wi-Fi.'
	].join('\n');
}

function script(facts: GatewayFacts, context: ConfigContext, isRest: boolean): string {
	const { gateway, portal, radiusServer } = context;
	const { hostname } = portal;
	const name = `airtill-${gateway.name}`;
	const { credentials, settings } = facts;
	const api = portal.protocol === 'https:' ? `${portal.origin}/captive-portal/${gateway.key}` : null;
	const radius = [
		'# The RADIUS server. Running the script again replaces it.',
		`/radius remove [find comment=${name}]`,
		`/radius add service=hotspot address=${radiusServer} secret=${quoted(credentials.radiusSecret ?? '')} timeout=3s comment=${name}`,
		'# Disconnect-Requests (RFC 5176): a pass that is ended early ends at once.',
		`/radius incoming set accept=yes port=${settings.nasPort ?? 3799}`,
		'/ip hotspot profile set [find] use-radius=yes radius-accounting=yes radius-interim-update=1m'
	];
	const user = quoted(credentials.apiUser ?? '');
	const rest = [
		'# The user with which Airtill adds and removes the users of the hotspot.',
		`:if ([:len [/user group find name=airtill]] = 0) do={/user group add name=airtill policy=read,write,rest-api,api}`,
		`/user remove [find name=${user}]`,
		`/user add name=${user} group=airtill password=${quoted(credentials.apiKey ?? '')} comment=${name}`,
		'/ip hotspot profile set [find] use-radius=no'
	];
	return `${[
		'',
		'# A cookie for the device: added time continues without another sign-in.',
		'/ip hotspot profile set [find] login-by=http-chap,http-pap,mac-cookie html-directory=hotspot',
		'/ip hotspot user profile set [find] add-mac-cookie=yes mac-cookie-timeout=3d',
		'',
		...(isRest ? rest : radius),
		'',
		'# Reachable before a sign-in: only the portal, never the pages with which phones detect the internet.',
		`/ip hotspot walled-garden remove [find comment=${name}]`,
		`/ip hotspot walled-garden add dst-host=${hostname} action=allow comment=${name}`,
		`/ip hotspot walled-garden ip remove [find comment=${name}]`,
		`/ip hotspot walled-garden ip add dst-host=${hostname} action=accept comment=${name}`,
		'',
		...(api === null
			? ['# DHCP option 114 is not set: devices accept only https addresses (RFC 8908).']
			: [
					'# Only if this router does not translate addresses (NAT) between its devices and the portal: phones open the portal',
					'# automatically (RFC 8910). With NAT all devices have one address, and phones that paid would ask to sign in for ever.',
					'# Put in the network of the hotspot.',
					`# /ip dhcp-server option add name=${name} code=114 value="s'${api}'"`,
					`# /ip dhcp-server network set [find address=10.5.50.0/24] dhcp-option=${name}`
				]),
		'',
		'# The hotspot controls only IPv4: drop IPv6, with which devices would be online unpaid. This is the last command, because',
		'# RouterOS 6 without the package "ipv6" does not know it: ignore an error here.',
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

/** Returns a page that submits itself, or has a button without scripts. The router fills in its variables. */
function loginPage({ portal, gateway }: ConfigContext): string {
	const action = `${portal.origin}/splash/${gateway.key}`;
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

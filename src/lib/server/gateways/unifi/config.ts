import type { ConfigPart, ConfigSite, GatewayFacts } from '../gateway.ts';
import { portalAddress } from '../captive-sessions/portal-address.ts';

/** UniFi is set up in its console, by hand: there is no file to hand over. */
export function unifiConfig({ settings }: GatewayFacts, site: ConfigSite): ConfigPart[] {
	const portal = portalAddress(site);
	const steps = [
		`Settings > WiFi: the network "${site.router?.ssid ?? '(that of the router)'}" with Hotspot 2.0 off, "Hotspot Portal" on, ` +
			'security "Open" or a shared password.',
		'Hotspot (Insights > Hotspot > Landing Page): Authentication "External Portal Server", and as its address ' +
			`${portal.hostname}. UniFi appends /guest/s/${settings.site ?? 'default'}/ by itself. ` +
			(portal.port === '' && portal.protocol === 'http:'
				? 'It calls the portal by http on port 80.'
				: portal.protocol === 'https:'
					? 'Switch "HTTPS Redirection" and "Secure Portal" on, so that it calls the portal by https.'
					: `It calls port 80 alone, and this installation is at port ${portal.port}: put a proxy on port 80.`),
		`"Pre-Authorization Allowances": add ${portal.hostname}, and nothing else; never the pages by which phones look for ` +
			'the internet.',
		'"Default expiration": any; every guest is given its own minutes.',
		...(settings.api === undefined
			? ['Airtill lets nobody in there (--external-access): see that whatever does so works.']
			: [
					'Control Plane > Integrations: make an API key with an administrator of this site. The one that was registered ' +
						`stays the one that is used at ${settings.api}; a new one: airtill gateways rotate ${site.gateway.name} ` +
						'--api-key-file FILE.',
					'See that guests stay out while the console is away: a gateway of UniFi that runs on its own (SELFRUN) may let ' +
						'them in unpaid. Switch on "Block access when the console is offline" where there is such a setting.'
				]),
		'Networks > DHCP: set no custom option 114 (RFC 8910). The API knows a device by its address alone, and from here all ' +
			'devices of the site have one: a phone that reads there that it is captive says so for ever.',
		`Buy an hour with a phone on that Wi-Fi, and look at: airtill gateways test ${site.gateway.name}`
	];
	return [
		{
			title: 'UniFi: what to do in the console',
			file: null,
			text: steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
		}
	];
}

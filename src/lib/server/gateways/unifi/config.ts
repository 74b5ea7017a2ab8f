import type { ConfigPart, ConfigContext, GatewayFacts } from '../gateway.ts';

/** Returns manual steps, because UniFi's console has no configuration file. */
export function unifiConfig({ settings }: GatewayFacts, { portal, router }: ConfigContext): ConfigPart[] {
	const steps = [
		`Settings > WiFi: the network "${router.ssid}" with Hotspot 2.0 off, "Hotspot Portal" on, ` +
			'security "Open" or a shared password.',
		'Hotspot (Insights > Hotspot > Landing Page): Authentication "External Portal Server", and as its address ' +
			`${portal.hostname}. UniFi appends /guest/s/${settings.site ?? 'default'}/. ` +
			(portal.port === '' && portal.protocol === 'http:'
				? 'It calls the portal by http on port 80.'
				: portal.protocol === 'https:'
					? 'Switch "HTTPS Redirection" and "Secure Portal" on, so that it calls the portal by https.'
					: `It calls only port 80, and this installation uses port ${portal.port}: put a proxy on port 80.`),
		`"Pre-Authorization Allowances": add only ${portal.hostname}, never the pages with which phones detect the ` +
			'internet.',
		'"Default expiration": any value; Airtill sets the minutes of every guest.',
		...(settings.api === undefined
			? ['Airtill does not connect devices there (--external-access): check that the other system does.']
			: [
					'Control Plane > Integrations: create an API key as an administrator of this site. Airtill uses the registered key ' +
						`at ${settings.api}.`,
					'Check that guests stay offline while the console is down: a UniFi gateway that runs on its own (SELFRUN) may ' +
						'connect them unpaid. Switch on "Block access when the console is offline" if there is such a setting.'
				]),
		'Networks > DHCP: set no custom option 114 (RFC 8910). The API identifies a device by its IP address, and all ' +
			'devices of the site share one: a phone would show "sign in" for ever.',
		'Open the router for sale, and buy an hour with a phone on that Wi-Fi.'
	];
	return [
		{
			title: 'UniFi: what to do in the console',
			file: null,
			text: steps.map((step, index) => `${index + 1}. ${step}`).join('\n')
		}
	];
}

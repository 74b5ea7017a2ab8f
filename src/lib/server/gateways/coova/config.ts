import { freeRadius } from '../freeradius/config.ts';
import { fileText } from '../config-text.ts';
import type { ConfigPart, ConfigContext, GatewayFacts } from '../gateway.ts';

/**
 * Returns /etc/chilli/config (Debian's package) and the RADIUS server's configuration. OpenWrt's package has the same
 * options in /etc/config/chilli, in lower case without `HS_`.
 */
export function coovaConfig(facts: GatewayFacts, context: ConfigContext): ConfigPart[] {
	const [own = '10.1.0.1'] = facts.loginHosts;
	const [address = own, port = '3990'] = own.split(':');
	const { gateway, portal, radiusServer } = context;
	const lines = [
		'# Add HS_WANIF, HS_LANIF and HS_NETWORK of this router. Chilli controls only IPv4: disable IPv6 on HS_LANIF',
		'# (sysctl -w net.ipv6.conf.HS_LANIF.disable_ipv6=1), or the kernel forwards it for devices that have not paid.',
		`HS_UAMLISTEN=${address}`,
		`HS_UAMPORT=${port}`,
		`HS_NASID=airtill-${gateway.name}`,
		`HS_UAMSECRET=${facts.secret ?? ''}`,
		`HS_UAMFORMAT=${portal.origin}/splash/${gateway.key}`,
		`HS_UAMHOMEPAGE=`,
		'# Reachable before a sign-in: only the portal, never the pages with which phones detect the internet.',
		`HS_UAMALLOW=${portal.hostname}`,
		`HS_RADIUS=${radiusServer}`,
		`HS_RADIUS2=${radiusServer}`,
		`HS_RADSECRET=${facts.credentials.radiusSecret ?? ''}`,
		'# Port for Disconnect-Requests: a pass that is ended early ends at once.',
		`HS_COAPORT=${facts.settings.nasPort ?? 3799}`,
		'# From any address: it is signed with the RADIUS secret.',
		'HS_RAW_CONFIG2=coanoipcheck',
		'HS_DEFINTERIMINTERVAL=60'
	];
	const title = `# ${gateway.name}: devices without internet are sent to ${portal.origin}. Contains secrets: mode 600.`;
	return [
		{ title: 'CoovaChilli', file: '/etc/chilli/config', text: fileText(title, lines) },
		...freeRadius(facts, context)
	];
}

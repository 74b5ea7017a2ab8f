import { freeRadius } from '../freeradius/config.ts';
import { UNKNOWN, type ConfigPart, type ConfigContext, type GatewayFacts } from '../gateway.ts';
import { portalAddress } from '../captive-sessions/portal-address.ts';

/**
 * Returns /etc/chilli/config (Debian's package) and the RADIUS server's configuration. OpenWrt's package has the same
 * options in /etc/config/chilli, in lower case without `HS_`.
 */
export function coovaConfig(facts: GatewayFacts, context: ConfigContext): ConfigPart[] {
	const [own = '10.1.0.1'] = facts.loginHosts;
	const [address = own, port = '3990'] = own.split(':');
	const { origin: portal, hostname } = portalAddress(context);
	const radius = context.radiusServer ?? UNKNOWN.radius;
	const lines = [
		`# ${context.gateway.name}: devices without internet are sent to ${portal}. Contains secrets: mode 600.`,
		...(context.origin === null
			? [`# Replace ${UNKNOWN.machine} with the address of this installation (or set ORIGIN).`]
			: []),
		...(context.radiusServer === null
			? [
					`# Replace ${UNKNOWN.radius} with the address at which this router reaches the RADIUS server (or use --radius-server).`
				]
			: []),
		'# Add HS_WANIF, HS_LANIF and HS_NETWORK of this router. Chilli controls only IPv4: disable IPv6 on HS_LANIF',
		'# (sysctl -w net.ipv6.conf.HS_LANIF.disable_ipv6=1), or the kernel forwards it for devices that have not paid.',
		`HS_UAMLISTEN=${address}`,
		`HS_UAMPORT=${port}`,
		`HS_NASID=airtill-${context.gateway.name}`,
		`HS_UAMSECRET=${facts.secret ?? ''}`,
		`HS_UAMFORMAT=${portal}/splash/${context.gateway.key}`,
		`HS_UAMHOMEPAGE=`,
		'# Reachable before a sign-in: only the portal, never the pages with which phones detect the internet.',
		`HS_UAMALLOW=${hostname}`,
		`HS_RADIUS=${radius}`,
		`HS_RADIUS2=${radius}`,
		`HS_RADSECRET=${facts.credentials.radiusSecret ?? ''}`,
		'# Port for Disconnect-Requests: a pass that is ended early ends at once.',
		`HS_COAPORT=${facts.settings.nasPort ?? 3799}`,
		'# From any address: it is signed with the RADIUS secret.',
		'HS_RAW_CONFIG2=coanoipcheck',
		'HS_DEFINTERIMINTERVAL=60'
	];
	return [
		{ title: 'CoovaChilli', file: '/etc/chilli/config', text: `${lines.join('\n')}\n` },
		...freeRadius(facts, context)
	];
}

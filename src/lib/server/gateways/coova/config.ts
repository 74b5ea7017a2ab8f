import { freeRadius } from '#lib/server/radius/freeradius-config.ts';
import { UNKNOWN, type ConfigPart, type ConfigSite, type GatewayFacts } from '../gateway.ts';
import { portalAddress } from '../captive-sessions/portal-address.ts';

/** Configuration of CoovaChilli: /etc/chilli/config of Debian's and OpenWrt's package, and the RADIUS server behind it. */
export function coovaConfig(facts: GatewayFacts, site: ConfigSite): ConfigPart[] {
	const [own = '10.1.0.1'] = facts.loginHosts;
	const [address = own, port = '3990'] = own.split(':');
	const { origin: portal, hostname } = portalAddress(site);
	const radius = site.radiusServer ?? UNKNOWN.radius;
	const lines = [
		`# ${site.gateway.name}: devices without internet are sent to ${portal}. Holds secrets: mode 600.`,
		...(site.origin === null
			? [`# Put the address of this installation in place of ${UNKNOWN.machine} (or set ORIGIN).`]
			: []),
		...(site.radiusServer === null
			? [
					`# Put the RADIUS server, as this router reaches it, in place of ${UNKNOWN.radius} (or use --radius-server).`
				]
			: []),
		'# HS_WANIF, HS_LANIF and HS_NETWORK are those of this very router. Chilli sees to IPv4 alone: give devices no IPv6 on',
		'# HS_LANIF (sysctl -w net.ipv6.conf.HS_LANIF.disable_ipv6=1), or the kernel forwards it for who has not paid.',
		`HS_UAMLISTEN=${address}`,
		`HS_UAMPORT=${port}`,
		`HS_NASID=airtill-${site.gateway.name}`,
		`HS_UAMSECRET=${facts.secret ?? ''}`,
		`HS_UAMFORMAT=${portal}/splash/${site.gateway.key}`,
		`HS_UAMHOMEPAGE=`,
		'# What may be reached before a sign-in: the portal alone, never the pages by which phones look for the internet.',
		`HS_UAMALLOW=${hostname}`,
		`HS_RADIUS=${radius}`,
		`HS_RADIUS2=${radius}`,
		`HS_RADSECRET=${facts.credentials.radiusSecret ?? ''}`,
		'# Where it takes Disconnect-Requests, so that a pass that is ended ends at once.',
		`HS_COAPORT=${facts.settings.nasPort ?? 3799}`,
		'HS_COANOIPCHECK=on',
		'HS_INTERIM=60'
	];
	const parts: ConfigPart[] = [
		{ title: 'CoovaChilli', file: '/etc/chilli/config', text: `${lines.join('\n')}\n` },
		...freeRadius(facts, site)
	];
	const announced = dhcpOption(site);
	return announced ? [...parts, announced] : parts;
}

/** RFC 8910, where the portal has the https that it asks for. */
export function dhcpOption({ origin, gateway }: ConfigSite): ConfigPart | null {
	if (origin === null || !origin.startsWith('https:')) return null;
	return {
		title:
			'DHCP option 114, only where no NAT lies between the devices and Airtill: phones open the portal by themselves',
		file: '/etc/dnsmasq.d/airtill',
		text: `dhcp-option=114,${origin}/captive-portal/${gateway.key}\n`
	};
}

import type { Config } from '#lib/server/config/config.ts';
import { portalAddress } from '#lib/server/gateways/config-text.ts';
import type { GatewayKind } from '#lib/server/gateways/gateway.ts';
import { levelProblem, type RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';

/** @param secrets those that are new */
export const gatewayText = (
	gateway: RegisteredGateway,
	config: Config,
	secrets: readonly SecretName[] = []
): string => [...addressLines(gateway, config), ...secretLines(gateway, secrets)].join('\n');

function addressLines(gateway: RegisteredGateway, config: Config): string[] {
	const { origin } = portalAddress(config);
	const { name, kind, title, routerId, key, loginHosts, settings } = gateway;
	const portal = kind === 'unifi' ? `${origin}/guest/s/${settings.site}/` : `${origin}/splash/${key}`;
	const api = `${origin}/captive-portal/${key}`;
	const problem = levelProblem(settings, config.origin);
	const rows: [label: string, value: string | undefined][] = [
		['Gateway', `${name} (${title}) on router ${routerId}`],
		['Sign-in hosts', loginHosts.join(', ')],
		['Level', settings.level && `fas_secure_enabled ${settings.level}`],
		['', problem ? `No device reaches the portal: ${problem.what}.` : ''],
		['', problem ? `Fix: ${problem.advice}.` : ''],
		['Its API', settings.api],
		['RADIUS client', settings.nas],
		['ndsctl', settings.ndsctl],
		['Access points', settings.accessPoints?.join(', ')],
		['Portal address', portal],
		['RFC 8908 API', api],
		['', config.origin === null ? 'Set ORIGIN to the address of this machine.' : '']
	];
	const given = rows.filter(([, value]) => value !== undefined && value !== '');
	return [...given.map(([label, value]) => `${label.padEnd(16)}${value}`), '', ...dhcpLines(api, kind)];
}

/** DHCP option 114 (RFC 8910). */
function dhcpLines(api: string, kind: GatewayKind): string[] {
	const isHidden = kind !== 'mikrotik';
	if (isHidden || !api.startsWith('https:')) {
		const reason = isHidden
			? 'the API identifies a device by its IP address, which Airtill cannot see here'
			: 'devices accept only https addresses (RFC 8908)';
		return [
			`DHCP option 114 is not to be set: ${reason}.`,
			'Devices find the portal anyway: the gateway redirects their first request.'
		];
	}
	return [
		'DHCP option 114 (RFC 8910), only without NAT between the devices and Airtill: the API identifies a device by its',
		'IP address. Devices must reach the host of this address before they pay:',
		`  dnsmasq   dhcp-option=114,${api}`,
		`  MikroTik  /ip dhcp-server option add name=captive-portal code=114 value="s'${api}'"`,
		'            /ip dhcp-server network set [find] dhcp-option=captive-portal',
		'  ISC       option captive-portal-uri code 114 = text;',
		`            option captive-portal-uri "${api}";`
	];
}

export const SECRET_NAMES = ['secret', 'radiusSecret', 'token'] as const;
type SecretName = (typeof SECRET_NAMES)[number];

function secretLines(
	{ kind, secret, credentials }: RegisteredGateway,
	which: readonly SecretName[]
): string[] {
	const secrets = {
		secret: [`Secret (${adapterOf(kind).secretName ?? ''})`, secret],
		radiusSecret: ['RADIUS secret', credentials.radiusSecret],
		token: [kind === 'opennds' ? 'Token of its script' : 'Token of the RADIUS server', credentials.token]
	} as const;
	return which.flatMap((name) => {
		const [title, value] = secrets[name];
		return value ? ['', `${title}, shown once; "gateways config" includes it:`, value] : [];
	});
}

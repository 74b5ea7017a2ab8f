import type { Config } from '#lib/server/config/config.ts';
import type { GatewayKind } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';

/** What has to be entered where, for one gateway, as the command line prints it. */

/** Where devices reach this installation; `known` is false when it can only be guessed. */
export const publicAddress = ({ origin, port }: Config): { origin: string; known: boolean } =>
	origin === null
		? { origin: `http://THIS-MACHINE${port === 80 ? '' : `:${port}`}`, known: false }
		: { origin, known: true };

export function gatewayAddresses(
	gateway: RegisteredGateway,
	{ origin, known }: { origin: string; known: boolean }
): string[] {
	const { name, kind, title, routerId, key, loginHosts, settings } = gateway;
	const portal = kind === 'unifi' ? `${origin}/guest/s/${settings.site}/` : `${origin}/splash/${key}`;
	const api = `${origin}/captive-portal/${key}`;
	return [
		`Gateway         ${name} (${title}) on router ${routerId}`,
		...(loginHosts.length > 0 ? [`Sign-in hosts   ${loginHosts.join(', ')}`] : []),
		...(settings.level === undefined ? [] : [`Level           fas_secure_enabled ${settings.level}`]),
		...(settings.api === undefined ? [] : [`Its API         ${settings.api}`]),
		...(settings.nas === undefined ? [] : [`RADIUS client   ${settings.nas}`]),
		...(settings.ndsctl === undefined ? [] : [`ndsctl          ${settings.ndsctl}`]),
		...(settings.accessPoints ? [`Access points   ${settings.accessPoints.join(', ')}`] : []),
		`Portal address  ${portal}`,
		`RFC 8908 API    ${api}`,
		...(known ? [] : ['                Set ORIGIN, so that the address of this machine is known.']),
		'',
		...dhcpLines(api, kind)
	];
}

/** RFC 8910: DHCP option 114 tells devices where the API is. */
function dhcpLines(api: string, kind: GatewayKind): string[] {
	if (kind !== 'mikrotik' && kind !== 'coova') {
		return [
			'DHCP option 114 is not to be set: the API knows a device by its address alone, which is not seen from here.',
			'Devices find the portal by themselves, as their first request is answered with it.'
		];
	}
	if (!api.startsWith('https:')) {
		return [
			'DHCP option 114 is not to be set: devices take it for https addresses only (RFC 8908). They find the',
			'portal by themselves, as their first request is answered with it.'
		];
	}
	return [
		'DHCP option 114 (RFC 8910), only where no NAT lies between the devices and this installation: the API knows a',
		'device by its address. The host of this address must be reachable before paying:',
		`  dnsmasq   dhcp-option=114,${api}`,
		`  MikroTik  /ip dhcp-server option add name=captive-portal code=114 value="s'${api}'"`,
		'            /ip dhcp-server network set [find] dhcp-option=captive-portal',
		'  ISC       option captive-portal-uri code 114 = text;',
		`            option captive-portal-uri "${api}";`
	];
}

/** Shown once, when they are made. */
export function secretLines(
	{ kind, secret, credentials }: RegisteredGateway,
	which: readonly ('secret' | 'radiusSecret' | 'token')[]
): string[] {
	const secrets = {
		secret: { title: `Secret (${adapterOf(kind).secretName ?? ''})`, value: secret },
		radiusSecret: { title: 'RADIUS secret', value: credentials.radiusSecret ?? null },
		token: {
			title: kind === 'opennds' ? 'Token of its script' : 'Token of the RADIUS server',
			value: credentials.token ?? null
		}
	};
	return which.flatMap((name) => {
		const { title, value } = secrets[name];
		return value === null ? [] : ['', `${title}, not shown by itself again:`, value];
	});
}

import type { NO_SETTINGS } from '#lib/server/gateways/settings/input.ts';
import type { Values } from '../../support/command.ts';
import { readOneLine } from '../../support/files.ts';

/** Settings of a gateway, as "gateways add" and "gateways set" take them. */
export const SETTING_OPTIONS = {
	'login-host': {
		value: 'HOST',
		help: 'host or host:port of its sign-in page; repeat for up to five. Devices are sent to no other host. Not for unifi and hostapd',
		isList: true
	},
	level: {
		value: '1|4',
		help: 'opennds: fas_secure_enabled; default 1, which no device reaches with an https ORIGIN'
	},
	ndsctl: {
		value: 'PATH',
		help: 'opennds, level 1 on this machine: path of ndsctl, which authorizes and disconnects devices'
	},
	nas: {
		value: 'ADDRESS[:PORT]',
		help: 'mikrotik, coova, hostapd: its address for RADIUS requests and Disconnect-Requests; default port 3799'
	},
	control: {
		value: 'radius|rest',
		help: 'mikrotik: how Airtill controls it; default radius. rest: for RouterOS 7, recommended, because it needs no RADIUS server'
	},
	api: {
		value: 'URL',
		help: 'mikrotik with --control rest: its REST API; unifi: the console; for example https://10.8.0.2. http only in a private network, and for unifi only with --api-insecure'
	},
	'api-user': { value: 'NAME', help: 'mikrotik: user of the REST API' },
	'api-key-file': { value: 'FILE', help: "mikrotik: that user's password; unifi: the API key" },
	'api-certificate-file': {
		value: 'FILE',
		help: 'PEM of the certificate of --api or of the authority that signed it; for certificates that no public authority has signed'
	},
	'api-insecure': { help: 'unifi: allows plain http to the console' },
	site: { value: 'NAME', help: 'unifi: name of the site in the addresses of the console' },
	'access-point': {
		value: 'MAC',
		help: 'unifi: an access point; repeat it. Needed if several gateways share a site name',
		isList: true
	},
	'external-access': {
		help: 'unifi without --api: another system lets devices online, for example your own program behind the webhook session.activated'
	}
} as const;

/** Returns the given settings. An empty text deletes one. */
export async function readSettings(
	values: Values<typeof SETTING_OPTIONS>,
	folder: string
): Promise<Partial<typeof NO_SETTINGS>> {
	const file = async (name: string | undefined) => (name === '' ? '' : readOneLine(folder, name));
	const { level, site, control, nas, ndsctl, api } = values;
	const texts = {
		...{ level, site, control, nas, ndsctl, api },
		apiUser: values['api-user'],
		apiKey: await file(values['api-key-file']),
		apiCertificate: await file(values['api-certificate-file'])
	};
	const given = Object.entries(texts).flatMap(([name, text]) =>
		text == null ? [] : [[name, text === '' ? null : text] as const]
	);
	const listed = (texts: string[]) => texts.filter((text) => text !== '');
	return {
		...Object.fromEntries(given),
		...(values['login-host'].length > 0 && { loginHosts: listed(values['login-host']) }),
		...(values['access-point'].length > 0 && { accessPoints: listed(values['access-point']) }),
		...(values['external-access'] && { externalAccess: true }),
		...(values['api-insecure'] && { apiInsecure: true }),
		// An administrator's address may be internal.
		...(api !== undefined && { publicApi: false })
	};
}

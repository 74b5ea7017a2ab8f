import type { parseArgs } from 'node:util';
import type { NO_SETTINGS } from '#lib/server/gateways/settings/input.ts';
import { UsageError } from '../../support/command.ts';
import { readSecret } from '../../support/files.ts';

/** Settings of a gateway, as "gateways add" and "gateways set" take them. */
export const SETTING_OPTIONS = {
	router: { type: 'string' },
	'login-host': { type: 'string', multiple: true, default: [] as string[] },
	level: { type: 'string' },
	site: { type: 'string' },
	'access-point': { type: 'string', multiple: true, default: [] as string[] },
	'external-access': { type: 'boolean', default: false },
	control: { type: 'string' },
	nas: { type: 'string' },
	ndsctl: { type: 'string' },
	api: { type: 'string' },
	'api-user': { type: 'string' },
	'api-key-file': { type: 'string' },
	'api-certificate-file': { type: 'string' },
	'api-insecure': { type: 'boolean', default: false }
} as const;

export const LOGIN_HELP = [
	'  --login-host HOST     host or host:port of its sign-in page; repeat for up to five. Devices are sent to no',
	'                        other host. Not for unifi and hostapd.'
];

export const SETTING_HELP = [
	'',
	'  openNDS',
	'  --level 1|4           fas_secure_enabled; default 1, which no device reaches with an https ORIGIN',
	'  --ndsctl PATH         level 1 on this machine: path of ndsctl, which authorizes and disconnects devices',
	'',
	'  RADIUS: mikrotik, coova, hostapd',
	'  --nas ADDRESS[:PORT]  its address for RADIUS requests and Disconnect-Requests; default port 3799',
	'',
	'  MikroTik',
	'  --control radius|rest how Airtill controls it; default radius. rest: for RouterOS 7, recommended, because it needs',
	'                        no RADIUS server',
	'',
	'  API: mikrotik with --control rest, unifi',
	'  --api URL             its REST API or UniFi console, for example https://10.8.0.2. http only in a private',
	'                        network, and for unifi only with --api-insecure',
	'  --api-user NAME       mikrotik: user of the REST API',
	"  --api-key-file FILE   mikrotik: that user's password; unifi: the API key",
	'  --api-certificate-file FILE  PEM of its certificate or of the authority that signed it; for certificates that no',
	'                        public authority has signed',
	'',
	'  UniFi',
	'  --site NAME           name of the site in the addresses of the console',
	'  --access-point MAC    an access point; repeat it. Needed if several gateways share a site name',
	'  --external-access     without --api: another system lets devices online, for example your own program behind',
	'                        the webhook session.activated'
];

type Values = ReturnType<typeof parseArgs<{ options: typeof SETTING_OPTIONS }>>['values'];

/** Returns the given settings. An empty text deletes one. */
export async function readSettings(values: Values, folder: string): Promise<Partial<typeof NO_SETTINGS>> {
	const file = async (name: string | undefined) =>
		name === '' ? '' : (await readSecret(folder, name))?.trim();
	const { level, site, control, nas, ndsctl, api } = values;
	const texts = {
		...{ level, site, control, nas, ndsctl, api },
		apiUser: values['api-user'],
		apiKey: await file(values['api-key-file']),
		apiCertificate: await file(values['api-certificate-file'])
	};
	const given = Object.entries(texts).flatMap(([name, text]) =>
		text === undefined ? [] : [[name, text === '' ? null : text] as const]
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

export function routerIdOf(text: string): number {
	if (/^\d{1,15}$/.test(text)) return Number(text);
	throw new UsageError('--router must be the id of a router; see "routers list".');
}

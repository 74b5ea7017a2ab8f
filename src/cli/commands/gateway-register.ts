import { GATEWAY_KINDS } from '#lib/server/gateways/gateway.ts';
import { UsageError, defineCommand, required } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { readSecret } from '../support/files.ts';
import { gatewayAddresses, secretLines } from '../support/gateway-text.ts';
import { print } from '../support/output.ts';
import { findRouter, knownGateway } from '../support/services.ts';

export const addGateway = defineCommand({
	name: 'gateways add',
	parameters: 'NAME --router ID --kind KIND [--login-host HOST]...',
	summary: 'Register a gateway and print its portal address.',
	help: [
		'Choose NAME: lower-case letters, digits, hyphens. New secrets are shown once; "gateways config NAME" prints them',
		'in its configuration. Pass your own secrets in files with one line.',
		'',
		'  --router ID           the router that it serves (see "routers list")',
		`  --kind KIND           ${GATEWAY_KINDS.join(', ')} (an access point with RADIUS)`,
		'  --login-host HOST     host or host:port of its sign-in page; repeat for up to five. Devices are sent to no',
		'                        other host. Not for unifi and hostapd.',
		'  --secret-file FILE    opennds, coova: use this secret; default: generate one',
		'',
		'  openNDS',
		'  --level 1|4           fas_secure_enabled; default 1',
		'  --ndsctl PATH         level 1 on this machine: path of ndsctl, which authorizes and disconnects devices',
		'',
		'  RADIUS: mikrotik, coova, hostapd',
		'  --nas ADDRESS[:PORT]  its address for RADIUS requests and Disconnect-Requests; default port 3799',
		'  --radius-secret-file FILE  use this RADIUS secret; default: generate one',
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
	].join('\n'),
	options: {
		router: { type: 'string' },
		kind: { type: 'string' },
		'login-host': { type: 'string', multiple: true, default: [] },
		level: { type: 'string' },
		site: { type: 'string' },
		'access-point': { type: 'string', multiple: true, default: [] },
		'external-access': { type: 'boolean', default: false },
		'secret-file': { type: 'string' },
		control: { type: 'string' },
		nas: { type: 'string' },
		'radius-secret-file': { type: 'string' },
		ndsctl: { type: 'string' },
		api: { type: 'string' },
		'api-user': { type: 'string' },
		'api-key-file': { type: 'string' },
		'api-certificate-file': { type: 'string' },
		'api-insecure': { type: 'boolean', default: false }
	},
	async run({ argument, values, folder, open }) {
		const router = required(values.router, '--router');
		const kind = required(values.kind, '--kind');
		if (!/^\d{1,15}$/.test(router))
			throw new UsageError('--router must be the id of a router; see "routers list".');
		const routerId = Number(router);
		const file = async (name: string | undefined) => (await readSecret(folder, name))?.trim() ?? null;
		const input = {
			name: argument,
			routerId,
			kind,
			loginHosts: values['login-host'],
			secret: await file(values['secret-file']),
			level: values.level ?? null,
			site: values.site ?? null,
			accessPoints: values['access-point'],
			externalAccess: values['external-access'],
			control: values.control ?? null,
			nas: values.nas ?? null,
			radiusSecret: await file(values['radius-secret-file']),
			ndsctl: values.ndsctl ?? null,
			api: values.api ?? null,
			apiUser: values['api-user'] ?? null,
			apiKey: await file(values['api-key-file']),
			apiCertificate: await file(values['api-certificate-file']),
			apiInsecure: values['api-insecure']
		};

		const app = await open();
		if (app.config.remoteApi !== null) {
			throw new CommandError(
				'A portal of a remote API cannot serve gateways: register them where the service of AIRTILL_API_URL runs.'
			);
		}
		if (!(await findRouter(app, routerId))) {
			throw new CommandError(`--router: router ${routerId} does not exist; see "routers list".`);
		}
		await app.accessKinds.checkGateway(routerId, kind);
		const gateway = await app.gateways.add(input, async (trx, added) => {
			await app.offers.gatewayAdded(trx, added);
			await app.access.gatewayAdded(trx, added);
		});
		const elsewhere = gateway.settings.external === true;
		const changed = await app.accessKinds.noteGateway(routerId, { kind: gateway.kind, elsewhere });
		const lines = gatewayAddresses(gateway, app.config);
		await print([...lines, ...secretLines(gateway, ['secret', 'radiusSecret', 'token'])].join('\n'));
		if (kind === 'mikrotik' && gateway.settings.control !== 'rest') {
			console.error(
				'RouterOS 7 needs no RADIUS server: remove this gateway, and add it again with "--control rest --api URL ' +
					'--api-user NAME --api-key-file FILE".'
			);
		}
		if (changed) {
			console.error(
				`Router ${routerId} is portal_login from now on: buyers get a username and a password for the ` +
					`sign-in page. To change this: "routers access ${routerId} --kind KIND".`
			);
		}
	}
});

export const rotateGateway = defineCommand({
	name: 'gateways rotate',
	parameters: 'NAME [--key] [--secret] [--radius-secret] [--token] [--api-key-file FILE]',
	summary: 'Replace the key or the secrets of a gateway.',
	help: [
		'The old ones stop working at once: configure the gateway again ("gateways config NAME").',
		'',
		'  --key                 new key; its portal address changes',
		'  --secret              new secret (faskey, uamsecret), shown once',
		'  --secret-file FILE    use this secret',
		'  --radius-secret       new RADIUS secret, shown once',
		'  --radius-secret-file FILE  use this RADIUS secret',
		'  --token               new token for the RADIUS server or the openNDS script, shown once',
		'  --api-key-file FILE   new API key or password',
		'  --api-user NAME       mikrotik: another user of the REST API'
	].join('\n'),
	options: {
		key: { type: 'boolean', default: false },
		secret: { type: 'boolean', default: false },
		'secret-file': { type: 'string' },
		'radius-secret': { type: 'boolean', default: false },
		'radius-secret-file': { type: 'string' },
		token: { type: 'boolean', default: false },
		'api-key-file': { type: 'string' },
		'api-user': { type: 'string' }
	},
	async run({ argument, values, folder, open }) {
		const file = async (name: string | undefined) => (await readSecret(folder, name))?.trim() ?? null;
		const rotation = {
			key: values.key,
			secret: (await file(values['secret-file'])) ?? (values.secret ? 'new' : null),
			radiusSecret: (await file(values['radius-secret-file'])) ?? (values['radius-secret'] ? 'new' : null),
			token: values.token ? ('new' as const) : null,
			apiKey: await file(values['api-key-file']),
			apiUser: values['api-user'] ?? null
		};
		if (Object.values(rotation).every((value) => !value)) {
			throw new UsageError(
				'Choose what to renew: --key, --secret, --radius-secret, --token, --api-key-file or --api-user.'
			);
		}
		const app = await open();
		const gateway = await app.gateways.rotate(await knownGateway(app, argument), rotation);
		const shown = (['secret', 'radiusSecret', 'token'] as const).filter((which) => rotation[which] !== null);
		const lines = gatewayAddresses(gateway, app.config);
		await print([...lines, ...secretLines(gateway, shown)].join('\n'));
	}
});

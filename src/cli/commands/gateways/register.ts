import { GATEWAY_KINDS } from '#lib/server/gateways/gateway.ts';
import { NO_SETTINGS } from '#lib/server/gateways/settings/input.ts';
import { UsageError, defineCommand, required } from '../../support/command.ts';
import { CommandError } from '../../support/errors.ts';
import { readOneLine } from '../../support/files.ts';
import { gatewayAddresses, secretLines } from '../../support/gateway-text.ts';
import { print } from '../../support/output.ts';
import { findRouter, knownGateway } from '../../support/services.ts';
import { LOGIN_HELP, readSettings, routerIdOf, SETTING_HELP, SETTING_OPTIONS } from './options.ts';

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
		...LOGIN_HELP,
		'  --secret-file FILE    opennds, coova: use this secret; default: generate one',
		'  --radius-secret-file FILE  mikrotik, coova, hostapd: use this RADIUS secret; default: generate one',
		...SETTING_HELP
	].join('\n'),
	options: {
		...SETTING_OPTIONS,
		kind: { type: 'string' },
		'secret-file': { type: 'string' },
		'radius-secret-file': { type: 'string' }
	},
	async run({ argument, values, folder, open }) {
		const router = required(values.router, '--router');
		const kind = required(values.kind, '--kind');
		const routerId = routerIdOf(router);
		const input = {
			...NO_SETTINGS,
			...(await readSettings(values, folder)),
			...{ name: argument, routerId, kind },
			secret: await readOneLine(folder, values['secret-file']),
			radiusSecret: await readOneLine(folder, values['radius-secret-file'])
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
		const { gateway, becamePortalLogin } = await app.gatewaySetup.add(input);
		const lines = gatewayAddresses(gateway, app.config);
		await print([...lines, ...secretLines(gateway, ['secret', 'radiusSecret', 'token'])].join('\n'));
		if (kind === 'mikrotik' && gateway.settings.control !== 'rest') {
			console.error(
				`RouterOS 7 needs no RADIUS server: "gateways set ${argument} --control rest --api URL --api-user NAME ` +
					'--api-key-file FILE".'
			);
		}
		if (becamePortalLogin) {
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
		'The old ones stop working at once: configure the gateway again ("gateways config NAME"). In live mode nothing is',
		'sold there until it has responded with the new ones. Running time does not change.',
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
		const rotation = {
			key: values.key,
			secret: (await readOneLine(folder, values['secret-file'])) ?? (values.secret ? 'new' : null),
			radiusSecret:
				(await readOneLine(folder, values['radius-secret-file'])) ?? (values['radius-secret'] ? 'new' : null),
			token: values.token ? ('new' as const) : null,
			apiKey: await readOneLine(folder, values['api-key-file']),
			apiUser: values['api-user'] ?? null
		};
		if (Object.values(rotation).every((value) => !value)) {
			throw new UsageError(
				'Choose what to renew: --key, --secret, --radius-secret, --token, --api-key-file or --api-user.'
			);
		}
		const app = await open();
		const gateway = await app.gateways.rotate((await knownGateway(app, argument)).id, rotation);
		const shown = (['secret', 'radiusSecret', 'token'] as const).filter((which) => rotation[which] !== null);
		const lines = gatewayAddresses(gateway, app.config);
		await print([...lines, ...secretLines(gateway, shown)].join('\n'));
		if (!(await app.routers.verifiedBy(gateway))) {
			console.error('Nothing is sold there until the gateway has responded with the new configuration.');
		}
	}
});

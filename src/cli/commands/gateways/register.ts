import { GATEWAY_KINDS } from '#lib/server/gateways/gateway.ts';
import { NO_SETTINGS } from '#lib/server/gateways/settings/input.ts';
import { UsageError, defineCommand } from '../../support/command.ts';
import { readOneLine } from '../../support/files.ts';
import { print } from '../../support/output.ts';
import { knownGateway, ownRouter } from '../../support/services.ts';
import { readSettings, SETTING_OPTIONS } from './options.ts';
import { gatewayText, SECRET_NAMES } from './text.ts';

/** "gateways add", "set" and "rotate". */
export const registerCommands = [
	defineCommand({
		name: 'gateways add',
		args: ['NAME'],
		summary: 'Register a gateway and print its portal address.',
		help: 'Choose NAME: lower-case letters, digits, hyphens. New secrets are shown once; "gateways config NAME" prints them in its configuration. Pass your own secrets in files with one line.',
		options: {
			router: { value: 'ID', help: 'the router that it serves (see "routers list")', isNeeded: true },
			kind: {
				value: 'KIND',
				help: `${GATEWAY_KINDS.join(', ')} (an access point with RADIUS)`,
				isNeeded: true
			},
			'secret-file': { value: 'FILE', help: 'opennds, coova: use this secret; default: generate one' },
			'radius-secret-file': {
				value: 'FILE',
				help: 'mikrotik, coova, hostapd: use this RADIUS secret; default: generate one'
			},
			...SETTING_OPTIONS
		},
		async run({ args: [name], values: { router, kind, ...values }, folder, open }) {
			const input = {
				...NO_SETTINGS,
				...(await readSettings(values, folder)),
				secret: await readOneLine(folder, values['secret-file']),
				radiusSecret: await readOneLine(folder, values['radius-secret-file'])
			};
			const app = await open();
			const { id: routerId } = await ownRouter(app, router, '--router');
			const { gateway, becamePortalLogin } = await app.gatewaySetup.add({ ...input, name, routerId, kind });
			await print(gatewayText(gateway, app.config, SECRET_NAMES));
			if (kind === 'mikrotik' && gateway.settings.control !== 'rest') {
				console.error(
					`RouterOS 7 needs no RADIUS server: "gateways set ${name} --control rest --api URL --api-user NAME ` +
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
	}),
	defineCommand({
		name: 'gateways set',
		args: ['NAME'],
		summary: 'Change the settings of a gateway. Its portal address stays.',
		help: `Settings without an option keep their value; an empty text deletes one (--nas ''). Lists are replaced. Devices stay online. For new secrets, see "gateways rotate". In live mode a gateway that is reached in another way must respond before it sells again.`,
		options: {
			router: {
				value: 'ID',
				help: 'move it to another router, while nobody has time left at the old one'
			},
			...SETTING_OPTIONS
		},
		async run({ args: [name], values: { router, ...values }, folder, open }) {
			const settings = await readSettings(values, folder);
			if (router === undefined && Object.keys(settings).length === 0)
				throw new UsageError('Name a setting to change, for example --nas.');
			const app = await open();
			const before = await knownGateway(app, name);
			const moved = router === undefined ? {} : { routerId: (await ownRouter(app, router, '--router')).id };
			const gateway = await app.gatewaySetup.change(before, { ...settings, ...moved });
			const fresh = (['radiusSecret', 'token'] as const).filter((name) => !before.credentials[name]);
			await print(gatewayText(gateway, app.config, fresh));
			console.error(`Configure it again if it needs the change: "gateways config ${name}".`);
			if (!(await app.routers.verifiedBy(gateway))) {
				console.error('Nothing is sold there until the gateway has responded.');
			}
		}
	}),
	defineCommand({
		name: 'gateways rotate',
		args: ['NAME'],
		summary: 'Replace the key or the secrets of a gateway.',
		help: 'The old ones stop working at once: configure the gateway again ("gateways config NAME"). In live mode nothing is sold there until it has responded with the new ones. Running time does not change.',
		options: {
			key: { help: 'new key; its portal address changes' },
			secret: { help: 'new secret (faskey, uamsecret), shown once' },
			'secret-file': { value: 'FILE', help: 'use this secret' },
			'radius-secret': { help: 'new RADIUS secret, shown once' },
			'radius-secret-file': { value: 'FILE', help: 'use this RADIUS secret' },
			token: { help: 'new token for the RADIUS server or the openNDS script, shown once' },
			'api-key-file': { value: 'FILE', help: 'new API key or password' },
			'api-user': { value: 'NAME', help: 'mikrotik: another user of the REST API' }
		},
		async run({ args: [name], values, folder, open }) {
			const fresh = (isWanted: boolean) => (isWanted ? 'new' : null);
			const rotation = {
				key: values.key,
				secret: (await readOneLine(folder, values['secret-file'])) ?? fresh(values.secret),
				radiusSecret:
					(await readOneLine(folder, values['radius-secret-file'])) ?? fresh(values['radius-secret']),
				token: fresh(values.token),
				apiKey: await readOneLine(folder, values['api-key-file']),
				apiUser: values['api-user'] ?? null
			};
			if (Object.values(rotation).every((value) => !value)) {
				throw new UsageError(
					'Choose what to renew: --key, --secret, --radius-secret, --token, --api-key-file or --api-user.'
				);
			}
			const app = await open();
			const gateway = await app.gateways.rotate((await knownGateway(app, name)).id, rotation);
			const shown = SECRET_NAMES.filter((which) => rotation[which] !== null);
			await print(gatewayText(gateway, app.config, shown));
			if (!(await app.routers.verifiedBy(gateway))) {
				console.error('Nothing is sold there until the gateway has responded with the new configuration.');
			}
		}
	})
];

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { GATEWAY_KINDS } from '#lib/server/gateways/gateway.ts';
import type { Rotation } from '#lib/server/gateways/settings/rotation.ts';
import { UsageError, parseCommand, positionals, required, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { gatewayAddresses, publicAddress, secretLines } from '../support/gateway-text.ts';
import { knownGateway } from '../support/known-gateway.ts';
import { print } from '../support/output.ts';
import { routerName } from '../support/router-name.ts';
import { withConfiguredApp } from '../support/services.ts';

export const addGateway: Command = {
	name: 'gateways add',
	parameters: 'NAME --router ID --kind KIND [--login-host HOST]...',
	summary: 'Register a gateway and print the address that it sends devices to.',
	help: [
		'NAME is yours to choose: lower-case letters, digits, hyphens. Its secrets are shown this once; "gateways config',
		'NAME" prints them within its configuration. Secrets of its own come in files of one line, never as words.',
		'',
		'  --router ID           the router on which it stands (see routers list); its price is charged',
		`  --kind KIND           ${GATEWAY_KINDS.join(', ')} (an access point that asks RADIUS itself)`,
		'  --login-host HOST     host, or host:port, of its sign-in page as devices reach it; up to five. Devices are',
		'                        sent nowhere else. (Not for unifi and hostapd.)',
		'  --secret-file FILE    opennds, coova: the secret to take over; default: a new one is made',
		'',
		'  openNDS',
		'  --level 1|4           fas_secure_enabled; default 1',
		'  --ndsctl PATH         level 1 on this machine: its ndsctl, by which the end of the time is told',
		'',
		'  Kinds that ask a RADIUS server: mikrotik, coova, hostapd',
		'  --nas ADDRESS[:PORT]  address from which it asks, and where it takes Disconnect-Requests (port 3799)',
		'  --radius-secret-file FILE  the RADIUS secret to take over; default: a new one is made',
		'',
		'  MikroTik',
		'  --control radius|rest     how it learns who may be online; default radius. rest: RouterOS 7 without RADIUS',
		'',
		'  Kinds that Airtill tells: mikrotik with --control rest, unifi',
		'  --api URL             its REST API, https://10.8.0.2, or the console of UniFi, https://10.8.0.3. By http',
		'                        only within a private network, and for UniFi only with --api-insecure',
		'  --api-user NAME       mikrotik: the user of RouterOS',
		"  --api-key-file FILE   mikrotik: that user's password; unifi: the API key",
		'  --api-certificate-file FILE  PEM of the certificate that its API shows, or of the authority that signed it:',
		'                        for certificates that no public authority has signed',
		'',
		'  UniFi',
		'  --site NAME           the name of its site in the addresses of the controller',
		'  --access-point MAC    one of its access points; needed where several gateways share a site name',
		'  --external-access    without --api: something else lets its devices in, e.g. the Wi-Fi itself takes the',
		'                        bought password, or a program of yours follows the webhook session.activated'
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, {
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
		});
		const [name = ''] = positionals(words, ['NAME']);
		const router = required(values.router, '--router');
		const kind = required(values.kind, '--kind');
		if (!/^\d{1,15}$/.test(router)) throw new UsageError('--router takes the id of a router.');
		const file = (option: Extract<keyof typeof values, `${string}-file`>) =>
			fileOf(context.folder, `--${option}`, values[option]);
		const input = {
			name,
			routerId: Number(router),
			kind,
			loginHosts: values['login-host'],
			secret: await file('secret-file'),
			level: values.level ?? null,
			site: values.site ?? null,
			accessPoints: values['access-point'],
			externalAccess: values['external-access'],
			control: values.control ?? null,
			nas: values.nas ?? null,
			radiusSecret: await file('radius-secret-file'),
			ndsctl: values.ndsctl ?? null,
			api: values.api ?? null,
			apiUser: values['api-user'] ?? null,
			apiKey: await file('api-key-file'),
			apiCertificate: await file('api-certificate-file'),
			apiInsecure: values['api-insecure']
		};

		return withConfiguredApp(context, async (app) => {
			if (app.config.remoteApi !== null) {
				throw new CommandError(
					'A portal of a remote API cannot serve gateways: register them where the service of AIRTILL_API_URL runs.'
				);
			}
			if ((await routerName(app, input.routerId)) === null) {
				throw new CommandError(`--router: there is no router ${input.routerId}; see "routers list".`);
			}
			await app.accessKinds.checkGateway(input.routerId, kind);
			const gateway = await app.gateways.add(input, app.access.gatewayAdded);
			const { settings } = gateway;
			const elsewhere = settings.external === true;
			const changed = await app.accessKinds.noteGateway(input.routerId, { kind: gateway.kind, elsewhere });
			const lines = gatewayAddresses(gateway, publicAddress(app.config));
			await print([...lines, ...secretLines(gateway, ['secret', 'radiusSecret', 'token'])].join('\n'));
			if (changed) {
				console.error(
					`Router ${input.routerId} is portal_login from now on: buyers get a user name and a password for the ` +
						`sign-in page. Where that is wrong: "routers access ${input.routerId} --kind KIND".`
				);
			}
			return 0;
		});
	}
};

export const rotateGateway: Command = {
	name: 'gateways rotate',
	parameters: 'NAME [--key] [--secret] [--radius-secret] [--token] [--api-key-file FILE]',
	summary: 'Give a gateway a new key in its address, or new secrets.',
	help: [
		'The old ones end at once: enter the new ones in the gateway right away ("gateways config NAME").',
		'',
		'  --key                 a new key: its portal address changes',
		'  --secret              a new secret (faskey, uamsecret), shown this once',
		'  --secret-file FILE    take the secret over from a file',
		'  --radius-secret       a new secret between it and the RADIUS server, shown this once',
		'  --radius-secret-file FILE  take that secret over from a file',
		'  --token               a new token of the RADIUS server, or of the script on openNDS, shown this once',
		'  --api-key-file FILE   the new key, or password, of its API',
		'  --api-user NAME       another user of its API (RouterOS)'
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, {
			key: { type: 'boolean', default: false },
			secret: { type: 'boolean', default: false },
			'secret-file': { type: 'string' },
			'radius-secret': { type: 'boolean', default: false },
			'radius-secret-file': { type: 'string' },
			token: { type: 'boolean', default: false },
			'api-key-file': { type: 'string' },
			'api-user': { type: 'string' }
		});
		const [name = ''] = positionals(words, ['NAME']);
		const file = (option: Extract<keyof typeof values, `${string}-file`>) =>
			fileOf(context.folder, `--${option}`, values[option]);
		const what: Rotation = {
			key: values.key,
			secret: (await file('secret-file')) ?? (values.secret ? 'new' : null),
			radiusSecret: (await file('radius-secret-file')) ?? (values['radius-secret'] ? 'new' : null),
			token: values.token ? 'new' : null,
			apiKey: await file('api-key-file'),
			apiUser: values['api-user'] ?? null
		};
		if (!Object.values(what).some((value) => value !== null && value !== false)) {
			throw new UsageError(
				'Say what to renew: --key, --secret, --radius-secret, --token, --api-key-file or --api-user.'
			);
		}
		return withConfiguredApp(context, async (app) => {
			const gateway = await app.gateways.rotate(await knownGateway(app, name), what);
			const shown = (['secret', 'radiusSecret', 'token'] as const).filter((which) => what[which] !== null);
			const lines = gatewayAddresses(gateway, publicAddress(app.config));
			await print([...lines, ...secretLines(gateway, shown)].join('\n'));
			return 0;
		});
	}
};

/** A secret comes in a file: words of a command line are seen by every user of the machine. */
async function fileOf(folder: string, option: string, file: string | undefined): Promise<string | null> {
	if (file === undefined) return null;
	try {
		return (await readFile(resolve(folder, file), 'utf8')).trim();
	} catch (error) {
		throw new CommandError(`${option}: ${file} cannot be read.`, { cause: error });
	}
}

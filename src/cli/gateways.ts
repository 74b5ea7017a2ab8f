import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, join, resolve } from 'node:path';
import type { App } from '#lib/server/app.ts';
import type { Config } from '#lib/server/config/config.ts';
import {
	type ConfigPart,
	GATEWAY_KINDS,
	type GatewayKind,
	parsePortalAddress
} from '#lib/server/gateways/gateway.ts';
import { type RegisteredGateway, findAdapter, listGateways } from '#lib/server/gateways/gateways.ts';
import { levelProblem } from '#lib/server/gateways/opennds.ts';
import { NO_SETTINGS, rotateGateway } from '#lib/server/gateways/settings.ts';
import { classifyGateway } from '#lib/server/owner/usage.ts';
import { isoTime } from '#lib/server/platform/clock.ts';
import { checkGatewayHere } from './check-gateway.ts';
import { defineCommand, type Values } from './command.ts';
import { findRouter, knownGateway, ownRouter } from './services.ts';
import { plain, print, readOneLine, report, REPORT_HELP, tableLine, refuseUsage } from './terminal.ts';
import { isGatewayVerified } from '#lib/server/routers/routers.ts';
import { removeGateway } from '#lib/server/access/gateway-changes.ts';
import {
	addGateway,
	changeGateway,
	makeTerminalLine,
	renderGatewayConfig
} from '#lib/server/gateway-setup.ts';
import { refuse } from '#lib/server/platform/errors.ts';

/** Settings of a gateway, as "gateways add" and "gateways set" take them. */
const SETTING_OPTIONS = {
	'login-host': {
		value: 'HOST',
		help: 'host or host:port of its sign-in page; repeat for up to five. Devices are sent to no other host. Not for unifi and hostapd; mikrotik-fetch reports it',
		isList: true
	},
	level: {
		value: '1|4',
		help: 'opennds: fas_secure_enabled; default 1, which no device reaches with an https ORIGIN'
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
async function readSettings(
	values: Values<typeof SETTING_OPTIONS>,
	folder: string
): Promise<Partial<typeof NO_SETTINGS>> {
	const file = async (name: string | undefined) => (name === '' ? '' : readOneLine(folder, name));
	const { level, site, control, nas, api } = values;
	const texts = {
		...{ level, site, control, nas, api },
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

/** "gateways add", "set" and "rotate". */
const registerCommands = [
	defineCommand({
		name: 'gateways add',
		args: ['NAME'],
		summary: 'Register a gateway and print its portal address.',
		help: 'Choose NAME: lower-case letters, digits, hyphens. New secrets are shown once; "gateways config NAME" prints them in its configuration. Pass your own secrets in files with one line.',
		options: {
			router: { value: 'ID', help: 'the router that it serves (/admin/routers has the ids)', isNeeded: true },
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
			const { gateway, becamePortalLogin } = await addGateway(app.gatewaySetup, {
				...input,
				name,
				routerId,
				kind
			});
			await print(gatewayText(gateway, app.config, SECRET_NAMES));
			if (kind === 'mikrotik-fetch') await printLine(app, gateway);
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
				throw refuseUsage('Name a setting to change, for example --nas.');
			const app = await open();
			const before = await knownGateway(app, name);
			const moved = router === undefined ? {} : { routerId: (await ownRouter(app, router, '--router')).id };
			const gateway = await changeGateway(app.gatewaySetup, before, { ...settings, ...moved });
			const fresh = (['radiusSecret', 'token'] as const).filter((name) => !before.credentials[name]);
			await print(gatewayText(gateway, app.config, fresh));
			console.error(`Configure it again if it needs the change: "gateways config ${name}".`);
			if (!(await isGatewayVerified(app.routers, gateway))) {
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
			token: {
				help: 'new token for the RADIUS server or the openNDS script, shown once; mikrotik-fetch: a new line for its terminal'
			},
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
				throw refuseUsage(
					'Choose what to renew: --key, --secret, --radius-secret, --token, --api-key-file or --api-user.'
				);
			}
			const app = await open();
			const known = await knownGateway(app, name);
			const isLine = known.kind === 'mikrotik-fetch' && values.token;
			if (isLine) return printLine(app, known);
			const gateway = await rotateGateway(app.gateways, known.id, rotation);
			const shown = SECRET_NAMES.filter((which) => rotation[which] !== null);
			await print(gatewayText(gateway, app.config, shown));
			if (!(await isGatewayVerified(app.routers, gateway))) {
				console.error('Nothing is sold there until the gateway has responded with the new configuration.');
			}
		}
	})
];

const configureGateway = defineCommand({
	name: 'gateways config',
	args: ['NAME'],
	summary: 'Print the complete configuration of a gateway.',
	help: 'Prints every file and every manual step. The files contain secrets: keep them private.',
	options: {
		part: { value: 'NUMBER', help: 'print only this part, without a heading' },
		out: {
			value: 'FOLDER',
			help: 'write the files to a folder that only you can read, and print the steps'
		},
		'api-origin': {
			value: 'URL',
			help: 'URL at which the RADIUS server reaches Airtill; default: http://127.0.0.1 with its port'
		},
		'radius-server': {
			value: 'ADDRESS',
			help: 'address at which the gateway reaches the RADIUS server; default: a placeholder'
		}
	},
	async run({ args: [name], values: { part, out, ...values }, folder, open }) {
		const apiOrigin = originOf(values['api-origin']);
		const radiusServer = addressOf(values['radius-server']);
		if (part !== undefined && out !== undefined) throw refuseUsage('Use --part or --out, not both.');
		const app = await open();
		const gateway = await knownGateway(app, name);
		const parts = await renderGatewayConfig(app.gatewaySetup, gateway, { apiOrigin, radiusServer });
		if (app.config.origin === null) {
			console.error('ORIGIN is not set: replace THIS-MACHINE with the address of this machine.');
		}
		if (part !== undefined) await print(partOf(parts, part).text.replace(/\n$/, ''));
		else if (out !== undefined) await write(parts, resolve(folder, out));
		else await print(parts.map(written).join('\n\n'));
	}
});

/** hostapd accepts no host names. */
function addressOf(text: string | undefined): string | undefined {
	if (text !== undefined && isIP(text) === 0)
		throw refuseUsage('--radius-server takes an address, e.g. 10.8.0.1.');
	return text;
}

function originOf(text: string | undefined): string | undefined {
	if (text === undefined) return undefined;
	if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
		throw refuseUsage('--api-origin takes an address, e.g. https://portal.example.');
	}
	return new URL(text).origin;
}

function partOf(parts: readonly ConfigPart[], number: string): ConfigPart {
	const part = /^\d{1,3}$/.test(number) ? parts[Number(number) - 1] : undefined;
	if (!part) throw refuse(`--part: there are the parts 1 to ${parts.length}.`);
	return part;
}

const written = ({ title, file, text }: ConfigPart, index: number) =>
	[`=== ${index + 1}. ${title}${file === null ? '' : ` (${file})`}`, '', text.replace(/\n$/, '')].join('\n');

/** A repeated name gets the number of its part. */
async function write(parts: readonly ConfigPart[], folder: string): Promise<void> {
	await mkdir(folder, { recursive: true, mode: 0o700 });
	const taken = new Set<string>();
	for (const [index, part] of parts.entries()) {
		if (part.file === null) {
			await print(`${written(part, index)}\n`);
			continue;
		}
		const plainName = basename(part.file);
		const name = taken.has(plainName) ? `${index + 1}-${plainName}` : plainName;
		taken.add(name);
		const file = join(folder, name);
		await writeFile(file, part.text, { mode: 0o600 });
		await chmod(file, 0o600);
		await print(`${file}  belongs to ${part.file}`);
	}
}

const gatewayLine = tableLine(24, 9, 36, 24, 13);

export const gatewayCommands = [
	...registerCommands,
	defineCommand({
		name: 'gateways list',
		summary: 'List the gateways.',
		help: 'Ordered by name. Columns: name, kind, router, time of its last message, state, sign-in hosts.',
		async run({ open }) {
			const app = await open();
			await print(gatewayLine('NAME', 'KIND', 'ROUTER', 'LAST SEEN', 'STATE', 'SIGN-IN HOSTS'));
			const gateways = await Array.fromAsync(listGateways(app.gateways));
			for (const gateway of gateways.sort((one, other) => (one.name < other.name ? -1 : 1))) {
				const { name, kind, routerId, seenAt, loginHosts } = gateway;
				const router = `${routerId} ${(await findRouter(app, routerId))?.name ?? 'deleted'}`;
				const seen = isoTime(seenAt) ?? 'never';
				await print(gatewayLine(name, kind, router, seen, stateText(gateway), loginHosts.join(', ')));
			}
		}
	}),
	defineCommand({
		name: 'gateways show',
		args: ['NAME'],
		summary: 'Print the addresses of a gateway, and its value for DHCP option 114.',
		help: 'Shows no secrets: "gateways config NAME" prints them, "gateways rotate NAME" replaces them.',
		async run({ args: [name], open }) {
			const app = await open();
			await print(gatewayText(await knownGateway(app, name), app.config));
		}
	}),
	configureGateway,
	defineCommand({
		name: 'gateways test',
		args: ['NAME'],
		summary: 'Check a gateway.',
		help: REPORT_HELP,
		async run({ args: [name], open }) {
			const app = await open();
			return report(checkGatewayHere(app, await knownGateway(app, name)));
		}
	}),
	defineCommand({
		name: 'gateways remove',
		args: ['NAME'],
		summary: 'Delete a gateway with its portal address.',
		help: 'A gateway that Airtill controls is not removed while passes have access there. A gateway that uses RADIUS or BinAuth, or that fetches its devices, is deleted at once: its devices stay online until the end of their time.',
		options: {
			force: {
				help: 'remove it all the same: disconnects what answers; the rest stays online until the end of its time'
			}
		},
		async run({ args: [name], values, open }) {
			const app = await open();
			const gateway = await knownGateway(app, name);
			const { disconnected, left } = await removeGateway(app.access, gateway, { isForced: values.force });
			console.error(`The gateway "${plain(name)}" is removed. Disconnected devices: ${disconnected}.`);
			if (left === 0) return;
			console.error(
				`${left} devices may stay online there until their time ends. Airtill cannot end it any more.`
			);
			if (gateway.kind === 'mikrotik' && gateway.settings.control === 'rest') {
				console.error(
					'Users of its hotspot stay for good. If that router returns, remove them by hand: ' +
						`/ip hotspot user remove [find comment="Airtill ${gateway.installation}"]`
				);
			}
		}
	})
];

function stateText(gateway: RegisteredGateway): string {
	const { unresponsiveSince, trouble } = gateway;
	const state = classifyGateway(gateway);
	if (state === 'unresponsive') return `unresponsive since ${isoTime(unresponsiveSince)}`;
	if (trouble !== null) return 'trouble';
	return state === 'unmonitored' ? 'not monitored' : state;
}

/** @param secrets those that are new */
const gatewayText = (gateway: RegisteredGateway, config: Config, secrets: readonly SecretName[] = []) =>
	[...addressLines(gateway, config), ...secretLines(gateway, secrets)].join('\n');

function addressLines(gateway: RegisteredGateway, config: Config): string[] {
	const { origin } = parsePortalAddress(config);
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

const SECRET_NAMES = ['secret', 'radiusSecret', 'token'] as const;
type SecretName = (typeof SECRET_NAMES)[number];

/** Airtill keeps only the hash of its key. */
async function printLine(app: App, gateway: RegisteredGateway): Promise<void> {
	const { line, removal } = await makeTerminalLine(app.gatewaySetup, gateway, app.config.origin);
	await print(`Paste this line in its terminal. It contains a new key, and is shown once:\n${line}\n`);
	await print(`This one removes everything again:\n${removal}`);
}

function secretLines({ kind, secret, credentials }: RegisteredGateway, which: readonly SecretName[]) {
	const secrets = {
		secret: [`Secret (${findAdapter(kind).secretName ?? ''})`, secret],
		radiusSecret: ['RADIUS secret', credentials.radiusSecret],
		token: [kind === 'opennds' ? 'Token of its script' : 'Token of the RADIUS server', credentials.token]
	} as const;
	if (kind === 'mikrotik-fetch') return [];
	return which.flatMap((name) => {
		const [title, value] = secrets[name];
		return value ? ['', `${title}, shown once; "gateways config" includes it:`, value] : [];
	});
}

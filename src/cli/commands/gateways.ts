import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { App } from '#lib/server/app.ts';
import { GATEWAY_KINDS } from '#lib/server/gateways/gateway.ts';
import type { RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { gatewayAddresses, publicAddress, secretLine } from '../gateway-text.ts';
import { UsageError, parseCommand, positionals, required, type Command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { plain, print } from '../output.ts';
import { routerName } from '../router-name.ts';
import { withConfiguredApp } from '../services.ts';

const SECRET_HELP = '  --secret-file FILE    take the secret over from a file; default: a new one is made';

export const addGateway: Command = {
	name: 'gateways add',
	parameters: 'NAME --router ID --kind KIND [--login-host HOST]...',
	summary: 'Register a gateway and print the address that it sends devices to.',
	help: [
		'NAME is yours to choose: lower-case letters, digits, hyphens. The secret is shown this once.',
		'',
		'  --router ID           the router on which it stands (see routers list); its price is charged',
		`  --kind KIND           ${GATEWAY_KINDS.join(', ')}`,
		'  --login-host HOST     host, or host:port, of its sign-in page as devices reach it; up to five. Devices are',
		'                        sent nowhere else. (Not for unifi.)',
		'  --level 1|4           openNDS: fas_secure_enabled; default 1',
		'  --site NAME           UniFi: the name of its site in the addresses of the controller',
		'  --access-point MAC    UniFi: one of its access points; needed where several gateways share a site name',
		'  --let-in-elsewhere    for unifi, and openNDS at level 4, whose devices Airtill cannot let online yet: buyers',
		'                        would pay and stay offline. Says that something else lets them in: the Wi-Fi itself',
		'                        takes the bought password, or a program of yours follows the webhook session.activated',
		SECRET_HELP
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, {
			router: { type: 'string' },
			kind: { type: 'string' },
			'login-host': { type: 'string', multiple: true, default: [] },
			level: { type: 'string' },
			site: { type: 'string' },
			'access-point': { type: 'string', multiple: true, default: [] },
			'let-in-elsewhere': { type: 'boolean', default: false },
			'secret-file': { type: 'string' }
		});
		const [name = ''] = positionals(words, ['NAME']);
		const router = required(values.router, '--router');
		const kind = required(values.kind, '--kind');
		if (!/^\d{1,15}$/.test(router)) throw new UsageError('--router takes the id of a router.');
		const secret = await secretFrom(context.folder, values['secret-file']);

		return withConfiguredApp(context, async (app) => {
			const routerId = Number(router);
			if ((await routerName(app, routerId)) === null) {
				throw new CommandError(`--router: there is no router ${routerId}; see "routers list".`);
			}
			const gateway = await app.gateways.add({
				name,
				routerId,
				kind,
				loginHosts: values['login-host'],
				secret,
				level: values.level ?? null,
				site: values.site ?? null,
				accessPoints: values['access-point'],
				letInElsewhere: values['let-in-elsewhere']
			});
			await print(
				[...gatewayAddresses(gateway, publicAddress(app.config)), ...secretLine(gateway)].join('\n')
			);
			return 0;
		});
	}
};

export const listGateways: Command = {
	name: 'gateways list',
	parameters: '',
	summary: 'List the gateways.',
	help: 'Ordered by name: name, kind, router, sign-in hosts.',
	async run(args, context) {
		positionals(parseCommand(args, {}).positionals, []);
		return withConfiguredApp(context, async (app) => {
			await print(line(['NAME', 'KIND', 'ROUTER', 'SIGN-IN HOSTS']));
			for (const { name, kind, routerId, loginHosts } of await app.gateways.list()) {
				const router = (await routerName(app, routerId)) ?? 'gone';
				await print(line([name, kind, `${routerId} ${plain(router)}`, loginHosts.join(', ')]));
			}
			return 0;
		});
	}
};

export const showGateway: Command = {
	name: 'gateways show',
	parameters: 'NAME',
	summary: 'Print the addresses of a gateway, and its text for DHCP option 114.',
	help: 'The secret is not shown again; "gateways rotate NAME --secret" makes a new one.',
	async run(args, context) {
		const [name = ''] = positionals(parseCommand(args, {}).positionals, ['NAME']);
		return withConfiguredApp(context, async (app) => {
			const gateway = await known(app, name);
			await print(gatewayAddresses(gateway, publicAddress(app.config)).join('\n'));
			return 0;
		});
	}
};

export const rotateGateway: Command = {
	name: 'gateways rotate',
	parameters: 'NAME [--key] [--secret] [--secret-file FILE]',
	summary: 'Give a gateway a new key in its address, or a new secret.',
	help: [
		'The old ones end at once: enter the new ones in the gateway right away.',
		'',
		'  --key                 a new key: its portal address changes',
		'  --secret              a new secret, shown this once',
		'  --secret-file FILE    take the secret over from a file'
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, {
			key: { type: 'boolean', default: false },
			secret: { type: 'boolean', default: false },
			'secret-file': { type: 'string' }
		});
		const [name = ''] = positionals(words, ['NAME']);
		const given = await secretFrom(context.folder, values['secret-file']);
		const secret = given ?? (values.secret ? 'new' : null);
		if (!values.key && secret === null) throw new UsageError('Say what to renew: --key, --secret or both.');
		return withConfiguredApp(context, async (app) => {
			const gateway = await app.gateways.rotate(await known(app, name), { key: values.key, secret });
			const lines = gatewayAddresses(gateway, publicAddress(app.config));
			await print([...lines, ...(secret === null ? [] : secretLine(gateway))].join('\n'));
			return 0;
		});
	}
};

export const removeGateway: Command = {
	name: 'gateways remove',
	parameters: 'NAME',
	summary: 'Forget a gateway: its portal address ends.',
	help: 'Purchases stay as they are; devices that it sends are told that nothing is sold there.',
	async run(args, context) {
		const [name = ''] = positionals(parseCommand(args, {}).positionals, ['NAME']);
		return withConfiguredApp(context, async (app) => {
			await app.gateways.remove(await known(app, name));
			console.error(`The gateway "${plain(name)}" is removed.`);
			return 0;
		});
	}
};

async function known(app: App, name: string): Promise<RegisteredGateway> {
	const gateway = await app.gateways.byName(name);
	if (!gateway) throw new CommandError(`There is no gateway "${name}"; see "gateways list".`);
	return gateway;
}

/** A secret comes in a file: words of a command line are seen by every user of the machine. */
async function secretFrom(folder: string, file: string | undefined): Promise<string | null> {
	if (file === undefined) return null;
	try {
		return (await readFile(resolve(folder, file), 'utf8')).trim();
	} catch (error) {
		throw new CommandError(`--secret-file: ${file} cannot be read.`, { cause: error });
	}
}

const WIDTHS = [24, 9, 36, 0];
const line = (cells: string[]) => cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join('  ');

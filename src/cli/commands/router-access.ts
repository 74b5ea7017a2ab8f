import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ACCESS_KINDS, endsByItself } from '#lib/domain/access-kind.ts';
import {
	PASSWORD_RULE,
	MAX_PASS_DEVICES,
	type RouterAccess
} from '#lib/server/access/passes/access-kinds.ts';
import { UsageError, parseCommand, positionals, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { plain, print } from '../support/output.ts';
import { routerName } from '../support/router-name.ts';
import { withConfiguredApp } from '../support/services.ts';

export const routerAccess: Command = {
	name: 'routers access',
	parameters: 'ID [--kind KIND] [--network-password-file FILE | --no-network-password] [--max-devices N]',
	summary: 'Set how buyers get online at a router, and show the settings.',
	help: [
		'Without options it only shows the settings. Existing orders keep their kind.',
		'',
		`  --kind KIND           ${ACCESS_KINDS.join(', ')}:`,
		'                        wpa_personal_per_client  a Wi-Fi password of its own for each buyer',
		'                        wpa_enterprise           username and password for the Wi-Fi (PEAP)',
		'                        portal_login             username and password for the sign-in page of the hotspot',
		'                        shared_password          your own password, the same for everyone; Airtill cannot end it',
		'  --network-password-file FILE',
		`                        the password of the network: ${PASSWORD_RULE}.`,
		'                        shared_password shows it to buyers; active buyers see a new password at once;',
		'                        portal_login puts it into the QR code that connects to the network',
		'  --no-network-password delete it: buyers on portal_login must ask for it at the venue',
		`  --max-devices N       devices that may use one pass at a time, 1 to ${MAX_PASS_DEVICES}; for new orders.`,
		'                        A MikroTik without RADIUS counts only its own devices'
	].join('\n'),
	async run(args, context) {
		const { values, positionals: words } = parseCommand(args, {
			kind: { type: 'string' },
			'network-password-file': { type: 'string' },
			'no-network-password': { type: 'boolean', default: false },
			'max-devices': { type: 'string' }
		});
		const [id = ''] = positionals(words, ['ID']);
		if (!/^\d{1,15}$/.test(id)) throw new UsageError('ID is the id of a router; see "routers list".');
		const file = values['network-password-file'];
		if (file !== undefined && values['no-network-password']) {
			throw new UsageError('Give --network-password-file or --no-network-password, not both.');
		}
		const maxDevices = values['max-devices'];
		const networkPassword = values['no-network-password'] ? null : await passwordFrom(context.folder, file);
		return withConfiguredApp(context, async (app) => {
			const { remoteApi } = app.config;
			if (remoteApi !== null) {
				throw new CommandError(
					`The routers are those of ${remoteApi.url}: set this where that service runs.`
				);
			}
			const routerId = Number(id);
			const name = await routerName(app, routerId);
			if (name === null) throw new CommandError(`There is no router ${routerId}; see "routers list".`);
			const access = await app.accessKinds.set(routerId, {
				...(values.kind === undefined ? {} : { kind: values.kind }),
				...(networkPassword === undefined ? {} : { networkPassword }),
				// 0 is refused, as is any text that is not a number.
				...(maxDevices === undefined
					? {}
					: { maxDevices: /^\d{1,3}$/.test(maxDevices) ? Number(maxDevices) : 0 })
			});
			await print(lines(routerId, name, access).join('\n'));
			return 0;
		});
	}
};

function lines(id: number, name: string, access: RouterAccess): string[] {
	const { kind, ssid, security, networkPasswordKnown, maxDevices } = access;
	const known = networkPasswordKnown ? 'known (not shown)' : 'not known: buyers are told to ask at the venue';
	return [
		`Router            ${id} ${plain(name)}`,
		`Network           ${plain(ssid)} (${security === 'nopass' ? 'open' : 'WPA'})`,
		`Access            ${kind}`,
		...(networkPasswordKnown === null ? [] : [`Network password  ${known}`]),
		`Devices           ${maxDevices}`,
		...(endsByItself(kind)
			? []
			: [
					'',
					'Airtill cannot end the time there: everyone shares one password, which keeps working. Buyers see this before',
					'they pay. Change the password from time to time: here first, then in the router.'
				])
	];
}

/**
 * Reads a password from a file: every user of a machine can see command lines.
 * @returns undefined without a file
 */
async function passwordFrom(folder: string, file: string | undefined): Promise<string | undefined> {
	if (file === undefined) return undefined;
	try {
		// Spaces are part of the password; the line break is not.
		return (await readFile(resolve(folder, file), 'utf8')).replace(/\r?\n$/, '');
	} catch (error) {
		throw new CommandError(`--network-password-file: ${file} cannot be read.`, { cause: error });
	}
}

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
	summary: 'Say what a bought password is on a router, and show what holds.',
	help: [
		'With no option it only shows what holds. What is ordered already keeps its kind.',
		'',
		`  --kind KIND           ${ACCESS_KINDS.join(', ')}:`,
		'                        wpa_personal_per_client  the password of the Wi-Fi itself, another one for each buyer',
		'                        wpa_enterprise           user name and password of the Wi-Fi itself (PEAP)',
		'                        portal_login             user name and password on the sign-in page of the hotspot',
		'                        shared_password          your own password, the same for all: nothing can end it',
		'  --network-password-file FILE',
		`                        the password of the network: ${PASSWORD_RULE}.`,
		'                        shared_password reveals it to buyers, and running ones get a new one at once;',
		'                        portal_login puts it into the QR code that joins the network',
		'  --no-network-password forget it: buyers on portal_login are told to ask for it at the venue',
		`  --max-devices N       devices that one pass lets online at a time, 1 to ${MAX_PASS_DEVICES}; for new orders.`,
		'                        A MikroTik without RADIUS counts its own: beside those at other gateways of the router'
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
				// What is no number is none of the allowed ones either.
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
					'The end of the time cannot be enforced there: all guests share one password, and it works on. Buyers are',
					'told so before they pay. Change the password from time to time: here first, then in the router.'
				])
	];
}

/**
 * A password comes in a file: words of a command line are seen by every user of the machine.
 * @returns undefined where none is given
 */
async function passwordFrom(folder: string, file: string | undefined): Promise<string | undefined> {
	if (file === undefined) return undefined;
	try {
		// Blanks belong to it; the end of its line does not.
		return (await readFile(resolve(folder, file), 'utf8')).replace(/\r?\n$/, '');
	} catch (error) {
		throw new CommandError(`--network-password-file: ${file} cannot be read.`, { cause: error });
	}
}

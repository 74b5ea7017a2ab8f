import { endsByItself } from '#lib/domain/access-kind.ts';
import { PASSWORD_RULE, MAX_PASS_DEVICES, type RouterAccess } from '#lib/server/passes/access-kinds.ts';
import { AUTHOR_OPTIONS, UsageError, defineCommand } from '../../support/command.ts';
import { readSecret } from '../../support/files.ts';
import { plain, print } from '../../support/output.ts';
import { AUTHOR, ownRouter } from '../../support/services.ts';

const KIND_HELP = [
	'wpa_personal_per_client: a Wi-Fi password of its own for each buyer',
	'wpa_enterprise: username and password for the Wi-Fi (PEAP)',
	'portal_login: username and password for the sign-in page of the hotspot',
	'shared_password: your own password, the same for everyone; Airtill cannot end it'
].join('\n');

export const accessCommands = [
	defineCommand({
		name: 'routers access',
		args: ['ID'],
		summary: 'Set how buyers get online at a router, and show the settings.',
		help: 'Without options it only shows the settings. Existing orders keep their kind.',
		options: {
			kind: { value: 'KIND', help: KIND_HELP },
			'network-password-file': {
				value: 'FILE',
				help: `the password of the network: ${PASSWORD_RULE}. shared_password shows it to buyers; active buyers see a new password at once; portal_login puts it into the QR code that connects to the network`
			},
			'no-network-password': { help: 'delete it: buyers on portal_login must ask for it at the venue' },
			'max-devices': {
				value: 'N',
				help: `devices that may use one pass at a time, 1 to ${MAX_PASS_DEVICES}; for new orders. A MikroTik without RADIUS counts only its own devices`
			}
		},
		async run({ args: [text], values: { kind, ...values }, folder, open }) {
			const { 'network-password-file': file, 'max-devices': devices } = values;
			if (file !== undefined && values['no-network-password']) {
				throw new UsageError('Give --network-password-file or --no-network-password, not both.');
			}
			// 0 is refused later, like any text that is not a number.
			const limit =
				devices === undefined ? {} : { maxDevices: /^\d{1,3}$/.test(devices) ? Number(devices) : 0 };
			const networkPassword = values['no-network-password'] ? null : await readSecret(folder, file);
			const app = await open();
			const { id, name } = await ownRouter(app, text);
			const access = await app.accessKinds.set(id, { kind, networkPassword, ...limit }, AUTHOR);
			await print(lines(id, name, access).join('\n'));
		}
	}),
	defineCommand({
		name: 'routers confirm-access',
		args: ['ID'],
		summary: 'Confirm that buyers get access at a router, although no gateway of it has responded.',
		help: 'In live mode a router sells after one of its gateways has responded, or after this confirmation. Confirm only what you have tried: another system connects the buyers, or accepts their passwords. Say in the note which system it is, and how you tried it.',
		options: {
			...AUTHOR_OPTIONS,
			withdraw: {
				help: 'take the confirmation back: no new orders; payments and running time do not change'
			}
		},
		async run({ args: [text], values: { withdraw, ...author }, open }) {
			const app = await open();
			const { id, name } = await ownRouter(app, text);
			await app.routers.mark(id, 'access_confirmed_at', { isSet: !withdraw, ...author });
			const what = withdraw ? 'Withdrew the confirmed access' : 'Confirmed the access';
			console.error(`${what} of router ${id} ${plain(name)}.`);
		}
	})
];

function lines(id: number, name: string, access: RouterAccess): string[] {
	const { access_kind: kind, ssid, security, networkPasswordKnown, max_devices: maxDevices } = access;
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
					'Airtill cannot end the time there: everyone shares one password, which keeps working. Buyers are asked to leave',
					'when their time ends. Change the password from time to time: here first, then in the router.'
				])
	];
}

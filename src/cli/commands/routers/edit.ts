import { AUTHOR_OPTIONS, UsageError, defineCommand, authorOf } from '../../support/command.ts';
import { plain, print } from '../../support/output.ts';
import { ownerOf } from '../../support/owners.ts';
import { localService, ownRouter } from '../../support/services.ts';

const FIELD_OPTIONS = {
	name: { type: 'string' },
	address: { type: 'string' },
	ssid: { type: 'string' },
	lat: { type: 'string' },
	lon: { type: 'string' },
	price: { type: 'string' },
	security: { type: 'string' },
	status: { type: 'string' }
} as const;

const FIELD_HELP = [
	'  --name TEXT      shown to buyers',
	"  --address TEXT   shown to buyers; '' deletes it",
	'  --ssid SSID      name of the network, at most 32 bytes',
	'  --lat, --lon     position in degrees, e.g. --lat 0.3136 --lon=-32.5811',
	'  --price N        price per hour in units of CURRENCY, at most MAX_PRICE',
	'  --security WORD  wpa or nopass (an open network)',
	'  --status WORD    online, or offline: closed, but still in lists'
];

const AUTHOR_HELP = [
	'  --by NAME        your name',
	'  --note TEXT      the reason. The audit log keeps name and note'
];

export const addRouter = defineCommand({
	name: 'routers add',
	parameters: '--ssid SSID --lat N --lon N --price N --by NAME --note TEXT [--owner EMAIL] [--name TEXT]...',
	summary: 'Add one router.',
	help: [
		'Then choose how buyers connect ("routers access") and register its gateway ("gateways add").',
		'',
		...FIELD_HELP,
		'  --owner EMAIL    its account, an owner or admin; default: the only owner',
		...AUTHOR_HELP
	].join('\n'),
	options: { ...FIELD_OPTIONS, ...AUTHOR_OPTIONS, owner: { type: 'string' } },
	async run({ values: { owner, by, note, ...fields }, open }) {
		const author = authorOf({ by, note });
		const app = localService(await open());
		const account = await ownerOf(app, owner);
		const { id, name } = await app.routers.add(account.id, fields, author);
		await print(`Router ${id} ${plain(name)} added.`);
	}
});

export const setRouter = defineCommand({
	name: 'routers set',
	parameters: 'ID --by NAME --note TEXT [--price N] [--name TEXT]...',
	summary: 'Change fields of a router.',
	help: [
		'Fields without an option keep their value. Orders and running time keep what was agreed. For how buyers connect,',
		'see "routers access".',
		'',
		...FIELD_HELP,
		...AUTHOR_HELP
	].join('\n'),
	options: { ...FIELD_OPTIONS, ...AUTHOR_OPTIONS },
	async run({ argument, values: { by, note, ...fields }, open }) {
		const author = authorOf({ by, note });
		if (Object.keys(fields).length === 0)
			throw new UsageError('Name a field to change, for example --price 500.');
		const app = localService(await open());
		const { id } = await ownRouter(app, argument);
		const changed = await app.routers.change(id, fields, author);
		await print(changed.length === 0 ? `Router ${id} has these values already.` : `Router ${id} changed.`);
	}
});

const toggle = (isDisabled: boolean, texts: { name: string; summary: string; help: string; done: string }) =>
	defineCommand({
		name: texts.name,
		parameters: 'ID --by NAME --note TEXT',
		summary: texts.summary,
		help: [texts.help, '', ...AUTHOR_HELP].join('\n'),
		options: AUTHOR_OPTIONS,
		async run({ argument, values, open }) {
			const author = authorOf(values);
			const app = localService(await open());
			const { id, name } = await ownRouter(app, argument);
			await app.routers.mark(id, 'disabled_at', { isSet: isDisabled, ...author });
			await print(`Router ${id} ${plain(name)} ${texts.done}.`);
		}
	});

export const disableRouter = toggle(true, {
	name: 'routers disable',
	summary: 'Take a router off sale and out of lists and maps.',
	help: [
		'Running time continues, and buyers keep their pages. A payment on its way still buys its time; one that arrives',
		'after its order has expired is refunded.'
	].join('\n'),
	done: 'is disabled'
});

export const enableRouter = toggle(false, {
	name: 'routers enable',
	summary: 'Put a disabled router back on sale.',
	help: 'It sells again if its gateways respond; see "routers list".',
	done: 'is enabled'
});

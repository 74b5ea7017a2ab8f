import { ACCESS_KINDS, endsByItself } from '#lib/domain/wifi.ts';
import { MAX_PASS_DEVICES, changeAccess } from '#lib/server/access-kinds.ts';
import {
	type ColumnMap,
	IMPORT_FIELDS,
	type ImportField,
	NEEDED_FIELDS,
	importRouters,
	readRouters
} from '#lib/server/routers/import.ts';
import { readPrice } from '#lib/server/routers/router-fields.ts';
import { defineCommand } from './command.ts';
import { AUTHOR, ownerOf, ownRouter } from './services.ts';
import { plain, print, streamInput, refuseUsage } from './terminal.ts';
import { refuse } from '#lib/server/platform/errors.ts';

const MAP_HELP = [
	'the column of each field, e.g. ssid=SSID,lat=Latitude,lon=Longitude.',
	`Fields: ${IMPORT_FIELDS.join(', ')}.`,
	'ssid, lat and lon are required. Without id, network, position and name identify a router. Fields without a column keep their value in existing routers. security: wpa (default) or nopass. status: online (default) or offline. hidden: yes for a network that does not announce its name, or no (default).',
	`access_kind: ${ACCESS_KINDS.join(', ')}; default: the first one, on open networks portal_login. A router with shared_password sells once its password is set on its page.`
].join('\n');

const importRoutersFile = defineCommand({
	name: 'routers import',
	args: ['FILE.csv'],
	summary: 'Add or update routers from a CSV file.',
	help: 'The file is CSV in UTF-8, divided by commas, semicolons or tabs. Its first line contains the column names. If a row is bad, nothing is imported. Every bad row is reported with its line and the reason. The id identifies a router, so importing the same file twice changes nothing.',
	options: {
		map: { value: 'PAIRS', help: MAP_HELP, isNeeded: true, isList: true },
		price: {
			value: 'N',
			help: 'price per hour in units of CURRENCY, at most MAX_PRICE, for rows without a price in the file'
		},
		owner: { value: 'EMAIL', help: 'their account, an owner or admin; default: the only owner' },
		'skip-bad': { help: 'skip bad rows and import the others' }
	},
	async run({ args: [file], values, config, folder, open }) {
		const columns = parseMap(values.map);
		const { currency, maxPrice } = config();
		const rules = { currency, maxPrice };
		const priceMinor = values.price === undefined ? null : readPrice(values.price, rules);
		if (typeof priceMinor === 'string') throw refuseUsage(`--price ${priceMinor}.`);
		if (values.price === undefined && !columns.has('price')) {
			throw refuseUsage('A price is missing: give --price N, or map a column to it (price=Column).');
		}

		const settings = { columns, ...rules, priceMinor };
		const { routers, notes, badRows } = await readRouters(
			streamInput(folder, file),
			settings,
			({ line, text }) => console.error(`line ${line}: ${plain(text)}`)
		);
		checkRows(badRows, routers.length + badRows, values['skip-bad']);
		for (const { line, text } of notes) console.error(`line ${line}: note: ${text}`);

		const app = await open();
		const owner = await ownerOf(app, values.owner);
		const { added, changed, unchanged } = await importRouters(app, owner.id, routers);
		await print(`${added} added, ${changed} changed, ${unchanged} unchanged, ${badRows} skipped`);
	}
});

const OWN_KINDS = ACCESS_KINDS.filter((kind) => endsByItself(kind));

/** What the pages leave to an administrator; the owner's page of a router has the rest. */
const setAccess = defineCommand({
	name: 'routers access',
	args: ['ID'],
	summary: 'Set what the page of a router does not offer: any kind of access, and devices for one pass.',
	help: "The router's page /owner/routers/ID/edit offers the kinds that its gateways hold, and takes the network's password. Existing orders keep their kind.",
	options: {
		kind: {
			words: OWN_KINDS,
			help: 'how buyers get online; the guide routers-and-gateways explains the kinds'
		},
		'max-devices': {
			value: 'N',
			help: `devices that may use one pass at a time, 1 to ${MAX_PASS_DEVICES}; for new orders. A MikroTik without RADIUS counts only its own devices`
		},
		'no-network-password': { help: 'delete it: buyers on portal_login must ask for it at the venue' }
	},
	async run({ args: [text], values, open }) {
		const { kind, 'max-devices': devices, 'no-network-password': isDeleted } = values;
		if (kind === undefined && devices === undefined && !isDeleted)
			throw refuseUsage('Name a setting to change, for example --max-devices 2.');
		const app = await open();
		const { id, name } = await ownRouter(app, text);
		const change = {
			kind,
			networkPassword: isDeleted ? null : undefined,
			// 0 is refused, like any text that is not a number.
			maxDevices: devices === undefined ? undefined : /^\d{1,3}$/.test(devices) ? Number(devices) : 0
		};
		const { access_kind, max_devices } = await changeAccess(app, id, change, AUTHOR);
		await print(`Router ${id} ${plain(name)}: ${access_kind}, devices: ${max_devices}.`);
	}
});

export const routerCommands = [importRoutersFile, setAccess];

function checkRows(badRows: number, rows: number, skipsBad: boolean): void {
	if (rows === 0) console.error('The file has no rows below its header.');
	if (badRows === 0 || skipsBad) return;
	throw refuse(
		`Nothing was imported: ${badRows} of ${rows} rows ${badRows === 1 ? 'is' : 'are'} bad. ` +
			'Correct the file, or skip such rows with --skip-bad.'
	);
}

/** Parses `field=Column,...`. Names may contain commas: only a comma before `field=` separates. */
function parseMap(options: readonly string[]): ColumnMap {
	const map = new Map<ImportField, string>();
	for (const pair of options.flatMap((text) => text.split(/,(?=\s*\w+\s*=)/))) {
		const [, name = '', column = ''] = /^\s*(\w+)\s*=(.*)$/s.exec(pair) ?? [];
		const field = IMPORT_FIELDS.find((known) => known === name);
		if (name === '') throw refuseUsage(`--map takes field=Column,..., not "${pair}".`);
		if (!field) throw refuseUsage(`--map: unknown field "${name}". Fields: ${IMPORT_FIELDS.join(', ')}.`);
		if (column.trim() === '') throw refuseUsage(`--map: ${field} has no column.`);
		if (map.has(field)) throw refuseUsage(`--map: ${field} is given twice.`);
		map.set(field, column.trim());
	}
	const missing = NEEDED_FIELDS.filter((field) => !map.has(field));
	if (missing.length > 0) throw refuseUsage(`--map: no column for ${missing.join(', ')}.`);
	return map;
}

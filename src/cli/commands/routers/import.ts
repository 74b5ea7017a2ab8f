import { ACCESS_KINDS } from '#lib/domain/access-kind.ts';
import {
	IMPORT_FIELDS,
	NEEDED_FIELDS,
	readRouters,
	type ColumnMap,
	type ImportField
} from '#lib/server/routers/import/import-rows.ts';
import { importRouters } from '#lib/server/routers/import/import-routers.ts';
import { readPrice } from '#lib/server/routers/router-fields.ts';
import { defineCommand } from '../../support/command.ts';
import { CommandError, UsageError } from '../../support/errors.ts';
import { streamInput } from '../../support/files.ts';
import { plain, print } from '../../support/output.ts';
import { ownerOf } from '../../support/services.ts';

const MAP_HELP = [
	'the column of each field, e.g. ssid=SSID,lat=Latitude,lon=Longitude.',
	`Fields: ${IMPORT_FIELDS.join(', ')}.`,
	'ssid, lat and lon are required. Without id, network, position and name identify a router. Fields without a column keep their value in existing routers. security: wpa (default) or nopass. status: online (default) or offline. hidden: yes for a network that does not announce its name, or no (default).',
	`access_kind: ${ACCESS_KINDS.join(', ')} (see "routers access"); default: the first one, on open networks portal_login. A router with shared_password sells once its password is set there.`
].join('\n');

export const importRoutersFile = defineCommand({
	name: 'routers import',
	args: ['FILE.csv'],
	summary: 'Add or update routers from a CSV file.',
	help: 'The file is CSV in UTF-8, separated by commas. Its first line contains the column names. If a row is bad, nothing is imported. Every bad row is reported with its line and the reason. The id identifies a router, so importing the same file twice changes nothing.',
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
		if (typeof priceMinor === 'string') throw new UsageError(`--price ${priceMinor}.`);
		if (values.price === undefined && !columns.has('price')) {
			throw new UsageError('A price is missing: give --price N, or map a column to it (price=Column).');
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

function checkRows(badRows: number, rows: number, skipsBad: boolean): void {
	if (rows === 0) console.error('The file has no rows below its header.');
	if (badRows === 0 || skipsBad) return;
	throw new CommandError(
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
		if (name === '') throw new UsageError(`--map takes field=Column,..., not "${pair}".`);
		if (!field) throw new UsageError(`--map: unknown field "${name}". Fields: ${IMPORT_FIELDS.join(', ')}.`);
		if (column.trim() === '') throw new UsageError(`--map: ${field} has no column.`);
		if (map.has(field)) throw new UsageError(`--map: ${field} is given twice.`);
		map.set(field, column.trim());
	}
	const missing = NEEDED_FIELDS.filter((field) => !map.has(field));
	if (missing.length > 0) throw new UsageError(`--map: no column for ${missing.join(', ')}.`);
	return map;
}

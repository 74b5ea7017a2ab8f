import { ACCESS_KINDS } from '#lib/domain/access-kind.ts';
import { formatMoney, toMajor } from '#lib/domain/money.ts';
import type { Account } from '#lib/server/developer/accounts/accounts.ts';
import { hasRole } from '#lib/server/developer/api-keys/api-keys.ts';
import { demoAccounts } from '#lib/server/demo/accounts.ts';
import type { App } from '#lib/server/app.ts';
import { loadConfig } from '#lib/server/config/config.ts';
import {
	IMPORT_FIELDS,
	parsePrice,
	priceRule,
	readRouters,
	type ColumnMap,
	type ImportField
} from '#lib/server/routers/import-rows.ts';
import { importRouters } from '#lib/server/routers/import.ts';
import { offlineReason, pageOfRouters } from '#lib/server/routers/routers.ts';
import { UsageError, defineCommand } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { readInput } from '../support/files.ts';
import { plain, print, tableLine } from '../support/output.ts';
import { accountOf } from '../support/services.ts';

const PROGRESS_ROWS = 1000;
const LIST_PAGE_ROWS = 500;
const MAX_OWNERS_NAMED = 10;

export const importRoutersFile = defineCommand({
	name: 'routers import',
	parameters: 'FILE.csv --map field=Column,... [--price N] [--owner EMAIL] [--skip-bad]',
	summary: 'Add or update routers from a CSV file.',
	help: [
		'If a row is bad, nothing is imported. Every bad row is reported with its line and the reason.',
		'The id identifies a router, so importing the same file twice changes nothing.',
		'',
		'  --map PAIRS    the column of each field, e.g. ssid=SSID,lat=Latitude,lon=Longitude',
		`                 Fields: ${IMPORT_FIELDS.join(', ')}.`,
		'                 ssid, lat and lon are required. Without id, network, position and name identify a',
		'                 router. security: wpa (default) or nopass. status: online (default) or offline.',
		`                 access_kind: ${ACCESS_KINDS.slice(0, 3).join(', ')}`,
		`                 or ${ACCESS_KINDS.slice(3).join(', ')} (see "routers access"); default: the first one, on open`,
		'                 networks portal_login. A router with shared_password sells once its password is set there.',
		'                 Fields without a column keep their value in existing routers.',
		'  --price N      price per hour in units of CURRENCY, at most MAX_PRICE, for rows without a price in the file',
		'  --owner EMAIL  their account, an owner or admin; default: the only owner',
		'  --skip-bad     skip bad rows and import the others',
		'',
		'The file is CSV in UTF-8, separated by commas. Its first line contains the column names.'
	].join('\n'),
	options: {
		map: { type: 'string', multiple: true },
		price: { type: 'string' },
		owner: { type: 'string' },
		'skip-bad': { type: 'boolean' }
	},
	async run({ argument, values, env, folder, open }) {
		const columns = parseMap(values.map ?? []);
		const { currency, maxPrice, paymentMethods } = loadConfig(env);
		const rules = { currency, maxPrice };
		const priceMinor = values.price === undefined ? null : parsePrice(values.price, rules);
		if (values.price !== undefined && priceMinor === null) {
			throw new UsageError(`--price "${values.price}": ${priceRule(rules)}.`);
		}
		if (values.price === undefined && !columns.has('price')) {
			throw new UsageError('A price is missing: give --price N, or map a column to it (price=Column).');
		}

		const file = readRouters(await readInput(folder, argument), { columns, ...rules, priceMinor });
		for (const { line, text } of file.problems) console.error(`line ${line}: ${plain(text)}`);
		const rows = file.routers.length + file.badRows;
		if (file.badRows > 0 && !values['skip-bad']) {
			throw new CommandError(
				`Nothing was imported: ${file.badRows} of ${rows} rows ${file.badRows === 1 ? 'is' : 'are'} bad. ` +
					'Correct the file, or skip such rows with --skip-bad.'
			);
		}
		for (const { line, text } of file.notes) console.error(`line ${line}: note: ${text}`);
		if (rows === 0) console.error('The file has no rows below its header.');

		const app = await open();
		const owner = await ownerOf(app, values.owner);
		const total = file.routers.length;
		const { added, changed, unchanged } = await importRouters(app.database, app.clock, {
			ownerAccountId: owner.id,
			routers: file.routers,
			paymentMethods,
			onProgress(done) {
				if (done < PROGRESS_ROWS || (done % PROGRESS_ROWS !== 0 && done !== total)) return;
				console.error(`${done} of ${total} rows`);
			}
		});
		await print(`${added} added, ${changed} changed, ${unchanged} unchanged, ${file.badRows} skipped`);
	}
});

const routerLine = tableLine(6, 40, 32, 30, 14);

export const listRouters = defineCommand({
	name: 'routers list',
	parameters: '',
	summary: 'List all routers.',
	help: 'Ordered by id: id, name, SSID, position (latitude, longitude), price per hour, status with its reason.',
	options: {},
	async run({ open }) {
		const { config, database } = await open();
		await print(routerLine('ID', 'NAME', 'SSID', 'POSITION', 'PRICE/HOUR', 'STATUS'));
		for (let afterId = 0; ;) {
			const page = await pageOfRouters(database.db, afterId, LIST_PAGE_ROWS);
			for (const row of page) {
				const { id, name, ssid, lat, lon, price_minor, currency, disabled_at } = row;
				const price = formatMoney(toMajor(price_minor, currency), currency).replaceAll('\u00a0', ' ');
				const reason = offlineReason(row, config);
				const status = reason === null ? 'online' : `offline (${reason})`;
				const state = disabled_at === null ? status : 'disabled';
				await print(routerLine(String(id), name, ssid, `${lat}, ${lon}`, price, state));
				afterId = id;
			}
			if (page.length === 0) return;
		}
	}
});

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
	const missing = (['ssid', 'lat', 'lon'] as const).filter((field) => !map.has(field));
	if (map.size === 0) throw new UsageError('--map is missing.');
	if (missing.length > 0) throw new UsageError(`--map: no column for ${missing.join(', ')}.`);
	return map;
}

async function ownerOf(app: App, email: string | undefined): Promise<Account> {
	if (email === undefined) return onlyOwner(app);
	const account = await accountOf(app.accounts, email);
	if (!hasRole(account.role, 'owner')) {
		throw new CommandError(`${account.email} has the role ${account.role}; owner or admin is needed.`);
	}
	return account;
}

async function onlyOwner(app: App): Promise<Account> {
	const owners = () => app.accounts.withRole('owner', MAX_OWNERS_NAMED);
	const found = await owners();
	// A new sandbox gets its demo accounts here, not at its first start.
	if (found.length === 0 && app.config.demo) await demoAccounts(app);
	const [owner, ...others] = found.length === 0 ? await owners() : found;
	if (!owner) {
		throw new CommandError(
			'There is no owner account for these routers. Make one with "accounts create --email EMAIL --role owner", ' +
				'or start Airtill once (a new sandbox makes one), or name an admin with --owner EMAIL.'
		);
	}
	if (others.length === 0) return owner;
	const emails = [owner, ...others].map((account) => account.email).join(', ');
	throw new CommandError(`There are several owner accounts; choose one with --owner EMAIL: ${emails}.`);
}

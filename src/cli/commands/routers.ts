import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { ACCESS_KINDS } from '#lib/domain/access-kind.ts';
import { formatMoney, toMajor } from '#lib/domain/money.ts';
import type { Account } from '#lib/server/developer/accounts/accounts.ts';
import { hasRole } from '#lib/server/developer/api-keys/api-keys.ts';
import { demoAccounts } from '#lib/server/demo/demo.ts';
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
import { pageOfRouters, type RouterRow } from '#lib/server/routers/routers.ts';
import { UsageError, parseCommand, positionals, type Command } from '../support/command.ts';
import { CommandError } from '../support/errors.ts';
import { plain, print } from '../support/output.ts';
import { withApp, withConfiguredApp } from '../support/services.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const PROGRESS_ROWS = 1000;
const LIST_PAGE_ROWS = 500;
const MAX_OWNERS_NAMED = 10;

export const importRoutersFile: Command = {
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
	async run(args, { env, folder }) {
		const { values, positionals: words } = parseCommand(args, {
			map: { type: 'string', multiple: true },
			price: { type: 'string' },
			owner: { type: 'string' },
			'skip-bad': { type: 'boolean', default: false }
		});
		const [name = ''] = positionals(words, ['FILE.csv']);
		const columns = parseMap(values.map ?? []);
		const config = loadConfig(env);
		const { currency, maxPrice } = config;
		const rules = { currency, maxPrice };
		const priceMinor = values.price === undefined ? null : parsePrice(values.price, rules);
		if (values.price !== undefined && priceMinor === null) {
			throw new UsageError(`--price "${values.price}": ${priceRule(rules)}.`);
		}
		if (values.price === undefined && !columns.has('price')) {
			throw new UsageError('A price is missing: give --price N, or map a column to it (price=Column).');
		}

		const file = readRouters(await readFile(resolve(folder, name)), { columns, ...rules, priceMinor });
		for (const { line, text } of file.problems) console.error(`line ${line}: ${plain(text)}`);
		const rows = file.routers.length + file.badRows;
		if (file.badRows > 0 && !values['skip-bad']) {
			console.error(
				`Nothing was imported: ${file.badRows} of ${rows} rows ${file.badRows === 1 ? 'is' : 'are'} bad. ` +
					'Correct the file, or leave such rows out with --skip-bad.'
			);
			return 1;
		}
		for (const { line, text } of file.notes) console.error(`line ${line}: note: ${text}`);
		if (rows === 0) console.error('The file has no rows below its header.');

		return withApp(config, async (app) => {
			const owner = await ownerOf(app, values.owner);
			const result = await importRouters(app.database, app.clock, {
				ownerAccountId: owner.id,
				routers: file.routers,
				paymentMethods: app.config.paymentMethods,
				onProgress: progress(file.routers.length)
			});
			await print(
				`${result.added} added, ${result.changed} changed, ${result.unchanged} unchanged, ${file.badRows} skipped`
			);
			return 0;
		});
	}
};

export const listRouters: Command = {
	name: 'routers list',
	parameters: '',
	summary: 'List all routers.',
	help: 'Ordered by id. Columns: id, name, SSID, position (latitude, longitude), price per hour, status.',
	async run(args, context) {
		positionals(parseCommand(args, {}).positionals, []);
		return withConfiguredApp(context, async (app) => {
			await print(routerLine(['ID', 'NAME', 'SSID', 'POSITION', 'PRICE/HOUR', 'STATUS']));
			let afterId = 0;
			for (;;) {
				const page = await pageOfRouters(app.database.db, afterId, LIST_PAGE_ROWS);
				const last = page.at(-1);
				if (!last) return 0;
				await print(page.map((row) => routerLine(cellsOf(row))).join('\n'));
				afterId = last.id;
			}
		});
	}
};

/** Parses `field=Column,...`. A column's name may contain commas: only a comma before `field=` separates. */
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

/** Reads a file or a pipe, up to a limit. */
async function readFile(path: string): Promise<Buffer> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	try {
		for await (const chunk of createReadStream(path)) {
			if (!Buffer.isBuffer(chunk)) throw new Error('A file is read as bytes');
			bytes += chunk.length;
			if (bytes > MAX_FILE_BYTES) {
				throw new CommandError(`${path} is larger than ${MAX_FILE_BYTES / 1024 / 1024} MiB; split it.`);
			}
			chunks.push(chunk);
		}
	} catch (error) {
		const reason = FILE_REASONS[error instanceof Error && 'code' in error ? String(error.code) : ''];
		if (error instanceof CommandError || reason === undefined) throw error;
		throw new CommandError(`${path} cannot be read: ${reason}.`, { cause: error });
	}
	return Buffer.concat(chunks);
}

const FILE_REASONS: Readonly<Record<string, string>> = {
	ENOENT: 'there is no such file',
	ENOTDIR: 'there is no such file',
	EISDIR: 'it is a folder',
	EACCES: 'no permission',
	EPERM: 'no permission'
};

async function ownerOf(app: App, email: string | undefined): Promise<Account> {
	if (email === undefined) return onlyOwner(app);
	const account = await app.accounts.findByEmail(email);
	if (!account) throw new CommandError(`--owner: there is no account ${email}.`);
	if (!hasRole(account.role, 'owner')) {
		throw new CommandError(
			`--owner: ${account.email} has the role ${account.role}; owner or admin is needed.`
		);
	}
	return account;
}

async function onlyOwner(app: App): Promise<Account> {
	const owners = () => app.accounts.withRole('owner', MAX_OWNERS_NAMED);
	const found = await owners();
	// A new sandbox gets its demo accounts now instead of at its first start.
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

/** Prints the progress of an import every thousand rows; on a terminal in one line. */
function progress(total: number): (done: number) => void {
	return (done) => {
		if (done < PROGRESS_ROWS || (done % PROGRESS_ROWS !== 0 && done !== total)) return;
		const text = `${done} of ${total} rows`;
		if (process.stderr.isTTY) process.stderr.write(`\r${text}${done === total ? '\n' : ''}`);
		else console.error(text);
	};
}

const cellsOf = (row: RouterRow): string[] => [
	String(row.id),
	row.name,
	row.ssid,
	`${row.lat}, ${row.lon}`,
	formatMoney(toMajor(row.price_minor, row.currency), row.currency).replaceAll('\u00a0', ' '),
	row.disabled_at === null ? row.status : 'disabled'
];

const ROUTER_WIDTHS = [6, 40, 32, 30, 14, 0];

/** Formats one line of the table; a text longer than its column is cut. */
const routerLine = (cells: string[]) =>
	cells
		.map((text, column) => {
			const width = ROUTER_WIDTHS[column] ?? 0;
			const characters = [...plain(text)];
			if (width === 0 || column === 0) return characters.join('').padEnd(width);
			const shown = characters.length > width ? [...characters.slice(0, width - 1), '…'] : characters;
			return shown.join('') + ' '.repeat(width - shown.length);
		})
		.join('  ');

import { stringify } from 'csv-stringify/sync';
import { createFileReader, describeFault } from '#lib/domain/money.ts';
import type { ProblemItem } from '../contract/schemas.ts';
import { CsvFileError, readCsv } from '../platform/csv.ts';
import { OFFER_COLUMNS, type OfferCells, type OfferColumn, type PriceReader } from './cells.ts';

export interface OfferFile {
	rows: OfferCells[];
	/** The first line of each row; the header is line 1. */
	lines: number[];
}

export const REQUIRED_COLUMNS: readonly OfferColumn[] = ['name', 'duration', 'price'];
const HINTS: Partial<Record<string, string>> = { active: 'Use yes or no.' };
/** The spreadsheet's sign that a cell is text. `offersCsv` writes it before formulas. */
const TEXT_MARK = /^'(?=[=+\-@\t\r])/;

/** @throws CsvFileError for an unknown or missing column, and for rows that are not readable */
export async function readOffersCsv(bytes: Buffer): Promise<OfferFile> {
	const file: OfferFile = { rows: [], lines: [] };
	const problems = new Map<number, string>();
	let columns: OfferColumn[] = [];
	await readCsv([bytes], {
		header(names) {
			columns = names.map((name) => columnOf(name.trim()));
			const missing = REQUIRED_COLUMNS.filter((column) => !columns.includes(column));
			const twice = columns.filter((column, index) => columns.indexOf(column) !== index);
			if (missing.length > 0) throw new CsvFileError(`The file has no column ${missing.join(', ')}.`);
			if (twice.length > 0) throw new CsvFileError(`The file has two columns ${twice.join(', ')}.`);
		},
		row(cells, line) {
			const cell = (column: OfferColumn) => (cells[columns.indexOf(column)] ?? '').replace(TEXT_MARK, '');
			file.rows.push(Object.fromEntries(OFFER_COLUMNS.map((name) => [name, cell(name)])) as OfferCells);
			file.lines.push(line);
		},
		problem: (line, reason) => void problems.set(line, `Line ${line}: ${reason}.`)
	});
	if (problems.size > 0) {
		throw new CsvFileError([...problems.values()].join('\n'), 'row', [...problems.keys()]);
	}
	return file;
}

function columnOf(name: string): OfferColumn {
	const column = OFFER_COLUMNS.find((known) => known === name);
	if (column) return column;
	throw new CsvFileError(`Unknown column "${name}". Columns: ${OFFER_COLUMNS.join(', ')}.`);
}

export const filePrices = ({ rows }: OfferFile, currency: string): PriceReader => ({
	currency,
	read: createFileReader(
		rows.map(({ price }) => price),
		currency
	)
});

/** Names the line and the column of a refused offer: "Line 3, price: Use a number." */
export function csvProblem(
	{ rows, lines }: OfferFile,
	{ pointer, detail }: ProblemItem,
	{ currency, read }: PriceReader
): string {
	const [, , index = '', column] = pointer.split('/');
	if (column === undefined) return detail;
	const price = column === 'price' ? (rows[Number(index)]?.price ?? '') : '';
	const fault = price === '' ? 0 : read(price);
	const reason =
		typeof fault === 'number'
			? (HINTS[column] ?? detail)
			: `"${price}" ${describeFault(fault, price, currency)}.`;
	return `Line ${lines[Number(index)] ?? '?'}, ${column}: ${reason}`;
}

export const offersCsv = (rows: readonly OfferCells[]): string =>
	stringify([...rows], { header: true, columns: [...OFFER_COLUMNS], escape_formulas: true });

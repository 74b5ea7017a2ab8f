import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { parse as parseAtOnce } from 'csv-parse/sync';
import { refuse } from '#lib/server/platform/errors.ts';

interface CsvReader {
	/** Skips the lines before the first that it accepts; if there is none, the first line is the header. Default: the first line. */
	isHeader?(cells: string[]): boolean;
	header(columns: string[]): void;
	/** `cells` has one cell per column; `line` (from 1) is the first line of the row. */
	row(cells: string[], line: number): void;
	problem(line: number, reason: string): void;
}

/** Whether a spreadsheet has shortened a long number, as "1.23457E+11": its last digits are lost. */
export const looksShortened = (cell: string): boolean => /^\d([.,]\d+)?E\+\d+$/i.test(cell);
export const SHORTENED =
	'the spreadsheet has shortened the transaction ID. Format its column as text, enter the ID again and save.';

type Chunks = Iterable<Buffer> | AsyncIterable<Buffer>;

const MAX_ROW_CHARACTERS = 64 * 1024;

/** Spreadsheets write semicolons where the comma is the decimal mark, and operators' portals tabs. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
const HEAD_CHARACTERS = 16 * 1024;
/** A header is among them; each is parsed with each delimiter. */
const HEAD_LINES = 100;

/**
 * Reads a CSV file (RFC 4180) row by row. Skips empty lines and turns line breaks in cells into LF. The delimiter is the
 * one that divides the header into the most cells; a first line "sep=;" of a spreadsheet may precede it.
 * @param chunks the bytes of the file, for example a stream
 * @throws Refused for a file that is empty or not in UTF-8, and for broken quotation marks, which hide the ends of
 * rows
 */
export async function readCsv(chunks: Chunks, reader: CsvReader): Promise<void> {
	let width: number | null = null;
	let first: string[] | null = null;
	let lastLine = 0;

	function take(cells: string[], line: number): void {
		if (first === null && /^sep=/i.test(cells[0] ?? '')) return;
		first ??= cells;
		if (width === null) {
			if (reader.isHeader?.(cells) === false) return;
			width = cells.length;
			reader.header(cells);
		} else if (cells.length === width) reader.row(cells, line);
		else if (cells.length > 1 || cells[0]?.trim()) {
			const isLong = lastLine > line;
			const extent = isLong ? ` (the row goes on to line ${lastLine}: a quotation mark too many?)` : '';
			reader.problem(line, `${cells.length} cells instead of ${width}${extent}`);
		}
	}

	try {
		const text = textOf(chunks);
		const head = await readHead(text);
		const parser = parse({
			delimiter: delimiterOf(head, reader),
			relax_column_count: true,
			skip_empty_lines: true,
			max_record_size: MAX_ROW_CHARACTERS,
			on_record(cells, { lines }) {
				lastLine = lines;
				take(cells, lines - (cells.join().split('\n').length - 1));
				// null: the parser collects no rows.
				return null;
			}
		});
		await pipeline(joined(head, text), parser.resume());
	} catch (error) {
		if (!(error instanceof CsvError)) throw error;
		const line = lastLine + 1;
		throw refuse(`Line ${line}: ${reasonOf(error)}.`);
	}
	if (first === null) throw refuse('The file is empty; its first line must name the columns.');
	if (width === null) reader.header(first);
}

async function readHead(text: AsyncGenerator<string>): Promise<string> {
	let head = '';
	while (head.length < HEAD_CHARACTERS) {
		const { value, done } = await text.next();
		if (done) break;
		head += value;
	}
	return head;
}

async function* joined(head: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
	yield head;
	yield* rest;
}

function delimiterOf(head: string, { isHeader }: CsvReader): string {
	const lines = head.slice(0, HEAD_CHARACTERS).split('\n', HEAD_LINES);
	const isEmpty = (line: string) => /^(sep=.?)?\s*$/i.test(line);
	const headers = DELIMITERS.map((delimiter) => {
		const rows = lines.flatMap((line) => (isEmpty(line) ? [] : [cellsOfLine(line, delimiter)]));
		return { delimiter, cells: (isHeader ? rows.find((cells) => isHeader(cells)) : rows[0]) ?? [] };
	});
	// The comma is the first, so it wins if none divides the header.
	return headers.reduce((most, one) => (one.cells.length > most.cells.length ? one : most)).delimiter;
}

function cellsOfLine(line: string, delimiter: string): string[] {
	try {
		return parseAtOnce(line, { delimiter, relax_column_count: true })[0] ?? [];
	} catch {
		// A quotation mark that does not fit is reported when the file is read.
		return [];
	}
}

/** Turns CRLF and CR into LF, because the parser counts a CRLF in a cell as two lines. */
async function* textOf(chunks: Chunks): AsyncGenerator<string> {
	// Drops a byte order mark.
	const decoder = new TextDecoder('utf-8', { fatal: true });
	const withLineFeeds = (text: string) => text.replace(/\r\n?/g, '\n');
	// The line feed of a CRLF may be in the next chunk.
	let held = '';
	try {
		for await (const chunk of chunks) {
			const text = held + decoder.decode(chunk, { stream: true });
			held = text.endsWith('\r') ? '\r' : '';
			yield withLineFeeds(text.slice(0, text.length - held.length));
		}
		yield withLineFeeds(held + decoder.decode());
	} catch (error) {
		if (!(error instanceof TypeError)) throw error;
		throw refuse('The file is not in UTF-8; save it as CSV in UTF-8.');
	}
}

const REASONS: Readonly<Record<string, string>> = {
	CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
	CSV_MAX_RECORD_SIZE: `the row is longer than ${MAX_ROW_CHARACTERS} characters: probably a quotation mark is not closed`,
	CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quotation mark (inside a quoted cell, write "" for ")',
	INVALID_OPENING_QUOTE: 'a quotation mark is inside a cell that does not begin with one'
};

const reasonOf = ({ code }: CsvError): string => REASONS[code] ?? `not readable as CSV (${code})`;

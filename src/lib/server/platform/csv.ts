import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';

/**
 * Reads a CSV file (RFC 4180: commas, cells in quotation marks may hold commas and line breaks) so that every
 * row, sound or broken, is known by the line of the file on which it starts.
 *
 * The parser's own line numbers count a CRLF inside quotation marks twice and name the end of a row, so lines
 * are counted here from byte positions. The parser stops at broken quoting; reading goes on with the line after
 * the one on which that row started, so that one stray mark costs one row and not the rest of the file.
 */
export interface CsvReader {
	/** The first row. */
	header(columns: string[]): void;
	/** A row with as many cells as there are columns. */
	row(cells: string[], line: number): void;
	/** A row that cannot be read. */
	problem(line: number, reason: string): void;
}

/** The file as a whole cannot be imported; the message says why. */
export class CsvFileError extends Error {
	constructor(message: string) {
		super(message);
		this.name = 'CsvFileError';
	}
}

const MAX_ROW_CHARACTERS = 64 * 1024;
/** Each broken row may have made the parser look ahead over a whole row's length. */
const MAX_BROKEN_ROWS = 1000;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/**
 * Passes the rows of a file to the reader, in order. Empty lines are passed over.
 * @throws CsvFileError when there is no header, or the file is too broken to go on
 */
export function readCsv(bytes: Buffer, reader: CsvReader): void {
	const begins = (mark: Buffer) => bytes.subarray(0, mark.length).equals(mark);
	if (UTF16_MARKS.some(begins)) throw new CsvFileError('The file is in UTF-16; save it as CSV in UTF-8.');

	// Line breaks are LF or CRLF; a file without any LF is in the old form of the Macintosh, CR alone.
	const lineBreak = bytes.includes(LINE_FEED) ? LINE_FEED : CARRIAGE_RETURN;
	const lineAt = lineCounter(bytes, lineBreak);
	const isAllUtf8 = isUtf8(bytes);
	let width: number | null = null;
	let brokenRows = 0;

	function take(cells: string[], start: number, end: number): void {
		const line = lineAt(start);
		if (!isAllUtf8 && !isUtf8(bytes.subarray(start, end))) {
			const reason = 'has characters that are not UTF-8 (save the file as CSV in UTF-8)';
			if (width === null) throw new CsvFileError(`Line ${line} ${reason}.`);
			return reader.problem(line, reason);
		}
		if (width === null) {
			width = cells.length;
			return reader.header(cells);
		}
		if (cells.length === width) return reader.row(cells, line);
		if (cells.length === 1 && cells[0]?.trim() === '') return;
		const lastLine = lineAt(end - 1);
		const extent =
			lastLine > line ? ` (the row goes on to line ${lastLine}: a quotation mark too many?)` : '';
		reader.problem(line, `${cells.length} cells instead of ${width}${extent}`);
	}

	let position = begins(UTF8_MARK) ? UTF8_MARK.length : 0;
	while (position < bytes.length) {
		const origin = position;
		/** Where the row starts that follows the last whole one. */
		let start = skipBreaks(bytes, origin);
		try {
			parse(bytes.subarray(origin), {
				record_delimiter: lineBreak === LINE_FEED ? ['\r\n', '\n'] : ['\r'],
				relax_column_count: true,
				skip_empty_lines: true,
				max_record_size: MAX_ROW_CHARACTERS,
				on_record(cells, info) {
					const end = origin + info.bytes;
					take(cells, start, end);
					start = skipBreaks(bytes, end);
					// Nothing is collected.
					return null;
				}
			});
			break;
		} catch (error) {
			if (!(error instanceof CsvError)) throw error;
			const line = lineAt(start);
			if (width === null)
				throw new CsvFileError(`Line ${line}, the names of the columns: ${reasonOf(error)}.`);
			reader.problem(line, reasonOf(error));
			brokenRows += 1;
			if (brokenRows === MAX_BROKEN_ROWS) {
				throw new CsvFileError(
					`Reading stopped at line ${line}: ${MAX_BROKEN_ROWS} rows have broken quoting.`
				);
			}
			const next = bytes.indexOf(lineBreak, start);
			position = next === -1 ? bytes.length : next + 1;
		}
	}
	if (width === null) throw new CsvFileError('The file is empty; its first line must name the columns.');
}

/** The line (from 1) of a byte; asked in rising order. */
function lineCounter(bytes: Buffer, lineBreak: number): (offset: number) => number {
	let line = 1;
	let position = 0;
	return (offset) => {
		for (;;) {
			const next = bytes.indexOf(lineBreak, position);
			if (next === -1 || next >= offset) return line;
			line += 1;
			position = next + 1;
		}
	};
}

/** The first byte from `offset` on that is not part of an empty line. */
function skipBreaks(bytes: Buffer, offset: number): number {
	let position = offset;
	while (bytes[position] === LINE_FEED || bytes[position] === CARRIAGE_RETURN) position += 1;
	return position;
}

function reasonOf(error: CsvError): string {
	switch (error.code) {
		case 'CSV_QUOTE_NOT_CLOSED':
			return 'broken quoting: a quotation mark is not closed';
		case 'CSV_MAX_RECORD_SIZE':
			return `longer than ${MAX_ROW_CHARACTERS} characters: probably a quotation mark is not closed`;
		case 'CSV_INVALID_CLOSING_QUOTE':
			return 'broken quoting: text after a closing quotation mark (inside a quoted cell, write "" for ")';
		case 'INVALID_OPENING_QUOTE':
			return 'broken quoting: a quotation mark inside a cell that does not begin with one';
		default:
			return `not readable as CSV (${error.code})`;
	}
}

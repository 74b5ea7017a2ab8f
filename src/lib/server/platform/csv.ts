import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';

export interface CsvReader {
	header(columns: string[]): void;
	/** `cells` has one cell per column; `line` (from 1) is the first line of the row. */
	row(cells: string[], line: number): void;
	problem(line: number, reason: string): void;
}

export class CsvFileError extends Error {
	constructor(message: string) {
		super(message);
		this.name = 'CsvFileError';
	}
}

const MAX_ROW_CHARACTERS = 64 * 1024;
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];
/** Replaces bytes that are not UTF-8 during decoding. A valid file may contain it too. */
const REPLACEMENT = '\ufffd';
const NOT_UTF8 = 'has characters that are not UTF-8 (save the file as CSV in UTF-8)';

/**
 * Reads a CSV file (RFC 4180). Skips empty lines and turns line breaks in cells into LF.
 * @throws CsvFileError without a header, and for broken quotation marks, which hide the ends of rows
 */
export function readCsv(bytes: Buffer, reader: CsvReader): void {
	if (UTF16_MARKS.some((mark) => bytes.subarray(0, mark.length).equals(mark))) {
		throw new CsvFileError('The file is in UTF-16; save it as CSV in UTF-8.');
	}
	const isWhole = isUtf8(bytes);
	let width: number | null = null;
	let lastLine = 0;

	function take(cells: string[], line: number): void {
		const isReadable = isWhole || !cells.some((cell) => cell.includes(REPLACEMENT));
		if (width === null) {
			if (!isReadable) throw new CsvFileError(`Line ${line} ${NOT_UTF8}.`);
			width = cells.length;
			reader.header(cells);
		} else if (!isReadable) reader.problem(line, NOT_UTF8);
		else if (cells.length === width) reader.row(cells, line);
		else if (cells.length > 1 || cells[0]?.trim()) {
			const isLong = lastLine > line;
			const extent = isLong ? ` (the row goes on to line ${lastLine}: a quotation mark too many?)` : '';
			reader.problem(line, `${cells.length} cells instead of ${width}${extent}`);
		}
	}

	try {
		// The parser counts a CRLF in a cell as two lines.
		parse(bytes.toString('utf8').replace(/\r\n?/g, '\n'), {
			bom: true,
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
	} catch (error) {
		if (!(error instanceof CsvError)) throw error;
		throw new CsvFileError(`Line ${lastLine + 1}: ${reasonOf(error)}.`);
	}
	if (width === null) throw new CsvFileError('The file is empty; its first line must name the columns.');
}

function reasonOf(error: CsvError): string {
	switch (error.code) {
		case 'CSV_QUOTE_NOT_CLOSED':
			return 'a quotation mark is not closed';
		case 'CSV_MAX_RECORD_SIZE':
			return `the row is longer than ${MAX_ROW_CHARACTERS} characters: probably a quotation mark is not closed`;
		case 'CSV_INVALID_CLOSING_QUOTE':
			return 'text follows a closing quotation mark (inside a quoted cell, write "" for ")';
		case 'INVALID_OPENING_QUOTE':
			return 'a quotation mark is inside a cell that does not begin with one';
		default:
			return `not readable as CSV (${error.code})`;
	}
}

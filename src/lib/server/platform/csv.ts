import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';

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

type Chunks = Iterable<Buffer> | AsyncIterable<Buffer>;

const MAX_ROW_CHARACTERS = 64 * 1024;
const UTF8_MARK = Buffer.from('\ufeff');
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];
const NOT_UTF8 = 'has characters that are not UTF-8 (save the file as CSV in UTF-8)';

/**
 * Reads a CSV file (RFC 4180) row by row. Skips empty lines and turns line breaks in cells into LF.
 * @param chunks the bytes of the file, for example a stream
 * @throws CsvFileError without a header, and for broken quotation marks, which hide the ends of rows
 */
export async function readCsv(chunks: Chunks, reader: CsvReader): Promise<void> {
	let width: number | null = null;
	let lastLine = 0;

	function take(bytes: string[], line: number): void {
		const cells = decoded(bytes);
		if (width === null) {
			if (!cells) throw new CsvFileError(`Line ${line} ${NOT_UTF8}.`);
			width = cells.length;
			reader.header(cells);
		} else if (!cells) reader.problem(line, NOT_UTF8);
		else if (cells.length === width) reader.row(cells, line);
		else if (cells.length > 1 || cells[0]?.trim()) {
			const isLong = lastLine > line;
			const extent = isLong ? ` (the row goes on to line ${lastLine}: a quotation mark too many?)` : '';
			reader.problem(line, `${cells.length} cells instead of ${width}${extent}`);
		}
	}

	try {
		const parser = parse({
			// One character per byte: a cell can be checked before it is decoded.
			encoding: 'latin1',
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
		await pipeline(withLineFeeds(chunks), parser.resume());
	} catch (error) {
		if (!(error instanceof CsvError)) throw error;
		throw new CsvFileError(`Line ${lastLine + 1}: ${reasonOf(error)}.`);
	}
	if (width === null) throw new CsvFileError('The file is empty; its first line must name the columns.');
}

/** Turns CRLF and CR into LF, because the parser counts a CRLF in a cell as two lines. Drops the byte order mark. */
async function* withLineFeeds(chunks: Chunks): AsyncGenerator<Buffer> {
	let isFirst = true;
	let endedWithReturn = false;
	for await (const chunk of chunks) {
		let bytes = chunk;
		if (isFirst) {
			if (UTF16_MARKS.some((mark) => startsWith(bytes, mark))) {
				throw new CsvFileError('The file is in UTF-16; save it as CSV in UTF-8.');
			}
			if (startsWith(bytes, UTF8_MARK)) bytes = bytes.subarray(UTF8_MARK.length);
			isFirst = false;
		}
		const text = bytes.toString('latin1');
		const rest = endedWithReturn && text.startsWith('\n') ? text.slice(1) : text;
		endedWithReturn = text.endsWith('\r');
		yield Buffer.from(rest.replace(/\r\n?/g, '\n'), 'latin1');
	}
}

const startsWith = (bytes: Buffer, mark: Buffer) => bytes.subarray(0, mark.length).equals(mark);

/** @returns null if a cell is not UTF-8 */
function decoded(cells: string[]): string[] | null {
	if (cells.every((cell) => /^[\0-\x7f]*$/.test(cell))) return cells;
	const bytes = cells.map((cell) => Buffer.from(cell, 'latin1'));
	return bytes.every((cell) => isUtf8(cell)) ? bytes.map((cell) => cell.toString('utf8')) : null;
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

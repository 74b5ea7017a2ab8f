import { Readable, type Transform } from 'node:stream';
import { stringify } from 'csv-stringify';

export type CsvCell = string | number;

/** Rows of a page. */
export const CSV_BATCH = 500;

/**
 * Reads all pages of a list while the browser loads the file. Text that a spreadsheet would run as a formula gets an apostrophe, because buyers choose some of the names.
 * @param filename ASCII letters, digits, `-` and `.`
 * @param signer adds the line that signs the file (billing/signed-statement.ts)
 */
export function csvResponse<Position, Page extends { next: Position | null }>(
	filename: string,
	header: readonly string[],
	read: (after: Position | null) => Promise<Page>,
	rowsOf: (page: Page) => Iterable<CsvCell[]> | Promise<Iterable<CsvCell[]>>,
	signer: Transform | null = null
): Response {
	async function* rows() {
		let after: Position | null = null;
		do {
			const page: Page = await read(after);
			yield* await rowsOf(page);
			after = page.next;
		} while (after !== null);
	}
	const lines = Readable.from(rows()).compose(
		stringify({
			bom: true,
			header: true,
			columns: [...header],
			record_delimiter: 'windows',
			escape_formulas: true
		})
	);
	const file = signer ? lines.compose(signer) : lines;
	return new Response(Readable.toWeb(file) as ReadableStream<Uint8Array>, {
		headers: {
			'content-type': 'text/csv; charset=utf-8',
			'content-disposition': `attachment; filename="${filename}"`
		}
	});
}

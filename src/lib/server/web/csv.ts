import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';

export type CsvCell = string | number;

/**
 * Text that a spreadsheet would run as a formula gets an apostrophe, because buyers choose some of the names.
 * @param filename ASCII letters, digits, `-` and `.`
 */
export function csvResponse(
	filename: string,
	header: readonly string[],
	rows: AsyncIterable<readonly CsvCell[]>
): Response {
	const lines = Readable.from(rows).compose(
		stringify({
			bom: true,
			header: true,
			columns: [...header],
			record_delimiter: 'windows',
			escape_formulas: true
		})
	);
	return new Response(Readable.toWeb(lines) as ReadableStream<Uint8Array>, {
		headers: {
			'content-type': 'text/csv; charset=utf-8',
			'content-disposition': `attachment; filename="${filename}"`
		}
	});
}

/**
 * CSV as an answer (RFC 4180), row by row, so that a year of payments needs no room. A cell that a spreadsheet would
 * take for a formula gets an apostrophe before it: names are written by strangers.
 */
export type CsvCell = string | number;

/** What makes Excel read UTF-8. */
const MARK = '\ufeff';

function cellText(cell: CsvCell): string {
	if (typeof cell === 'number') return String(cell);
	const safe = /^\s*[=+\-@\t\r\n|%]/.test(cell) ? `'${cell}` : cell;
	return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const rowText = (cells: readonly CsvCell[]) => `${cells.map(cellText).join(',')}\r\n`;

/** @param name of the file, in letters that every header can hold */
export function csvResponse(
	name: string,
	header: readonly string[],
	rows: AsyncIterable<readonly CsvCell[]>
): Response {
	const iterator = rows[Symbol.asyncIterator]();
	const encoder = new TextEncoder();
	const body = new ReadableStream<Uint8Array>({
		start(controller) {
			controller.enqueue(encoder.encode(MARK + rowText(header)));
		},
		async pull(controller) {
			const { done, value } = await iterator.next();
			if (done === true) controller.close();
			else controller.enqueue(encoder.encode(rowText(value)));
		},
		async cancel() {
			await iterator.return?.();
		}
	});
	return new Response(body, {
		headers: {
			'content-type': 'text/csv; charset=utf-8',
			'content-disposition': `attachment; filename="${name}"`
		}
	});
}

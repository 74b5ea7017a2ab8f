import { describe, expect, it } from 'vitest';
import { readCsv } from '#lib/server/platform/csv.ts';

/** Lists the rows and refusals, as `line: cells` and `line! reason`. */
async function read(...chunks: (string | Buffer)[]): Promise<string[]> {
	const told: string[] = [];
	await readCsv(
		chunks.map((chunk) => Buffer.from(chunk)),
		{
			header: (columns) => told.push(`header: ${columns.join('|')}`),
			row: (cells, line) => told.push(`${line}: ${cells.join('|')}`),
			problem: (line, reason) => told.push(`${line}! ${reason.split(':')[0] ?? ''}`)
		}
	);
	return told;
}

describe('the CSV reader', () => {
	it.each([
		['LF', 'a,b\n1,2\n3,4\n'],
		['CRLF', 'a,b\r\n1,2\r\n3,4\r\n'],
		['CR', 'a,b\r1,2\r3,4\r'],
		['a byte order mark', '\ufeffa,b\n1,2\n3,4\n'],
		['quoted cells', '"a","b"\n"1","2"\r\n"3","4"']
	])('reads a file with %s', async (_, text) => {
		expect(await read(text)).toEqual(['header: a|b', '2: 1|2', '3: 3|4']);
	});

	it.each([
		['semicolons', 'a;b\n1,5;2\n'],
		['tabs', 'a\tb\n1,5\t2\n'],
		['semicolons, named by a spreadsheet', 'sep=;\na;b\n1,5;2\n'],
		['commas, and semicolons in quotation marks', '"a","b"\n"1,5","2"\n'],
		['semicolons, in chunks', 'a', ';b\n1', ',5;2\n']
	])('reads cells that are divided by %s', async (_, ...chunks) => {
		const line = chunks[0]?.startsWith('sep') ? 3 : 2;
		expect(await read(...chunks)).toEqual(['header: a|b', `${line}: 1,5|2`]);
	});

	it('finds the delimiter of a header below other lines', async () => {
		const told: string[] = [];
		await readCsv([Buffer.from('Shop, Kampala, Uganda, East Africa\nPeriod, 1, 2\na;b\n1,5;2\n')], {
			isHeader: (cells) => cells.includes('a'),
			header: (columns) => told.push(columns.join('|')),
			row: (cells, line) => told.push(`${line}: ${cells.join('|')}`),
			problem: (line, reason) => told.push(`${line}! ${reason}`)
		});
		expect(told).toEqual(['a|b', '4: 1,5|2']);
	});

	it('takes U+FFFD in a file that is UTF-8, and refuses other encodings', async () => {
		expect(await read('a,b\n\ufffd,2\n')).toEqual(['header: a|b', '2: \ufffd|2']);
		for (const encoding of ['latin1', 'utf16le'] as const) {
			await expect(read(Buffer.from('\ufeffa,b\n3,é\n', encoding))).rejects.toThrow(
				'The file is not in UTF-8'
			);
		}
	});

	it('reads the same rows from chunks that end anywhere', async () => {
		const bytes = Buffer.from('\ufeffa,b\r\n"é\r\n",2\r\n3,€\r\n');
		const inChunks = (size: number) =>
			read(
				...Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
					bytes.subarray(at * size, (at + 1) * size)
				)
			);
		for (const size of [3, 4, 5, 7]) {
			expect(await inChunks(size)).toEqual(['header: a|b', '2: é\n|2', '4: 3|€']);
		}
	});

	it('names the line on which a row starts, below line breaks in quotation marks and empty lines', async () => {
		for (const lineBreak of ['\n', '\r\n']) {
			const text = ['', 'a,b', '"1', '', '1",2', '', '  ', '3,"4', '"', '5,6'].join(lineBreak);
			expect(await read(text)).toEqual(['header: a|b', '3: 1\n\n1|2', '8: 3|4\n', '10: 5|6']);
		}
	});

	it.each([
		['a mark that is never closed', 'a,b\n1,2\n3,"4\n5,6\n', 'Line 3: a quotation mark is not closed.'],
		['text after a closing mark', 'a,b\n1,"2"x\n', 'Line 2: text follows a closing quotation mark'],
		['a mark inside a cell', 'a,b\n1,2"\n', 'Line 2: a quotation mark is inside a cell'],
		['a row that never ends', `a,b\n1,"${'x'.repeat(70_000)}\n3,4\n`, 'Line 2: the row is longer than 65536'],
		['a broken header', '"a"x,b\n', 'Line 1: text follows a closing quotation mark']
	])('refuses %s, with its line', async (_, text, message) => {
		await expect(read(text)).rejects.toThrow(message);
	});

	it('says how far a row reaches that has too few cells because of a quotation mark', async () => {
		const reasons: string[] = [];
		await readCsv([Buffer.from('a,b\n"1,2\n3,4"\n5,6\n')], {
			header: () => {},
			row: () => {},
			problem: (line, reason) => reasons.push(`${line} ${reason}`)
		});
		expect(reasons).toEqual([
			'2 1 cells instead of 2 (the row goes on to line 3: a quotation mark too many?)'
		]);
	});

	it('refuses a file without a header', async () => {
		for (const text of ['', '\n\n', '\ufeff']) await expect(read(text)).rejects.toThrow('The file is empty');
	});
});

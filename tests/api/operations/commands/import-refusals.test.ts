/** What `routers import` refuses; nothing is changed by it. Bad rows are in tests/unit/gateways/import-rows.test.ts. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GOOD, HEADER, MAP, usePlace } from './place.ts';

/** [what is wrong, arguments of `routers import`, part of the message, exit code] */
const BAD_USES: readonly (readonly [string, string[], string, number])[] = [
	['no file', MAP, 'FILE.csv is missing.', 2],
	['no --map', ['x.csv'], '--map is missing.', 2],
	['--map without a position', ['x.csv', '--map', 'ssid=S'], '--map: no column for lat, lon.', 2],
	['an unknown field', ['x.csv', '--map', 'ssid=S,bssid=B,lat=A,lon=O'], '--map: unknown field "bssid".', 2],
	['--map that is none', ['x.csv', '--map', 'SSID'], '--map takes field=Column,..., not "SSID".', 2],
	['no price at all', ['x.csv', '--map', 'ssid=S,lat=A,lon=O'], 'give --price N, or map a column to it', 2],
	[
		'a --price above MAX_PRICE',
		['x.csv', ...MAP, '--price', '1000001'],
		'--price "1000001": a price in UGX is a number above 0, at most 1000000 (MAX_PRICE)',
		2
	],
	['a file too many', ['x.csv', 'y.csv', ...MAP], 'Unexpected argument "y.csv".', 2],
	[
		'a file that is not there',
		['/nowhere/x.csv', ...MAP],
		'/nowhere/x.csv cannot be read: no such file or directory.',
		1
	]
];

describe('routers import refuses', () => {
	const place = usePlace('sqlite');
	const stored = () => place().sql.all('select * from routers order by id');
	let before: unknown;

	beforeAll(async () => {
		expect(await place().importing(HEADER + GOOD, ...MAP)).toMatchObject({ code: 0 });
		before = await stored();
		expect(before).toMatchObject([{ external_id: 'a1', price_minor: 500 }]);
	});

	afterEach(async () => {
		expect(await stored()).toEqual(before);
	});

	it('a bad row, with its line, and changes nothing', async () => {
		// The good row says something new, which must not be stored either.
		const rows = `${HEADER}${GOOD.replace('500', '700')}b,B,,Net,,32,5,,\n`;
		const { code, stdout, stderr } = await place().importing(rows, ...MAP);
		expect(stderr).toMatch(
			/^line 3: no position: latitude is missing\nNothing was imported: 1 of 2 rows is bad\. .*\n$/
		);
		expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
	});

	it.each(BAD_USES)('%s', async (_, args, message, code) => {
		const result = await place().run('routers', 'import', ...args);
		expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) });
		expect(result.stderr).not.toContain('    at ');
		expect(result.stderr.includes('Usage: ')).toBe(code === 2);
	});

	it.each([
		['an empty file', '', 'The file is empty; its first line must name the columns.'],
		[
			'a file in UTF-16',
			Buffer.from(`\ufeff${HEADER}${GOOD}`, 'utf16le'),
			'The file is not in UTF-8; save it'
		],
		[
			'a column that is not there, naming those that are',
			'Id,SSID\n1,Net\n',
			'The file has no column "id" (for id). Its columns: Id, SSID.'
		],
		['a column that is there twice', `id,${HEADER}x,${GOOD}`, 'The file has more than one column "id"'],
		['a header with broken quoting', `"id"x,${HEADER}`, 'Line 1: text follows a closing quotation mark']
	])('%s', async (_, content, message) => {
		const { code, stdout, stderr } = await place().importing(content, ...MAP);
		expect(stderr).toContain(message);
		expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
	});

	it('an owner who is not one', async () => {
		const { run, importing } = place();
		const email = 'app@cli.example';
		expect(await run('accounts', 'create', '--email', email, '--role', 'app')).toMatchObject({ code: 0 });
		for (const [owner, message] of [
			[email, 'has the role app; owner or admin is needed'],
			['nobody@cli.example', 'There is no account nobody@cli.example']
		] as const) {
			const result = await importing(HEADER + GOOD.replace('500', '700'), ...MAP, '--owner', owner);
			expect(result).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
		}
	});
});

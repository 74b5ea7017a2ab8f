import { expect, it } from 'vitest';
import { IMPORT_FIELDS, readRouters } from '../../../src/lib/server/routers/import.ts';

const HEADER = 'id,name,address,ssid,lat,lon,price,security,status,access_kind\n';
const GOOD = 'a1,Acacia,Main Street,Acacia-WiFi,0.31,32.58,500,wpa,online,\n';

async function read(rows: string, header = HEADER) {
	const problems: { line: number; text: string }[] = [];
	const settings = {
		columns: new Map(IMPORT_FIELDS.filter((field) => header.includes(field)).map((field) => [field, field])),
		currency: 'UGX',
		maxPrice: 1_000_000,
		priceMinor: null
	};
	const file = [Buffer.from(header + rows)];
	return { problems, ...(await readRouters(file, settings, (problem) => void problems.push(problem))) };
}

/** [what is wrong, lines after the header and a good row, the only line of the report] */
const BAD_ROWS: readonly (readonly [string, string, string])[] = [
	['a missing latitude', 'b,B,,Net,,32,5,,,\n', 'line 3: no position: latitude is missing'],
	[
		'a position in words',
		'b,B,,Net,north,32,5,,,\n',
		'line 3: no position: latitude "north" is not a number'
	],
	[
		'a latitude out of range',
		'b,B,,Net,90.01,32,5,,,\n',
		'line 3: latitude 90.01 is out of range, -90 to 90'
	],
	[
		'a name that turns the text around',
		'b,B\u202ec,,Net,1,32,5,,,\n',
		'line 3: the name has an invisible character (U+202E); type it again'
	],
	['no SSID', 'b,B,,,1,32,5,,,\n', 'line 3: no SSID'],
	[
		'an SSID of 22 characters and 33 bytes',
		'b,B,,Ünïcödé Ünïcödé Ünïcöd,1,32,5,,,\n',
		`line 3: SSID "Ünïcödé Ünïcödé Ünïcöd" has 33 bytes; a network's name has at most 32`
	],
	[
		'a duplicate id',
		'b,B,,Net,1,32,5,,,\na1,C,,Net,1,32,5,,,\n',
		'line 4: duplicate id "a1", already on line 2'
	],
	['too few cells', 'b,B,,Net,1,32\n', 'line 3: 6 cells instead of 10'],
	['no price', 'b,B,,Net,1,32,,,,\n', 'line 3: no price'],
	[
		'a price with decimals that the currency has not',
		'b,B,,Net,1,32,5.5,,,\n',
		'line 3: price "5.5": a price in UGX is a number above 0, at most 1000000 (MAX_PRICE), with no decimals'
	],
	[
		'a price with two readings',
		'b,B,,Net,1,32,"1,000",,,\n',
		'line 3: price "1,000" can mean 1000 or 1; write one of these'
	],
	['a price in another currency', 'b,B,,Net,1,32,USD 5,,,\n', 'line 3: price "USD 5" is not in UGX'],
	['an unknown security', 'b,B,,Net,1,32,5,wep,,\n', 'line 3: unknown security "wep" (use wpa or nopass)'],
	['an unknown status', 'b,B,,Net,1,32,5,,up,\n', 'line 3: unknown status "up" (use online or offline)'],
	[
		'a row below quoted line breaks and an empty line',
		'b,"two\r\nlines",,Net,1,32,5,,,\n\nc,C,,Net,99,32,5,,,\n',
		'line 6: latitude 99 is out of range, -90 to 90'
	]
];

it.each(BAD_ROWS)('refuses %s, with its line, and reads the good row', async (_, rows, report) => {
	const { problems, badRows, routers } = await read(GOOD + rows);
	const [first] = problems;
	expect(`line ${first?.line}: ${first?.text}`).toBe(report);
	expect(badRows).toBe(1);
	expect(routers[0]).toMatchObject({ externalId: 'a1', stated: { price_minor: 500 } });
});

it.each(['1500', '1.500', '1,500', 'USh 1,500', '1 500', '1500.00', '１５００', '1500‎'])(
	'reads the price "%s"',
	async (price) => {
		const { routers } = await read(`b,B,,Net,1,32,"${price}",,,\n`);
		expect(routers[0]?.stated.price_minor).toBe(1500);
	}
);

it.each([' Cafe ', '   ', 'Cafe\u00a0', `${'é'.repeat(15)}x `])(
	'keeps the SSID %j byte for byte',
	async (ssid) => {
		const { routers } = await read(`b,,,${ssid},1,32,5,,,\n`);
		expect(routers[0]?.stated.ssid).toBe(ssid);
		expect(routers[0]?.stated.name).toBe(ssid.trim() || 'Wi-Fi');
	}
);

it('reads whether a network is hidden, and states nothing without a word', async () => {
	const words = ['yes', 'TRUE', '1', 'no', 'false', '0', ''];
	const rows = words.map((word, at) => `r${at},Net,1,32,5,${word}\n`).join('');
	const { routers } = await read(rows, 'id,ssid,lat,lon,price,hidden\n');
	expect(routers.map(({ stated }) => stated.hidden)).toEqual([1, 1, 1, 0, 0, 0, undefined]);
	const { problems } = await read('r,Net,1,32,5,perhaps\n', 'id,ssid,lat,lon,price,hidden\n');
	expect(problems[0]?.text).toBe('unknown value of hidden "perhaps" (use yes or no)');
});

it('reports everything against a row at once', async () => {
	expect((await read(',B,,,91,x,-1,wep,up,\n')).problems).toHaveLength(7);
});

it('reads a large file, and finds a duplicate at its other end', async () => {
	const ROWS = 30_000;
	function* chunks() {
		yield Buffer.from('id,ssid,lat,lon\n');
		for (let from = 0; from < ROWS; from += 1_000) {
			const rows = Array.from({ length: 1_000 }, (_, at) => `r${from + at},Net,1,${at % 180}\n`);
			yield Buffer.from(rows.join(''));
		}
		yield Buffer.from('r0,Net,1,2\n');
	}
	const columns = new Map((['id', 'ssid', 'lat', 'lon'] as const).map((field) => [field, field]));
	const problems: string[] = [];
	const settings = { columns, currency: 'UGX', maxPrice: 1_000_000, priceMinor: 500 };
	const read = await readRouters(
		chunks(),
		settings,
		({ line, text }) => void problems.push(`${line}: ${text}`)
	);
	expect(problems).toEqual([`${ROWS + 2}: duplicate id "r0", already on line 2`]);
	expect([read.badRows, read.routers.length]).toEqual([1, ROWS]);
});

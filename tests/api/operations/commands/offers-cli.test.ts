/** `offers set` and `offers list`: the price list of a router as a CSV file, all or nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { useFixture } from '../../../support/server/fixture.ts';
import { cli } from '../../../support/server/cli.ts';

const OWNER = 'owner@airtill.example';
const folder = mkdtempSync(path.join(tmpdir(), 'airtill-offers-'));
const file = path.join(folder, 'offers.csv');

const fixture = useFixture({ database: 'sqlite' });
const run = (...args: string[]) => cli(['offers', ...args], fixture().server);
const offers = async () => (await fixture().api.getRouter(3)).offers;

function set(content: string | Buffer, ...args: string[]) {
	writeFileSync(file, content);
	return run('set', '3', file, '--by', OWNER, ...args);
}

const LIST = [
	'name,duration,price,max_devices,speed_down_kbps,speed_up_kbps,data_limit_mb,days,from,until,active',
	'"Day, three devices",1d,1000,3,,,,,,,yes',
	'Weekend,2d,1500,,,,,sat sun,08:00,22:00,no',
	"'=1+1,1h,500,,,,,,,,yes"
];

beforeEach(async () => {
	await fixture().sql.run(`update routers set offers = '[]', hourly = 1 where id = 3`);
});
afterAll(() => rmSync(folder, { recursive: true }));

it('sets the list of a file, with the account; list prints the same file', async () => {
	const { code, stdout } = await set(`${LIST.join('\n')}\n`, '--hourly', 'no');
	expect([code, stdout]).toEqual([0, '']);
	expect(await offers()).toMatchObject([
		{ name: 'Day, three devices', duration: '1d', price: 1000, max_devices: 3 },
		{ name: '=1+1', price: 500 }
	]);
	const changes = await fixture().sql.all(
		`select email, api_key_id, hourly from offer_changes join accounts on accounts.id = account_id
			where router_id = 3 order by offer_changes.id desc limit 1`
	);
	expect(changes).toEqual([{ email: OWNER, api_key_id: null, hourly: 0 }]);
	const listed = await run('list', '3');
	expect(listed).toEqual({
		...{ code: 0, stdout: `${LIST.join('\n')}\n`, stderr: 'Other times are not sold.\n' }
	});
	await set(`\ufeff${listed.stdout.replaceAll('\n', '\r\n')}`);
	expect(await run('list', '3')).toEqual(listed);
});

it('needs only name, duration and price, in any order of columns', async () => {
	expect((await set('price,name,duration\n200,Half an hour,30m\n')).code).toBe(0);
	expect(await offers()).toMatchObject([{ name: 'Half an hour', duration: '30m', price: 200 }]);
});

it('reads a file of a spreadsheet with semicolons, and prices with the words of the currency', async () => {
	const content = 'name;duration;price\nHalf an hour;30m;200,00\nDay;1d;1.500\nWeek;1w;USh 5 000\n';
	expect((await set(content)).code).toBe(0);
	expect((await offers()).map(({ price }) => price)).toEqual([200, 1500, 5000]);
});

describe('a bad file changes nothing:', () => {
	it.each<[string, string | Buffer, string]>([
		['a wrong price, by line and column', 'name,duration,price\nDay,1d,1000\nWeek,1w,x\n', 'Line 3, price: '],
		[
			'a price with two readings',
			'name,duration,price\nDay,1d,"1,000"\n',
			'Line 2, price: "1,000" can mean 1000 or 1; write one of these.'
		],
		['another currency', 'name,duration,price\nDay,1d,KES 100\n', 'Line 2, price: "KES 100" is not in UGX.'],
		['a long row, by its line', 'name,duration,price\n"A\nB",1d,1000\nWeek,7,1\n', 'Line 4, duration: '],
		[
			'an unknown column',
			'name,duration,price,speed\nDay,1d,1000,5\n',
			'Unknown column "speed". Columns: name, '
		],
		['a missing column', 'name,price\nDay,1000\n', 'The file has no column duration.'],
		['a column twice', 'name,duration,price,price\nDay,1d,1000,2\n', 'The file has two columns price.'],
		['a row with a cell too many', 'name,duration,price\nDay,1d,1,000\n', 'Line 2: 4 cells instead of 3.'],
		['an empty file', '', 'The file is empty']
	])('%s', async (_what, content, message) => {
		await set('name,duration,price\nHour,1h,400\n');
		const before = await offers();
		const { code, stdout, stderr } = await set(content);
		expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(message)]);
		expect(await offers()).toEqual(before);
	});
});

it('is refused without an account of the owner', async () => {
	writeFileSync(file, 'name,duration,price\nHour,1h,400\n');
	expect(await run('set', '3', file)).toMatchObject({
		...{ code: 2, stderr: expect.stringContaining('--by is missing') as string }
	});
	expect(await run('set', '3')).toMatchObject({
		code: 2,
		stderr: expect.stringContaining('FILE.csv is missing') as string
	});
	const other = await run('set', '3', file, '--by', 'app@airtill.example');
	expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('role app') as string });
	expect(await offers()).toEqual([]);
});

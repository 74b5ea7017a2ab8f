/** The import of routers on the command line. */
import { afterEach, beforeEach, describe, expect, it, beforeAll } from 'vitest';
import { DATABASES, runsAllOn } from '../../../support/server/fixture.ts';
import { GOOD, HEADER, MAP, openPlace, OWNER, usePlace, type Place } from './place.ts';

describe.each(DATABASES)('routers import on %s', (database) => {
	let place: Place;

	beforeEach(async () => {
		place = await openPlace(database);
	});
	afterEach(() => place.stop());

	const stored = () => place.sql.all('select * from routers order by id');

	it('imported twice changes nothing; later it changes what differs and nothing else', async () => {
		const second = 'b2,Bukoto,,Bukoto-WiFi,0.35,32.59,600,nopass,offline\n';
		await place.importing(HEADER + GOOD + second, ...MAP);
		const before = await stored();
		expect(await place.importing(HEADER + GOOD + second, ...MAP)).toMatchObject({
			code: 0,
			stdout: '0 added, 0 changed, 2 unchanged, 0 skipped\n'
		});
		expect(await stored()).toEqual(before);

		// Only id, network, position and price: name, address, security and status stay as they are.
		const less = 'key,net,y,x\nb2,Bukoto-5G,0.35,32.6\nc3,New,1,2\n';
		const args = ['--map', 'id=key,ssid=net,lat=y,lon=x', '--price', '900'];
		expect(await place.importing(less, ...args)).toMatchObject({
			stdout: '1 added, 1 changed, 0 unchanged, 0 skipped\n'
		});
		const [first, changed, added] = await stored();
		expect(first).toEqual(before[0]);
		expect(changed).toEqual({
			...before[1],
			ssid: 'Bukoto-5G',
			lon: 32.6,
			price_minor: 900,
			updated_at: expect.any(Number)
		});
		expect(changed?.['updated_at']).toBeGreaterThan(Number(before[1]?.['updated_at']));
		expect(added).toMatchObject({ external_id: 'c3', name: 'New', price_minor: 900 });
	});

	it('run twice at once adds each router once', async () => {
		const rows = Array.from({ length: 1200 }, (_, row) => `r${row},R,,Net,${row / 100},32,5,,\n`);
		const file = HEADER + rows.join('');
		const results = await Promise.all([1, 2].map(() => place.importing(file, ...MAP)));
		expect(results.map(({ code }) => code)).toEqual([0, 0]);
		expect(results.map(({ stdout }) => stdout).sort()).toEqual([
			'0 added, 0 changed, 1200 unchanged, 0 skipped\n',
			'1200 added, 0 changed, 0 unchanged, 0 skipped\n'
		]);
		expect(await place.sql.count('select count(*) from routers')).toBe(1200);
	});

	it('changes a router without opening it: its owner has closed it', async () => {
		const fileOf = (name: string) => `id,ssid,lat,lon,name,status\na,Net,0,0,${name},online\n`;
		const columns = ['--map', 'id=id,ssid=ssid,lat=lat,lon=lon,name=name,status=status', '--price', '500'];
		await place.importing(fileOf('Old'), ...columns);
		const closed = { disabled_at: 5, disabled_by_owner: 1, paused_until: 6 };
		await place.sql.run('update routers set disabled_at = 5, disabled_by_owner = 1, paused_until = 6');
		const { stdout } = await place.importing(fileOf('New'), ...columns);
		expect(stdout).toContain('1 changed');
		expect(await stored()).toMatchObject([{ name: 'New', ...closed }]);
	});

	it('keeps the history of prices', async () => {
		await place.importing(HEADER + GOOD, ...MAP);
		await place.importing(HEADER + GOOD.replace('500', '700'), ...MAP);
		expect(await place.sql.all('select * from price_changes')).toMatchObject([
			{ old_price_minor: 500, new_price_minor: 700, currency: 'UGX', account_id: null }
		]);
	});

	it('refuses by field what the offers of a router do not allow, and changes nothing', async () => {
		await place.importing(HEADER + GOOD, ...MAP);
		place.env['CURRENCY'] = 'KES';
		const kind = GOOD.replace('online', 'shared_password');
		const map = MAP.map((pairs) => pairs.replace('status=status', 'access_kind=status'));
		const held = 'access_kind: router 1 sells "Day" with a limit. .* the number of devices cannot';
		// Nothing held the data before, so the access kind may change.
		for (const [limit, refused] of [
			['max_devices', [expect.stringMatching(`^${held}`)]],
			['data_limit_mb', []]
		] as const) {
			const day = { name: 'Day', duration: '1d', price_minor: 1000, active: true, [limit]: 2 };
			await place.sql.run('update routers set offers = ?', JSON.stringify([day]));
			const before = await stored();
			const { code, stdout, stderr } = await place.importing(HEADER + kind, ...map);
			expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
			expect(stderr.trimEnd().split('\n')).toEqual([
				...refused,
				expect.stringMatching('^currency: router 1: its offers have prices in UGX, not KES; ')
			]);
			expect(await stored()).toEqual(before);
		}
	});

	it('without ids knows a row again by its content, and equal rows by their number', async () => {
		const row = 'Net,1,2\n';
		const args = ['--map', 'ssid=ssid,lat=lat,lon=lon', '--price', '500'];
		const file = `ssid,lat,lon\n${row}Other,1,2\n${row}`;
		await place.importing(file, ...args);
		const before = await stored();
		expect(before).toHaveLength(3);
		expect(await place.importing(file, ...args)).toMatchObject({
			stdout: '0 added, 0 changed, 3 unchanged, 0 skipped\n'
		});
		expect(await stored()).toEqual(before);
		expect(await place.importing(file + row, ...args)).toMatchObject({
			stdout: '1 added, 0 changed, 3 unchanged, 0 skipped\n'
		});
	});

	if (!runsAllOn(database)) return;

	it('with --skip-bad leaves bad rows out, and reports them', async () => {
		const file = `${HEADER}${GOOD}b,B,,Net,1,32,x,,\nc,C,,Net,99,32,5,,\nd,D,,Net,1,32,5,,\n`;
		expect(await place.importing(file, ...MAP, '--skip-bad')).toEqual({
			code: 0,
			stdout: '2 added, 0 changed, 0 unchanged, 2 skipped\n',
			stderr: expect.stringMatching(
				/^line 3: price "x": .*\nline 4: latitude 99 is out of range, -90 to 90\n$/
			)
		});
		expect(await stored()).toMatchObject([{ external_id: 'a1' }, { external_id: 'd' }]);
	});

	it('cuts a name that is too long, and says so', async () => {
		const file = HEADER + GOOD.replace('Acacia,', `${'é'.repeat(130)},`);
		const { code, stderr } = await place.importing(file, ...MAP);
		expect({ code, stderr }).toEqual({ code: 0, stderr: 'line 2: note: name cut to 120 characters\n' });
		expect(await stored()).toMatchObject([{ name: 'é'.repeat(120) }]);
		expect(await place.importing(file, ...MAP)).toMatchObject({
			stdout: '0 added, 0 changed, 1 unchanged, 0 skipped\n'
		});
	});

	it('stores what the file says, with defaults for the rest', async () => {
		const file =
			'\ufeffssid,lat,lon,name,address\r\n' +
			'Blue Crane,0.3136,32.5811,"Blue ""Crane""\r\nCafé", Kampala Road \r\n' +
			'Ünïcödé Ünïcödé Ünïcö,-0.5,-180,,Namirembe Road\r\n' +
			'Lonely,90,180,,\r\n';
		const args = ['--map', 'ssid=ssid,lat=lat,lon=lon,name=name,address=address', '--price', '500'];
		expect(await place.importing(file, ...args)).toEqual({
			code: 0,
			stdout: '3 added, 0 changed, 0 unchanged, 0 skipped\n',
			stderr: ''
		});
		const common = {
			security: 'wpa',
			price_minor: 500,
			currency: 'UGX',
			status: 'online',
			payment_methods: '["mtn_momo","airtel_money"]',
			min_duration: '15m',
			max_duration: '6h',
			disabled_at: null
		};
		expect(await stored()).toMatchObject([
			{ name: 'Blue "Crane" Café', address: 'Kampala Road', ssid: 'Blue Crane', lat: 0.3136, lon: 32.5811 },
			{
				name: 'Namirembe Road',
				address: 'Namirembe Road',
				ssid: 'Ünïcödé Ünïcödé Ünïcö',
				lat: -0.5,
				lon: -180
			},
			{ name: 'Lonely', address: null, ssid: 'Lonely', lat: 90, lon: 180 }
		]);
		for (const row of await stored()) expect(row).toMatchObject(common);
	});

	it('asks whose the routers are when several could own them; ids are an owner’s own', async () => {
		await place.run('accounts', 'create', '--email', 'second@cli.example', '--role', 'owner');
		const asked = await place.importing(HEADER + GOOD, ...MAP);
		expect(asked).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('--owner EMAIL') });
		for (const owner of [OWNER, 'SECOND@cli.example']) {
			expect(await place.importing(HEADER + GOOD, ...MAP, '--owner', owner)).toMatchObject({
				code: 0,
				stdout: '1 added, 0 changed, 0 unchanged, 0 skipped\n'
			});
		}
		expect(await place.sql.count('select count(distinct owner_account_id) from routers')).toBe(2);
	});
});

describe('a fresh sandbox', () => {
	const place = usePlace('sqlite', false);

	it('takes an import at once: its demo owner is made for it', async () => {
		expect(await place().importing(HEADER + GOOD, ...MAP)).toMatchObject({
			code: 0,
			stdout: '1 added, 0 changed, 0 unchanged, 0 skipped\n'
		});
		expect(await place().sql.all('select email from accounts where role = ?', 'owner')).toEqual([
			{ email: 'owner@airtill.example' }
		]);
	});
});

/** What `routers import` refuses; nothing is changed by it. Bad rows are in tests/unit/gateways/import-rows.test.ts. */
describe('refusals', () => {
	/** [what is wrong, arguments of `routers import`, part of the message, exit code] */
	const BAD_USES: readonly (readonly [string, string[], string, number])[] = [
		['no --map', ['x.csv'], '--map is missing.', 2],
		['--map without a position', ['x.csv', '--map', 'ssid=S'], '--map: no column for lat, lon.', 2],
		[
			'an unknown field',
			['x.csv', '--map', 'ssid=S,bssid=B,lat=A,lon=O'],
			'--map: unknown field "bssid".',
			2
		],
		['no price at all', ['x.csv', '--map', 'ssid=S,lat=A,lon=O'], 'give --price N, or map a column to it', 2],
		[
			'a --price above MAX_PRICE',
			['x.csv', ...MAP, '--price', '1000001'],
			'--price "1000001": a price in UGX is a number above 0, at most 1000000 (MAX_PRICE)',
			2
		],
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
			[
				'a column that is not there, naming those that are',
				'Id,SSID\n1,Net\n',
				'The file has no column "id" (for id). Its columns: Id, SSID.'
			],
			['a column that is there twice', `id,${HEADER}x,${GOOD}`, 'The file has more than one column "id"']
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
});

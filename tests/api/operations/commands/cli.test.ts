/** The command line as its users meet it: what it prints where, its exit codes, and what it leaves stored. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createApi } from '../../../support/api/api.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { createSecrets } from '../../../../src/lib/server/platform/secrets.ts';
import { cli, type CliResult } from '../../../support/server/cli.ts';
import { openSql, type Sql } from '../../../support/database/sql.ts';
import { DATABASES, SECRET, eventually, insertKey, useFixture } from '../../../support/server/fixture.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const hotspots = path.join(root, '../shared/data/nyc-wifi-hotspots.csv');
const hotspotsMap = 'id=OBJECTID,name=Name,address=Location,ssid=SSID,lat=Latitude,lon=Longitude';

const OWNER = 'owner@cli.example';
const KEY = /^atl_test_[0-9A-Za-z]{36}$/;

/** A database of its own, without a server. */
interface Place {
	env: Record<string, string>;
	sql: Sql;
	run(...args: string[]): Promise<CliResult>;
	/** Writes a file of that content and imports it. */
	importing(content: string | Buffer, ...args: string[]): Promise<CliResult>;
	stop(): Promise<void>;
}

/** @param owner whether there is an account for the routers */
async function openPlace(
	database: (typeof DATABASES)[number],
	owner = true,
	more: Record<string, string> = {}
): Promise<Place> {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-cli-'));
	const url =
		database === 'sqlite'
			? `file:${path.join(folder, 'airtill.db')}`
			: await createDatabaseOn(inject('postgresUrl'));
	const env = {
		PATH: process.env['PATH'] ?? '',
		DATABASE_URL: url,
		DATA_DIR: folder,
		AIRTILL_SECRET: SECRET,
		...more
	};
	const run = (...args: string[]) => cli(args, { env });
	let files = 0;
	// Any command makes the tables.
	const made = owner
		? await run('accounts', 'create', '--email', OWNER, '--role', 'owner')
		: await run('routers', 'list');
	expect(made).toMatchObject({ code: 0, stderr: '' });
	const sql = await openSql(url);
	return {
		env,
		sql,
		run,
		importing(content, ...args) {
			files += 1;
			const file = path.join(folder, `routers-${files}.csv`);
			writeFileSync(file, content);
			return run('routers', 'import', file, ...args);
		},
		async stop() {
			await sql.close();
			rmSync(folder, { recursive: true, force: true });
		}
	};
}

/** A place for the tests of one `describe`. */
function usePlace(
	database: (typeof DATABASES)[number],
	owner = true,
	more: Record<string, string> = {}
): () => Place {
	let place: Place | null = null;
	beforeAll(async () => {
		place = await openPlace(database, owner, more);
	});
	afterAll(() => place?.stop());
	return () => {
		if (!place) throw new Error('The place is made before the tests, not while they are collected');
		return place;
	};
}

const HEADER = 'id,name,address,ssid,lat,lon,price,security,status\n';
const MAP = [
	'--map',
	'id=id,name=name,address=address,ssid=ssid,lat=lat,lon=lon,price=price,security=security,status=status'
];
const GOOD = 'a1,Acacia,Main Street,Acacia-WiFi,0.31,32.58,500,wpa,online\n';

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
	['a bad --price', ['x.csv', ...MAP, '--price', 'free'], '--price "free": a price in UGX is', 2],
	['an unknown option', ['x.csv', ...MAP, '--skipbad'], "Unknown option '--skipbad'.", 2],
	['a file too many', ['x.csv', 'y.csv', ...MAP], 'Unexpected argument "y.csv".', 2],
	[
		'a file that is not there',
		['/nowhere/x.csv', ...MAP],
		'/nowhere/x.csv cannot be read: no such file or directory.',
		1
	],
	['a folder', [tmpdir(), ...MAP], `${tmpdir()} cannot be read: illegal operation on a directory.`, 1]
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

describe.each(DATABASES)('on %s', (database) => {
	describe('routers import', () => {
		let place: Place;

		beforeEach(async () => {
			place = await openPlace(database);
		});
		afterEach(() => place.stop());

		const stored = () => place.sql.all('select * from routers order by id');

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
				max_duration: '30d',
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

		it('counts money in minor units of the currency', async () => {
			place.env['CURRENCY'] = 'KES';
			expect(await place.importing(HEADER + GOOD.replace('500', '19.99'), ...MAP)).toMatchObject({ code: 0 });
			expect(await stored()).toMatchObject([{ price_minor: 1999, currency: 'KES' }]);
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

		it('of a file with only a header does nothing, and says so', async () => {
			expect(await place.importing(HEADER, ...MAP)).toEqual({
				code: 0,
				stdout: '0 added, 0 changed, 0 unchanged, 0 skipped\n',
				stderr: 'The file has no rows below its header.\n'
			});
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

		// In CI the file must be there; elsewhere a clone may lack it.
		const isAbsent = !existsSync(hotspots) && process.env['CI'] !== 'true';
		it.skipIf(isAbsent)(
			`takes the real hotspots of New York City (skipped without ${hotspots})`,
			async () => {
				const args = ['routers', 'import', hotspots, '--map', hotspotsMap, '--price', '500'];
				expect(await place.run(...args)).toEqual({
					code: 0,
					stdout: '3319 added, 0 changed, 0 unchanged, 0 skipped\n',
					stderr: ''
				});
				expect(await place.run(...args)).toMatchObject({
					code: 0,
					stdout: '0 added, 0 changed, 3319 unchanged, 0 skipped\n'
				});
				const [nameless] = await place.sql.all("select * from routers where external_id = '9893'");
				expect(nameless).toMatchObject({ name: '125 Court St.', ssid: 'Downtown Brooklyn WiFi' });
				const { stdout } = await place.run('routers', 'list');
				expect(stdout.trimEnd().split('\n')).toHaveLength(1 + 3319);
				expect(stdout).toMatch(
					/Baisley Pond Park +GuestWiFi +40\.6748599999, -73\.7841200005 +UGX 500 +online\n/
				);
			}
		);
	});

	describe('accounts and keys', () => {
		const place = usePlace(database);

		it('accounts create prints the account as JSON, in lower case', async () => {
			const args = ['--email', 'New@CLI.example', '--role', 'app', '--plan', 'enterprise'];
			const { code, stdout, stderr } = await place().run('accounts', 'create', ...args);
			expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
			expect(JSON.parse(stdout)).toEqual({
				id: expect.any(Number),
				email: 'new@cli.example',
				role: 'app',
				plan: 'enterprise',
				status: 'active',
				created_at: expect.stringMatching(/^\d{4}-.*Z$/)
			});
		});

		it.each([
			['an address that is taken', ['--email', OWNER.toUpperCase(), '--role', 'app'], 'is taken', 1],
			['an address that is none', ['--email', 'me@', '--role', 'app'], 'is not an email address: "me@"', 2],
			[
				'an unknown role',
				['--email', 'a@b.example', '--role', 'root'],
				'--role is one of app, owner, admin',
				2
			],
			['an unknown plan', ['--email', 'a@b.example', '--role', 'app', '--plan', 'x'], '--plan is one of', 2],
			['no role', ['--email', 'a@b.example'], '--role is missing.', 2]
		])('accounts create refuses %s', async (_, args, message, code) => {
			const before = await place().sql.count('select count(*) from accounts');
			const result = await place().run('accounts', 'create', ...args);
			expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) });
			expect(await place().sql.count('select count(*) from accounts')).toBe(before);
		});

		it('keys create prints the key alone, stores only its hash, and no more than the account may do', async () => {
			const { run, sql } = place();
			const made = await run('keys', 'create', '--account', OWNER, '--name', 'till', '--role', 'app');
			expect(made.code).toBe(0);
			expect(made.stdout).toMatch(/\n$/);
			expect(made.stdout.trimEnd()).toMatch(KEY);
			expect(made.stderr).not.toContain(made.stdout.trim());
			const [row] = await sql.all("select * from api_keys where name = 'till'");
			expect(row).toMatchObject({ role: 'app' });
			expect(JSON.stringify(row)).not.toContain(made.stdout.trim());

			const refused = await run('keys', 'create', '--account', OWNER, '--role', 'admin');
			expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('has the role owner') });
			const unknown = await run('keys', 'create', '--account', 'who@cli.example');
			expect(unknown).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('who@cli.example') });
		});

		it('an account has at most twenty active keys; one that was revoked makes room', async () => {
			const { run, sql } = place();
			await run('accounts', 'create', '--email', 'many@cli.example', '--role', 'app');
			const create = () => run('keys', 'create', '--account', 'many@cli.example');
			const first = (await create()).stdout.trim();
			const id = await sql.count("select id from accounts where email = 'many@cli.example'");
			for (let key = 2; key <= 20; key += 1) await insertKey(sql, { accountId: id });
			expect(await create()).toEqual({
				code: 1,
				stdout: '',
				stderr: expect.stringContaining('20 active keys')
			});
			expect(await run('keys', 'revoke', first)).toMatchObject({ code: 0 });
			expect((await create()).stdout.trim()).toMatch(KEY);
		});

		it('keys revoke ends a key by its id, once', async () => {
			const { run } = place();
			await run('keys', 'create', '--account', OWNER, '--name', 'to end');
			const line = (await run('keys', 'list', '--account', OWNER)).stdout
				.split('\n')
				.find((text) => text.endsWith('to end'));
			expect(line).toMatch(/^\d+ +atl_test_…\w{4} +owner .* active +to end$/);
			const id = line?.split(' ')[0] ?? '';
			expect(await run('keys', 'revoke', id)).toMatchObject({ code: 0, stdout: '' });
			expect(await run('keys', 'revoke', id)).toMatchObject({ code: 1 });
			expect((await run('keys', 'list', '--account', OWNER)).stdout).toMatch(/ revoked +to end\n/);
			expect(await run('keys', 'revoke', 'atl_test_mistyped')).toMatchObject({ code: 1, stdout: '' });
		});
	});

	describe('beside a server', () => {
		const fixture = useFixture({ database });

		it('a key opens the API until it is revoked, and imported routers are for sale', async () => {
			const { server } = fixture();
			await cli(['accounts', 'create', '--email', 'app2@cli.example', '--role', 'app'], server);
			const { stdout } = await cli(['keys', 'create', '--account', 'app2@cli.example'], server);
			const api = createApi(server.url, stdout.trim());
			const file = path.join(server.dataDir, 'more.csv');
			writeFileSync(file, HEADER + GOOD);
			expect(await cli(['routers', 'import', file, ...MAP], server)).toMatchObject({ code: 0, stderr: '' });
			const { data } = await api.listRouters('lat=0.31&lon=32.58&radius=10');
			expect(data).toMatchObject([
				{
					name: 'Acacia',
					price: 500,
					payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money', 'sandbox']
				}
			]);

			expect(await cli(['keys', 'revoke', stdout.trim()], server)).toMatchObject({ code: 0, stdout: '' });
			await server.advance(5_000);
			await eventually('the key is refused', async () => {
				const { status } = await api.send('GET', '/v1/routers?lat=0.31&lon=32.58');
				return status === 401;
			});
		});

		it('doctor finds everything well, and a secret that cannot open the stored passwords', async () => {
			const { server, buy } = fixture();
			await buy();
			const well = await cli(['doctor'], server);
			expect(well.stdout).toMatch(/^ok secret: opens what this database keeps sealed$/m);
			// The database's clock stays where it is while the tests' clock moves.
			expect(well.stdout).toMatch(database === 'sqlite' ? /^ok clock: /m : /^(ok|warn|FAIL) clock: /m);

			const env = { ...server.env, AIRTILL_SECRET: `another ${SECRET}` };
			const { code, stdout } = await cli(['doctor'], { env });
			expect(stdout).toMatch(/^FAIL secret: .* - put back the AIRTILL_SECRET/m);
			expect(code).toBe(1);
			// Looking did no harm: the portal's own key still works.
			expect((await fetch(`${server.url}/r/3`)).status).toBe(200);
		});

		it('doctor finds that earlier buyers have passwords of another secret', async () => {
			const { server, sql, buy } = fixture();
			await buy();
			const [pass] = await sql.all('select max(id) as id from passes where password_sealed is not null');
			const sealed = createSecrets(`another ${SECRET}`).encrypt('k7mq-x2vd-9hta', `pass:${pass?.['id']}`);
			await sql.run(`update passes set password_sealed = '${sealed}' where password_sealed is not null`);
			await buy();
			const { stdout } = await cli(['doctor'], server);
			expect(stdout).toMatch(/^warn secret: .* AIRTILL_SECRET_FALLBACK/m);
		});
	});

	describe('doctor', () => {
		const place = usePlace(database, false);

		it('reports one line for each check and ends with 0 when all is well', async () => {
			const { code, stdout, stderr } = await place().run('doctor');
			const lines = stdout.trimEnd().split('\n');
			expect(lines.map((line) => line.split(':')[0])).toEqual([
				'ok configuration',
				'ok database',
				'ok clock',
				'ok backup',
				'ok secret',
				'ok disk',
				'ok operator',
				'ok reviews',
				'ok gateways',
				'ok address',
				'ok callbacks',
				'ok mail',
				'ok map'
			]);
			expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
			expect(stdout).toMatch(/^ok database: .* schema version \d+, /m);
		});

		it('says what to do about a wrong clock', async () => {
			const env = { ...place().env, AIRTILL_TEST_CLOCK_OFFSET_MS: String(-20 * 365 * 24 * 60 * 60_000) };
			const { code, stdout } = await cli(['doctor'], { env });
			expect(stdout).toMatch(/^FAIL clock: .* cannot be - set the clock/m);
			expect(code).toBe(1);
		});

		it('says what is missing in live mode', async () => {
			const env = { ...place().env, AIRTILL_MODE: 'live' };
			const { code, stdout } = await cli(['doctor'], { env });
			expect(stdout).toMatch(/^warn address: ORIGIN is not set.* - set ORIGIN/m);
			expect(stdout).toMatch(/^warn contact: .* - set CONTACT$/m);
			expect(stdout).toMatch(/^FAIL callbacks: operators cannot reach http:\/\/127\.0\.0\.1:3000/m);
			expect(code).toBe(1);
		});

		it('names a database of a newer version', async () => {
			const { sql, run } = place();
			await sql.run("insert into schema_migrations (version, name) values (99, 'future')");
			try {
				const { code, stdout } = await run('doctor');
				expect(stdout).toMatch(/^FAIL database: .* schema version 99, .* - use that version of Airtill$/m);
				expect(code).toBe(1);
				const list = await run('routers', 'list');
				expect(list).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('schema version 99') });
			} finally {
				await sql.run('delete from schema_migrations where version = 99');
			}
		});
	});
});

describe('doctor and the others, where the configuration is broken', () => {
	const place = usePlace('sqlite', false);

	it('doctor names every wrong variable, the others refuse to run', async () => {
		const env = { ...place().env, CURRENCY: 'XXX', MAP_CENTRE: 'here' };
		const { code, stdout } = await cli(['doctor'], { env });
		expect(stdout).toMatch(/^FAIL configuration: CURRENCY: .* - correct the environment variable/m);
		expect(stdout).toMatch(/^FAIL configuration: MAP_CENTRE: /m);
		expect(code).toBe(1);
		const list = await cli(['routers', 'list'], { env });
		expect(list).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('CURRENCY: ') });
		expect(list.stderr).not.toContain('    at ');
	});

	it.each([
		['a file that is no database', () => `file:${fileURLToPath(import.meta.url)}`, 'file is not a database'],
		['a server that is not there', () => 'postgres://me:hidden@127.0.0.1:1/airtill', 'ECONNREFUSED']
	])('%s: a sentence, no stack, no password', async (_, url, reason) => {
		const env = { ...place().env, DATABASE_URL: url() };
		const doctor = await cli(['doctor'], { env });
		expect(doctor.stdout).toMatch(new RegExp(`^FAIL database: .*${reason}.* - see that`, 'm'));
		expect(doctor.code).toBe(1);
		const list = await cli(['routers', 'list'], { env });
		expect(list).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(reason) });
		expect(`${doctor.stdout}${doctor.stderr}${list.stderr}`).not.toMatch(/hidden| {4}at /);
	});
});

describe('airtill', () => {
	const place = usePlace('sqlite', false, { AIRTILL_DEMO: 'off' });

	it.each([
		[[], 'A command is missing.'],
		[['frobnicate'], 'Unknown command "frobnicate".'],
		[['routers'], 'Unknown command "routers".'],
		[['routers', 'drop'], 'Unknown command "routers drop"'],
		[['--verbose'], 'Unknown option "--verbose".'],
		[['routers', 'list', '--all'], "Unknown option '--all'."],
		[['keys', 'revoke'], 'KEY_OR_ID is missing.'],
		[['keys', 'create', '--account', OWNER, '--name', ' '], '--name is missing.'],
		[['accounts', 'create', '--email', OWNER, '--role', 'king'], '--role is one of app, owner, admin'],
		[['accounts', 'create', '--email', 'nobody', '--role', 'owner '], '--email is not an email address']
	])('%j: says what is wrong, and the usage', async (args, message) => {
		const { code, stdout, stderr } = await place().run(...args);
		expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
		expect(stderr).toContain(message);
		expect(stderr).toContain('Usage: npm run --silent airtill -- ');
	});

	it.each([
		[['--help'], 'doctor'],
		[['routers', 'import', '--help'], '--skip-bad'],
		[['keys', 'create', '-h'], '--account EMAIL'],
		[
			['review', 'resolve', '-h'],
			' resolve ID --decision paid|unpaid|retry-refund|refunded|dismiss --by NAME'
		],
		[['personal-data', 'export', '-h'], ' FILE.p7m --phone NUMBER|--mac ADDRESS|--ip ADDRESS --from DATE ']
	])('%j: prints help', async (args, part) => {
		const { code, stdout, stderr } = await place().run(...args);
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
		expect(stdout).toContain(part);
	});

	it('routers import into an empty installation says how to make an owner', async () => {
		const { code, stderr } = await place().importing(HEADER + GOOD, ...MAP);
		expect(stderr).toContain('accounts create --email EMAIL --role owner');
		expect(code).toBe(1);
	});

	it('routers list of an empty installation is its header alone', async () => {
		const { code, stdout } = await place().run('routers', 'list');
		expect({ code, lines: stdout.split('\n') }).toEqual({
			code: 0,
			lines: [expect.stringMatching(/^ID +NAME/), '']
		});
	});

	it('routers list ends well when its reader goes away (| head)', async () => {
		const { run, importing, env } = place();
		await run('accounts', 'create', '--email', OWNER, '--role', 'owner');
		const rows = Array.from({ length: 3000 }, (_, row) => `r${row},R,,Net,${row / 100},32,5,,\n`);
		expect(await importing(HEADER + rows.join(''), ...MAP)).toMatchObject({ code: 0 });
		const child = spawn(process.execPath, [path.join(root, 'src/cli/airtill.js'), 'routers', 'list'], {
			env,
			stdio: ['ignore', 'pipe', 'pipe']
		});
		let stderr = '';
		child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
		child.stdout.once('data', () => child.stdout.destroy());
		const [code]: unknown[] = await once(child, 'close');
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
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

/** The owner's page of offers: one form without script, a preview before anything changes, and nothing typed is lost. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AccessKind } from '../../../../src/lib/domain/access-kind.ts';
import { registerGateway, registerRadius } from '../../../support/gateways/gateways.ts';
import { fieldValue } from '../../../support/pages/browsing.ts';
import { addRouter, alertOf, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { useFixture } from '../../../support/server/fixture.ts';

const fixture = useFixture({ database: 'sqlite' });
let owner: Owner;
let router: number;
const path = () => `/owner/routers/${router}/offers`;

beforeEach(async () => {
	owner ??= await newOwner(fixture());
	router = await addRouter(fixture(), owner.accountId, { name: 'Lakeside' });
});

type Row = Record<string, string | readonly string[]>;

/** The fields that a browser sends for these rows. */
const form = (button: string, rows: readonly Row[], more: Record<string, string> = {}) => ({
	...{ do: button, version: '0', hourly: 'yes', rows: String(rows.length) },
	...Object.fromEntries(
		rows.flatMap((row, index) =>
			Object.entries({ active: 'yes', ...row }).map(([name, value]) => [`${name}-${index}`, value])
		)
	),
	...more
});

const HALF = { count: '30', unit: 'm', price: '200' };
const DAY = { count: '1', unit: 'd', price: '1,000', devices: '3' };
const EMPTY = { count: '', unit: 'w', price: '' };

const offers = async (id = router) =>
	(await fixture().api.getRouter(id)).offers.map(({ name, duration, price, max_devices }) => [
		...[name, duration, price, max_devices]
	]);
const SAVED = [
	['30 minutes', '30m', 200, null],
	['1 day', '1d', 1000, 3]
];
const save = (rows: readonly Row[], more?: Record<string, string>) =>
	owner.post(path(), form('save', rows, more));
const versionNow = async () => fieldValue(await owner.get(path()), 'version');

describe('the price list', () => {
	it('begins with sets of offers, priced after the hour, that are saved only when the owner says so', async () => {
		const page = await owner.get(path());
		expect(page.text).toContain('By the hour 30 minutes: UGX 300 1 hour: UGX 500 3 hours: UGX 1,300');
		// No gateway here holds them.
		expect(page.text).not.toContain('With data limits');
		const filled = await owner.get(`${path()}?set=days`);
		const prices = [0, 1, 2].map((row) => fieldValue(filled, `price-${row}`));
		expect(prices).toEqual(['2500', '10000', '30000']);
		expect(await offers()).toEqual([]);
		const rows = [0, 1, 2].map((row) => ({
			...{ count: fieldValue(filled, `count-${row}`), unit: 'd', price: prices[row] ?? '' }
		}));
		await save([{ ...rows[0], price: '2,000' }]);
		expect(await offers()).toEqual([['1 day', '1d', 2000, null]]);
		expect((await owner.get(`${path()}?set=hours`)).text).not.toContain('By the hour');
		expect(fieldValue(await owner.get(`${path()}?set=hours`), 'price-0')).toBe('2000');
	});

	it('is previewed as buyers see it, and saved by a second press', async () => {
		const empty = await owner.get(path());
		expect(empty.html.match(/name="price-\d"/g)).toHaveLength(5);
		const look = await owner.post(path(), form('preview', [HALF, DAY, EMPTY]));
		expect(look.text).toMatch(/30 minutes UGX 200 1 day [^U]*3[^U]* UGX 1,000/);
		expect(look.text).toContain('Other times, up to 6 hours: UGX 500 an hour.');
		expect(await offers()).toEqual([]);
		const fields = Object.fromEntries(
			[...look.html.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
				([, name = '', value = '']) => [...([name, value] as const)]
			)
		);
		const done = await owner.post(path(), { ...fields, do: 'save' });
		expect([done.path, done.text]).toEqual([
			`${path()}?done`,
			expect.stringContaining('The offers are saved.')
		]);
		expect(await offers()).toEqual(SAVED);
		expect((await owner.get(`/owner/routers/${router}`)).text).toMatch(/1 day UGX 1,000/);
	});

	it('sent twice is one change', async () => {
		const first = await save([HALF]);
		const second = await save([HALF]);
		expect([first.status, second.status, second.path]).toEqual([200, 200, `${path()}?done`]);
		const count = 'select count(*) from offer_changes where router_id = ?';
		expect(await fixture().sql.count(count, router)).toBe(1);
	});

	it('does not replace a change that its owner has not seen, until it is sent again', async () => {
		await save([HALF]);
		const page = await save([DAY]);
		expect([page.status, alertOf(page)]).toEqual([
			409,
			'Somebody else changed the offers. Check yours, then save again to replace theirs.'
		]);
		expect(await offers()).toEqual([SAVED[0]]);
		expect(fieldValue(page, 'price-0')).toBe('1,000');
		await save([DAY], { version: fieldValue(page, 'version') });
		expect(await offers()).toEqual([SAVED[1]]);
	});

	it('can be the only thing that is sold', async () => {
		const { hourly, ...fields } = form('save', [DAY]);
		expect(hourly).toBe('yes');
		await owner.post(path(), fields);
		expect((await fixture().api.getRouter(router)).hourly).toBe(false);
		const nothing = await owner.post(path(), { do: 'save', rows: '0', version: await versionNow() });
		expect(alertOf(nothing)).toContain('Nothing would be sold.');
	});
});

describe('a refused form', () => {
	it.each<[string, Row, string, string]>([
		['a time that is no number', { ...HALF, count: 'x' }, 'count', 'Choose from 15 minutes to 30 days.'],
		['a time that is too long', { ...HALF, unit: 'w' }, 'count', 'Choose from 15 minutes to 30 days.'],
		['a missing price', { ...HALF, price: '' }, 'price', 'Enter the price as a number, such as 500.'],
		['superfluous decimals', { ...HALF, price: '0.5' }, 'price', 'UGX does not have that many decimals'],
		['eleven devices', { ...HALF, devices: '11' }, 'devices', 'Use a number from 1 to 10.'],
		['a speed that nothing holds', { ...HALF, down: '5' }, 'down', 'This router has no gateway'],
		['data that is no number', { ...HALF, data: 'lots' }, 'data', 'Use a number above 0'],
		['a start without an end', { ...HALF, from: '08:00' }, 'until', 'Enter two different times'],
		['a second offer of the same name', { ...HALF, name: '1 DAY' }, 'name', 'Another offer has this name.']
	])(
		'says beside the field why it refuses %s, and keeps what was typed',
		async (_what, row, field, reason) => {
			const page = await save([DAY, EMPTY, row]);
			expect([page.status, alertOf(page)]).toEqual([
				400,
				'Correct the marked fields. Nothing has changed yet.'
			]);
			const error = new RegExp(`id="${field}-2-error"[^>]*>([^<]*)`).exec(page.html)?.[1];
			expect(error).toContain(reason);
			expect(page.html).toMatch(new RegExp(`name="${field}-2"[^>]*aria-invalid="true"`));
			expect(fieldValue(page, 'price-0')).toBe('1,000');
			for (const name of ['count', 'price', 'devices', 'down', 'data', 'name']) {
				expect(fieldValue(page, `${name}-2`)).toBe(row[name] ?? '');
			}
			expect(await offers()).toEqual([]);
		}
	);
});

describe('a limit that the router does not hold', () => {
	/** The reasons beside the fields of one offer. */
	const reasons = async (row: Row) => {
		const { html } = await save([{ ...DAY, devices: '', ...row }]);
		const found = html.matchAll(/id="(\w+)-0-error"[^>]*>([^<]*)/g);
		return Object.fromEntries([...found].map(([, field, text]) => [field, text]));
	};
	const LIMITED = { devices: '2', down: '5', data: '1' };

	it('says that everyone has the same password', async () => {
		router = await addRouter(fixture(), owner.accountId, { access_kind: 'shared_password' });
		expect(await reasons(LIMITED)).toMatchObject({
			devices: 'Everyone has the same password here, so devices cannot be limited.',
			data: 'Everyone has the same password here, so data cannot be limited.'
		});
	});

	it('names the gateway and the condition that is missing', async () => {
		const { name } = await registerGateway(fixture().server, 'opennds', { loginHost: '10.0.0.1', router });
		const waits = `openNDS (${name}) cannot limit this yet. It needs openNDS 10 and the script of its configuration.`;
		expect(await reasons(LIMITED)).toEqual({ down: waits, data: waits });
		const asks = `update gateways set settings = json_set(settings, '$.binauthLimits', json('true')) where name = ?`;
		await fixture().sql.run(asks, name);
		expect(await reasons(LIMITED)).toEqual({
			data: `openNDS (${name}) limits data for 1 device only. Enter 1 for the devices at a time.`
		});
	});

	it.each<[string, AccessKind, string]>([
		[
			'its address',
			'portal_login',
			'cannot limit data yet. Ask the administrator to register its address (--nas).'
		],
		['another access', 'wpa_enterprise', 'cannot limit this with the access “Wi‑Fi username and password”.']
	])('says that a MikroTik by RADIUS needs %s', async (_what, access, reason) => {
		const { name } = await registerRadius(fixture(), { kind: 'mikrotik', access, router });
		expect((await reasons({ data: '1' }))['data']).toBe(`MikroTik hotspot (${name}) ${reason}`);
	});
});

it('rows are added, moved and deleted without saving', async () => {
	const rows = [HALF, DAY, { ...EMPTY, name: 'Week' }];
	const prices = async (button: string) => {
		const { html } = await owner.post(path(), form(button, rows));
		return [...html.matchAll(/name="price-\d"[^>]*?value="([^"]*)"/g)].map(([, value]) => value);
	};
	expect(await prices('add')).toEqual(['200', '1,000', '', '']);
	expect(await prices('raise-1')).toEqual(['1,000', '200', '']);
	expect(await prices('lower-1')).toEqual(['200', '', '1,000']);
	expect(await prices('delete-0')).toEqual(['1,000', '']);
	expect(await prices('delete-7')).toEqual(['200', '1,000', '']);
	expect(await offers()).toEqual([]);
});

it('offers are copied to the chosen routers; each is checked on its own', async () => {
	const free = await addRouter(fixture(), owner.accountId, { name: 'Market' });
	const shared = await addRouter(fixture(), owner.accountId, {
		name: 'Café',
		access_kind: 'shared_password'
	});
	const left = await addRouter(fixture(), owner.accountId, { name: 'Station' });
	await save([HALF, DAY]);
	const foreign = 3;
	const before = await offers(foreign);
	const { text } = await owner.post(path(), {
		...{ do: 'copy', router: [String(free), String(shared), String(foreign)] }
	});
	expect(text).toContain('Market: copied.');
	expect(text).toContain(
		'Café: not copied. Everyone has the same password here, so devices cannot be limited.'
	);
	expect(await offers(free)).toEqual(SAVED);
	expect([await offers(shared), await offers(left), await offers(foreign)]).toEqual([[], [], before]);
});

describe('a CSV file', () => {
	const read = async (csv: string | Uint8Array<ArrayBuffer>, language = '') => {
		const body = new FormData();
		body.set('do', 'file');
		body.set('file', new File([csv], 'offers.csv', { type: 'text/csv' }));
		const response = await owner.raw(language + path(), {
			...{ method: 'POST', body, headers: { origin: fixture().server.url } }
		});
		const html = await response.text();
		return { path: path(), status: response.status, html, text: html, headers: response.headers };
	};

	it('is shown in the form, to be checked before it is saved', async () => {
		const page = await read('name,duration,price,days\nDay,1d,1000,mon tue\n');
		expect(page.status).toBe(200);
		expect([fieldValue(page, 'name-0'), fieldValue(page, 'price-0')]).toEqual(['Day', '1000']);
		expect(page.html.match(/name="days-0"[^>]*checked/g)).toHaveLength(2);
		expect(await offers()).toEqual([]);
	});

	it('is refused with line and column', async () => {
		const page = await read('name,duration,price\nDay,1d,1000\nWeek,seven,x\n');
		expect(page.status).toBe(400);
		expect(alertOf(page)).toMatch(/Line 3, duration: .* Line 3, price: /);
	});

	const HEADER = 'name,duration,price,days,active,speed_down_kbps,data_limit_mb';
	it.each([
		['', 'La première ligne doit nommer ces colonnes'],
		['name,price\nDay,1\n', 'La première ligne doit nommer ces colonnes'],
		['name,duration,price,colour\nDay,1d,1,red\n', 'La première ligne doit nommer ces colonnes'],
		[Uint8Array.of(0xe9, 0x0a), 'Enregistrez le fichier en CSV et en UTF-8.'],
		['name,duration,price\nDay,"1d,1\n', 'La ligne 2 est illisible.'],
		['name,duration,price\nDay,1d,1\nWeek,7d\n', 'La ligne 3 est illisible.'],
		[`${HEADER}\n,1d,1000,,,,\n`, 'Ligne 2, name : '],
		[`${HEADER}\nDay,x,1000,,,,\n`, 'Ligne 2, duration : Choisissez'],
		[`${HEADER}\nDay,1d,x,,,,\n`, 'Ligne 2, price : '],
		[`${HEADER}\nDay,1d,1000,soon,,,\n`, 'Ligne 2, days : Utilisez des jours comme mon tue'],
		[`${HEADER}\nDay,1d,1000,,oui,,\n`, 'Ligne 2, active : Utilisez yes ou no.'],
		[`${HEADER}\nDay,1d,1000,,,x,y\n`, 'Ligne 2, speed_down_kbps : '],
		[`${HEADER}\n${'Day,1d,1000,,,,\n'.repeat(21)}`, 'Un routeur vend 20 offres au plus.']
	])('is refused in the language of the page: %j', async (csv, text) => {
		const page = await read(csv, '/fr');
		expect(page.status).toBe(400);
		const plain = alertOf(page).replace(/[\u2068\u2069]/g, '');
		expect(plain).toContain(text);
		expect(plain).not.toMatch(/\b(Use|Line|file|column|offers|must)\b/);
	});
});

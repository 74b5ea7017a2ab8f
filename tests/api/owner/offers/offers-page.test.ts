/** The owner's page of offers: one form without script, and nothing typed is lost. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AccessKind } from '../../../../src/lib/domain/wifi.ts';
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

	it('is saved by one press, also a double one, and buyers see it', async () => {
		const empty = await owner.get(path());
		expect(empty.html.match(/name="price-\d"/g)).toHaveLength(5);
		const done = await save([HALF, DAY, EMPTY]);
		expect([done.path, done.text]).toEqual([
			`${path()}?done`,
			expect.stringContaining('The offers are saved.')
		]);
		expect(await offers()).toEqual(SAVED);
		expect((await owner.get(`/owner/routers/${router}`)).text).toMatch(/1 day UGX 1,000/);
		expect((await save([HALF, DAY, EMPTY])).path).toBe(`${path()}?done`);
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
		['a missing price', { ...HALF, price: '' }, 'price', 'Enter the price as a number, such as 500.'],
		['eleven devices', { ...HALF, devices: '11' }, 'devices', 'Use a number from 1 to 10.'],
		['a speed that nothing holds', { ...HALF, down: '5' }, 'down', 'This router has no gateway'],
		['a speed that can mean two numbers', { ...HALF, down: '1.5.0' }, 'down', 'Use a number above 0'],
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
		// Numbers as this page writes them: a comma groups, a point begins the decimals, and one decimal may follow either.
		const limits = { devices: '1', down: '1.500', up: '1,5', data: '1,000' };
		await save([{ ...DAY, ...limits }]);
		expect((await fixture().api.getRouter(router)).offers).toMatchObject([
			{ speed_down_kbps: 1_500, speed_up_kbps: 1_500, data_limit_mb: 1_000_000 }
		]);
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

it('rows are added and deleted without saving', async () => {
	const rows = [HALF, DAY, { ...EMPTY, name: 'Week' }];
	const prices = async (button: string) => {
		const { html } = await owner.post(path(), form(button, rows));
		return [...html.matchAll(/name="price-\d"[^>]*?value="([^"]*)"/g)].map(([, value]) => value);
	};
	expect(await prices('add')).toEqual(['200', '1,000', '', '']);
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

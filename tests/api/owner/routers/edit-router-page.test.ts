/** A router's owner changes its name, place and network, and how buyers connect. */
import { beforeEach, describe, expect, it } from 'vitest';
import { numberEnding } from '../../../support/api/api.ts';
import { registerRadius } from '../../../support/gateways/gateways.ts';
import { fieldValue } from '../../../support/pages/browsing.ts';
import { addRouter, alertOf, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

const fixture = useFixture({ database: 'sqlite' });
let owner: Owner;
let router: number;

beforeEach(async () => {
	owner = await newOwner(fixture());
	router = await addRouter(fixture(), owner.accountId, { name: 'Kiosk', address: null });
});

const rowOf = async () => (await fixture().sql.all('select * from routers where id = ?', router))[0] ?? {};
const entries = async () =>
	(await fixture().sql.all("select * from audit_log where action like 'router.%' order by id"))
		.map(({ actor, action, before, after }) => ({
			...{ actor, action },
			...{ before: JSON.parse(String(before)), after: JSON.parse(String(after)) }
		}))
		.filter(({ after }) => after.router_id === router);

describe('the edit page', () => {
	const path = () => `/owner/routers/${router}/edit?/details`;
	const FIELDS = {
		...{ name: 'Café Owino', address: '12 Market Street', ssid: 'OWINO' },
		...{ lat: '-0.31', lon: '32.58' }
	};
	const SAVED = { ...FIELDS, lat: -0.31, lon: 32.58 };

	it('shows the values, saves new ones, and records who changed what', async () => {
		const page = await owner.get(path());
		expect([fieldValue(page, 'name'), fieldValue(page, 'address')]).toEqual(['Kiosk', '']);
		const before = await rowOf();
		const done = await owner.post(path(), FIELDS);
		expect([done.path, done.text]).toEqual([
			`/owner/routers/${router}?done=edit`,
			expect.stringContaining('The router is saved.')
		]);
		expect(await rowOf()).toEqual({ ...before, ...SAVED, updated_at: expect.any(Number) });
		const { name, address, ssid, lat, lon } = before;
		expect(await entries()).toEqual([
			{
				...{ actor: `account ${owner.accountId}`, action: 'router.changed' },
				before: { router_id: router, name, address, ssid, lat, lon },
				after: { router_id: router, ...SAVED }
			}
		]);
		expect(await fixture().api.getRouter(router)).toMatchObject(SAVED);
		// Sent twice it is one change.
		await owner.post(path(), FIELDS);
		expect(await entries()).toHaveLength(1);
	});

	it('gives a new name of the network to those who are paid, with the code that joins it', async () => {
		const { session } = await fixture().buy({ router_id: router });
		await owner.post(path(), FIELDS);
		expect(await fixture().api.getSession(session.id)).toMatchObject({
			...{ status: 'active', ssid: 'OWINO' },
			access: { qr: expect.stringContaining('S:OWINO;') }
		});
	});

	it.each<[string, Partial<typeof FIELDS>, string]>([
		['an empty name', { name: ' ' }, 'Enter a name.'],
		['a name that turns the text around', { name: 'Caf\u202e3/r/' }, 'invisible characters'],
		['an address with a hidden blank', { address: 'Mar\u200bket' }, 'invisible characters'],
		['a long address', { address: 'x'.repeat(201) }, 'Use at most 200 characters.'],
		['a missing network', { ssid: '' }, 'Enter the name of the Wi‑Fi.'],
		['a long network', { ssid: 'é'.repeat(17) }, 'A Wi‑Fi name has at most 32'],
		['a longitude that is no number', { lon: 'east' }, 'Use a number from −180 to 180']
	])('says beside the field why it refuses %s, and keeps what was typed', async (_what, wrong, reason) => {
		const before = await rowOf();
		const page = await owner.post(path(), { ...FIELDS, ...wrong });
		expect([page.status, alertOf(page)]).toEqual([
			400,
			'Correct the marked fields. Nothing has changed yet.'
		]);
		const [[field, typed] = ['', '']] = Object.entries(wrong);
		expect(new RegExp(`id="${field}-error"[^>]*>([^<]*)`).exec(page.html)?.[1]).toContain(reason);
		expect(fieldValue(page, field)).toBe(typed);
		expect(await rowOf()).toEqual(before);
		expect(await entries()).toEqual([]);
	});
});

describe('a network name', () => {
	const path = () => `/owner/routers/${router}/edit?/details`;
	/** Changes these fields of the page as it is now. */
	async function save(change: Record<string, string>) {
		const page = await owner.get(path());
		const names = ['name', 'address', 'ssid', 'lat', 'lon'];
		const shown = Object.fromEntries(names.map((name) => [name, fieldValue(page, name)]));
		const was = Object.fromEntries(names.map((name) => [`was-${name}`, fieldValue(page, `was-${name}`)]));
		await owner.post(path(), { ...shown, ...was, ...change });
	}

	it.each([
		['blanks at its ends', ' Cafe  Guest '],
		['characters that codes escape', 'a;b,c:d"e\\ ']
	])('with %s is kept byte for byte, from the form to the API and the code', async (_what, ssid) => {
		const { session } = await fixture().buy({ router_id: router });
		await save({ ssid });
		expect(await rowOf()).toMatchObject({ ssid, hidden: 0 });
		expect(fieldValue(await owner.get(path()), 'ssid')).toBe(ssid);
		expect(await fixture().api.getRouter(router)).toMatchObject({ ssid, hidden: false });
		const { access, ssid: sold } = await fixture().api.getSession(session.id);
		expect(sold).toBe(ssid);
		expect(access.qr).toContain(`;S:${ssid.replace(/[\\;,:"]/g, '\\$&')};P:`);
	});

	it('is told to phones as hidden while the box is ticked', async () => {
		const { session } = await fixture().buy({ router_id: router });
		const qr = async () => (await fixture().api.getSession(session.id)).access.qr;
		const isTicked = async () => /name="hidden" value="yes" checked/.test((await owner.get(path())).html);
		expect([await isTicked(), await qr()]).toEqual([false, expect.not.stringContaining('H:')]);
		await save({ hidden: 'yes', 'was-hidden': 'no' });
		expect(await fixture().api.getRouter(router)).toMatchObject({ hidden: true });
		expect([await isTicked(), await qr()]).toEqual([true, expect.stringContaining(';H:true;P:')]);
		// Another field is saved by a page that shows it ticked, and by one that has no box.
		await save({ name: 'A', hidden: 'yes', 'was-hidden': 'yes' });
		expect(await rowOf()).toMatchObject({ name: 'A', hidden: 1 });
		await save({ name: 'B' });
		expect(await rowOf()).toMatchObject({ name: 'B', hidden: 1 });
		await save({ 'was-hidden': 'yes' });
		expect(await rowOf()).toMatchObject({ hidden: 0 });
		expect((await entries()).map(({ after }) => after.hidden)).toEqual([1, undefined, undefined, 0]);
	});
});

describe('the page of the access', () => {
	const path = () => `/owner/routers/${router}/edit?/access`;
	const choices = async () =>
		[...(await owner.get(path())).html.matchAll(/name="access" value="(\w+ \w+)"/g)].map(
			([, value]) => value
		);

	/** As the form that is open now. */
	const save = async (typed: Record<string, string>) =>
		owner.post(path(), { from: fieldValue(await owner.get(path()), 'from'), ...typed });

	it('without a gateway offers every kind; an open network has no password', async () => {
		expect(await choices()).toEqual([
			...['wpa_personal_per_client wpa', 'wpa_enterprise wpa'],
			...['portal_login nopass', 'portal_login wpa', 'shared_password wpa']
		]);
		const typed = { access: 'portal_login nopass', password: 'not of this network' };
		const done = await save(typed);
		expect(done.text).toContain('The access for buyers is saved.');
		const open = { access_kind: 'portal_login', security: 'nopass' };
		expect(await rowOf()).toMatchObject({ ...open, network_password_sealed: null });
		expect(await entries()).toEqual([
			{
				...{ actor: `account ${owner.accountId}`, action: 'router.access_changed' },
				before: { router_id: router, access_kind: 'wpa_personal_per_client', security: 'wpa' },
				after: { router_id: router, ...open }
			}
		]);
		await save(typed);
		expect(await entries()).toHaveLength(1);
		await save({ access: 'wpa_enterprise wpa', password: '' });
		expect(await rowOf()).toMatchObject({ access_kind: 'wpa_enterprise', security: 'wpa' });
	});

	it('asks for the password that all buyers get, and keeps it out of the audit log', async () => {
		const access = 'shared_password wpa';
		for (const [password, reason] of [
			['', 'Enter the Wi‑Fi password that buyers get.'],
			['short', 'Use 8 to 63 characters.']
		] as const) {
			const page = await save({ access, password });
			expect([page.status, alertOf(page)]).toEqual([400, reason]);
			expect(page.html).toMatch(/value="shared_password wpa"[^>]* checked/);
		}
		expect(await entries()).toEqual([]);
		await save({ access, password: 'the-owners-own' });
		expect(await fixture().api.getRouter(router)).toMatchObject({
			...{ access_kind: 'shared_password', status: 'online' }
		});
		const [entry] = await entries();
		expect(entry?.after).toMatchObject({ network_password: 'changed' });
		expect(JSON.stringify(entry)).not.toContain('the-owners-own');
		// An empty field keeps it.
		await save({ access, password: '' });
		expect(await fixture().api.getRouter(router)).toMatchObject({ status: 'online' });
		expect(await entries()).toHaveLength(1);
	});

	it('does not change back what somebody else has changed since the form was opened', async () => {
		const opened = { from: fieldValue(await owner.get(path()), 'from'), password: '' };
		await save({ access: 'portal_login nopass', password: '' });
		const stale = { ...opened, access: 'wpa_enterprise wpa' };
		const page = await owner.post(path(), stale);
		expect([page.status, alertOf(page)]).toEqual([
			409,
			'Somebody else changed the access. Check your choice, then save again to replace theirs.'
		]);
		expect(page.html).toMatch(/value="wpa_enterprise wpa"[^>]* checked/);
		expect(await rowOf()).toMatchObject({ access_kind: 'portal_login', security: 'nopass' });
		await owner.post(path(), { ...stale, from: fieldValue(page, 'from') });
		expect(await rowOf()).toMatchObject({ access_kind: 'wpa_enterprise', security: 'wpa' });
	});

	const orderShared = async () => {
		const { api } = fixture();
		await save({ access: 'shared_password wpa', password: 'the-owners-own' });
		const [paid, unpaid] = [
			await api.createSession({ router_id: router, phone: numberEnding('007') }),
			await api.createSession({ router_id: router })
		];
		return { paid, unpaid, payment: await api.pay(paid) };
	};

	it('a payment on its way buys the password that the order promised', async () => {
		const { api, decided } = fixture();
		const { paid, unpaid, payment } = await orderShared();
		await save({ access: 'wpa_personal_per_client wpa', password: '' });
		await decided(payment);
		expect(await api.getSession(paid.id)).toMatchObject({ status: 'active', password: 'the-owners-own' });
		await decided(await api.pay(unpaid));
		expect(await api.getSession(unpaid.id)).toMatchObject({ password: 'the-owners-own' });
		// It may not work any more, so new buyers do not get it.
		const again = await save({ access: 'shared_password wpa', password: '' });
		expect([again.status, alertOf(again)]).toEqual([400, 'Enter the Wi‑Fi password that buyers get.']);
	});

	it('where no password could let the buyer in, nothing is charged, and what was paid is refunded', async () => {
		const { api } = fixture();
		const { paid, unpaid, payment } = await orderShared();
		await save({ access: 'portal_login nopass', password: '' });
		await eventually(
			'the money is returned',
			async () => (await api.getPayment(payment.id)).status === 'refunded'
		);
		expect(await api.getPayment(payment.id)).toMatchObject({ refund_reason: 'provisioning_failed' });
		const cancelled = { status: 'cancelled', status_reason: 'provisioning_failed' };
		expect(await api.getSession(paid.id)).toMatchObject(cancelled);
		const body = { session_id: unpaid.id, amount: unpaid.amount, phone: unpaid.phone };
		await api.refused('400 router_unavailable', 'POST', '/v1/payments/mobile-money', { body });
	});

	it('offers and takes only what the gateways hold', async () => {
		await registerRadius(fixture(), { kind: 'mikrotik', access: 'portal_login', router });
		expect(await choices()).toEqual(['portal_login nopass', 'portal_login wpa']);
		const before = await rowOf();
		for (const access of ['wpa_enterprise wpa', 'shared_password wpa', 'portal_login', '']) {
			const page = await save({ access, password: 'long enough' });
			expect([page.status, alertOf(page)]).toEqual([
				400,
				expect.stringContaining('The gateways of this router')
			]);
		}
		expect(await rowOf()).toEqual(before);
	});

	it('leaves an access that an administrator has confirmed as it is, or shares the owner’s password', async () => {
		await fixture().sql.run('update routers set access_confirmed_at = 1 where id = ?', router);
		expect(await choices()).toEqual(['wpa_personal_per_client wpa', 'shared_password wpa']);
		expect((await save({ access: 'portal_login wpa' })).status).toBe(400);
	});
});

it('the list and the page say why a router does not sell', async () => {
	// The check each minute finds that no gateway of this router is silent.
	await fixture().sql.run(
		"update jobs set run_at = run_at + 600000, wakes = wakes + 1 where kind = 'gateways.check'"
	);
	const states: [Record<string, string | number>, string, string][] = [
		[{ disabled_at: 1 }, 'disabled', 'Only the administrator can enable it.'],
		[{ disabled_at: null as never, status: 'offline' }, 'closed', 'Ask the administrator to open it'],
		[
			{ status: 'online', access_kind: 'shared_password' },
			'Wi‑Fi password missing',
			'Airtill does not know the password yet'
		],
		[
			{ unresponsive_since: Date.UTC(2026, 10, 20, 9) },
			'no response since 20 Nov',
			'has not responded since 20 Nov'
		],
		[{ unresponsive_since: null as never, access_kind: 'portal_login' }, 'online', 'Edit the router']
	];
	for (const [columns, label, text] of states) {
		for (const [name, value] of Object.entries(columns)) {
			await fixture().sql.run(`update routers set ${name} = ? where id = ?`, value, router);
		}
		expect((await owner.get('/owner/routers')).text).toContain(label);
		const page = await owner.get(`/owner/routers/${router}`);
		expect(page.text).toContain(label);
		expect(page.text).toContain(text);
	}
});

/** Who may do what on the owner pages: each place and form of the table of roles, for each kind of person. */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { OWNER_ROUTES } from '../../../src/lib/server/web/owner/roles.ts';
import { PASSWORD, browse, type Browsing } from '../../support/pages/browsing.ts';
import { addRouter, customerAt, newOwner, newStaff } from '../../support/pages/owners.ts';
import { addPrintedBatch } from '../../support/pages/vouchers.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

const EVERYBODY = 'owner manager cashier';
const MANAGERS = 'owner manager';
const OWNER = 'owner';

const NOTE = { note: 'Asked at the counter' };
const PLACE = { name: 'Mine now', address: '', ssid: 'Net', lat: '0', lon: '0' };
const ACCESS = { from: 'wpa_personal_per_client wpa', access: 'portal_login wpa' };
const NEW = { ...PLACE, price: '500', access: 'portal_login nopass' };
const OFFERS = { do: 'save', rows: '0', hourly: 'yes', version: '0' };
const BRAND = { name: 'Mine now', contact: '', which: 'none' };
const OPENNDS = { kind: 'opennds', loginHost: '192.168.1.1' };

const PAYOUTS = { method: 'bank', address: 'Bank, 12345', password: PASSWORD };

/** A page has no fields. */
type Form = readonly [roles: string, status: number, fields: Readonly<Record<string, string>> | null];

/** By place: who opens its page, and of each form: who sends it, the answer, and fields. */
const EXPECTED: Readonly<Record<string, { page?: string | Form } & Readonly<Record<string, string | Form>>>> =
	{
		'': { page: EVERYBODY },
		money: { page: MANAGERS },
		'money/statement': { page: MANAGERS },
		'money/export': { page: MANAGERS },
		'money/payouts': { page: MANAGERS, default: [OWNER, 303, PAYOUTS] },
		vouchers: {
			page: EVERYBODY,
			sell: [EVERYBODY, 400, { offer: '' }],
			mark: [EVERYBODY, 409, { number: 'V0' }],
			undo: [EVERYBODY, 409, { id: '0' }],
			close: [EVERYBODY, 400, { counted: 'much' }],
			make: [MANAGERS, 400, { offer: '' }]
		},
		'vouchers/[batch]': {
			page: MANAGERS,
			print: [MANAGERS, 400, { paper: 'a4-24' }],
			void: [MANAGERS, 303, { confirm: 'yes' }]
		},
		'vouchers/export': { page: MANAGERS },
		customers: { page: EVERYBODY },
		'customers/[session]': {
			page: EVERYBODY,
			code: [EVERYBODY, 200, NOTE],
			// No other device has entered the code.
			move: [EVERYBODY, 409, NOTE],
			extend: [EVERYBODY, 303, { ...NOTE, duration: '15m' }],
			refund: [MANAGERS, 303, NOTE],
			// The operator can refund it.
			'by-hand': [OWNER, 409, NOTE],
			end: [EVERYBODY, 303, NOTE]
		},
		routers: { page: MANAGERS },
		'routers/new': { page: MANAGERS, default: [MANAGERS, 303, NEW] },
		'routers/[router]': {
			page: MANAGERS,
			price: [MANAGERS, 303, { price: '600', from: '500' }],
			sales: [MANAGERS, 303, { do: 'reopen' }]
		},
		'routers/[router]/edit': {
			page: MANAGERS,
			details: [MANAGERS, 303, PLACE],
			access: [MANAGERS, 303, ACCESS]
		},
		'routers/[router]/offers': { page: MANAGERS, default: [MANAGERS, 303, OFFERS] },
		'routers/[router]/gateway': { page: MANAGERS, default: [OWNER, 303, OPENNDS] },
		'routers/[router]/gateway/[gateway]': {
			page: MANAGERS,
			test: [MANAGERS, 200, {}],
			config: [OWNER, 200, {}],
			// Of a MikroTik that fetches.
			line: [OWNER, 404, {}],
			change: [OWNER, 303, { loginHost: '192.168.1.2' }],
			rotate: [OWNER, 303, {}],
			remove: [OWNER, 303, {}]
		},
		settings: {
			page: EVERYBODY,
			password: [EVERYBODY, 400, { wanted: 'short' }],
			sessions: [EVERYBODY, 303, {}],
			factor: [EVERYBODY, 400, { password: 'not this one' }],
			confirm: [EVERYBODY, 400, { uri: '', code: '123456' }],
			stop: [EVERYBODY, 400, { password: 'not this one' }],
			brand: [MANAGERS, 303, BRAND],
			alerts: [OWNER, 303, { do: 'remove', channel: 'email' }],
			invite: [OWNER, 200, { email: 'new@staff.example', role: 'cashier' }],
			again: [OWNER, 409, { id: '0' }],
			withdraw: [OWNER, 409, { id: '0' }],
			role: [OWNER, 409, { id: '0', role: 'manager' }],
			remove: [OWNER, 409, { id: '0' }]
		}
	};

/** Change only the account of the person. */
const OF_ACCOUNT = ['password', 'sessions', 'factor', 'confirm', 'stop'];

const CASES = Object.entries(EXPECTED).flatMap(([place, actions]) =>
	Object.entries(actions).map(([action, expected]) => {
		const [roles, status, fields] = typeof expected === 'string' ? [expected, 200, null] : expected;
		return { place, action, roles: roles.split(' '), status, fields };
	})
);

it('every place and form of the table is here', () => {
	const named = (table: object) =>
		Object.entries(table).flatMap(([place, actions]) =>
			Object.keys(actions as object).map((action) => `${place} ${action}`)
		);
	expect(named(EXPECTED).sort()).toEqual(named(OWNER_ROUTES).sort());
});

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	const people = new Map<string, Browsing>();
	let router: number;
	let hotspot: number;
	let gateway: number;
	let batch: number;
	let session: number;
	let owner: number;

	beforeAll(async () => {
		const own = await newOwner(fixture());
		const other = await newOwner(fixture());
		owner = own.accountId;
		router = await addRouter(fixture(), owner);
		hotspot = await addRouter(fixture(), owner, { access_kind: 'portal_login', security: 'wpa' });
		await own.post(`/owner/routers/${hotspot}/gateway`, { ...OPENNDS, key: 'abcdefgh' });
		gateway = await fixture().sql.count('select max(id) from gateways where router_id = ?', hotspot);
		({ session } = await customerAt(fixture(), router));
		batch = await addPrintedBatch(fixture().sql, owner, router);
		people.set('owner', own);
		for (const role of ['manager', 'cashier'] as const) {
			people.set(role, await newStaff(fixture(), own, role));
			people.set(`other ${role}`, await newStaff(fixture(), other, role));
		}
		people.set('other owner', other);
		people.set('other administrator', await newOwner(fixture(), 'admin'));
		people.set('developer', await newOwner(fixture(), 'app'));
		people.set('nobody', browse(fixture().server.url));
	});

	const addressOf = (place: string, action: string) => {
		const ofGateway = /gateway/.test(place) || action === 'access';
		const path = place
			.replace('[router]', String(ofGateway ? hotspot : router))
			.replace('[gateway]', String(gateway))
			.replace('[batch]', String(batch))
			.replace('[session]', String(session));
		const named = action === 'page' || action === 'default' ? '' : `?/${action}`;
		return `/owner${path === '' ? '' : '/'}${path}${named}`;
	};

	async function send(name: string, { place, action, fields }: (typeof CASES)[number]): Promise<Response> {
		const person = people.get(name);
		if (!person) throw new Error(`Nobody is called ${name}`);
		const at = addressOf(place, action);
		if (fields === null) return person.raw(at);
		const form = randomBytes(18).toString('base64url');
		const body = new URLSearchParams({ ...fields, form });
		return person.raw(at, { method: 'POST', body, headers: { origin: fixture().server.url } });
	}

	/** Everything that forms change, without what checks of gateways note. */
	const stateOf = () =>
		Promise.all([
			fixture().sql.all(`
				select id, name, address, ssid, security, lat, lon, price_minor, offers, hourly, access_kind,
					network_password_sealed, access_confirmed_at, disabled_at, paused_until, opening_hours, gives_time_back
				from routers order by id`),
			fixture().sql.all(`
				select id, router_id, kind, name, key_hash, login_hosts, secret_sealed, settings, credentials_sealed
				from gateways order by id`),
			fixture().sql.all('select account_id, name, updated_by from brands order by account_id'),
			fixture().sql.all('select * from accounts order by id'),
			fixture().sql.all('select id, status, expires_at from sessions order by id'),
			fixture().sql.all('select id, status, applied from payments order by id'),
			fixture().sql.all('select * from alert_channels order by account_id, channel'),
			fixture().sql.all('select * from payout_destinations order by id'),
			...['audit_log', 'refunds', 'extra_time', 'offer_changes', 'price_changes', 'vouchers'].map((table) =>
				fixture().sql.count(`select count(*) from ${table}`)
			)
		]);

	const isOfObject = (place: string) => place.includes('[');

	/** The answer to people who must not: it is stated here, not read from the table. */
	function refusalOf(name: string, { place, roles, fields }: (typeof CASES)[number]): number | null {
		// Forms come back, to be sent again, except for those with a secret.
		const hasSecret = ['password', 'wanted', 'code'].some((field) => fields && field in fields);
		if (name === 'nobody') return fields === null || hasSecret ? 303 : 401;
		if (name === 'developer') return 403;
		// An administrator has routers as an owner has.
		const [role = '', other] = name.replace('administrator', 'owner').split(' ').toReversed();
		if (!roles.includes(role)) return 403;
		if (other !== undefined && isOfObject(place)) return 404;
		return other !== undefined && fields !== null ? -1 : null;
	}

	const NAMES = [
		...['owner', 'manager', 'cashier', 'other owner', 'other manager', 'other cashier'],
		...['other administrator', 'developer', 'nobody']
	];

	it.each(NAMES.slice(1))('%s: is refused what the person may not do, and nothing changes', async (name) => {
		const before = await stateOf();
		let count = 0;
		for (const one of CASES) {
			const refusal = refusalOf(name, one);
			// Forms of the other owner's own account change that one: they are no refusals.
			if (refusal === null || refusal === -1) continue;
			const answer = await send(name, one);
			expect([`${one.place} ${one.action}`, answer.status]).toEqual([`${one.place} ${one.action}`, refusal]);
			if (refusal === 303) expect(answer.headers.get('location')).toMatch(/^\/owner\/sign-in/);
			count += 1;
		}
		expect(count).toBeGreaterThan(0);
		expect(await stateOf()).toEqual(before);
	});

	const setStatus = (status: string) =>
		fixture().sql.run('update accounts set status = ? where id = ?', status, owner);

	it.each(['owner', 'manager', 'cashier'])(
		'%s of a suspended owner sees pages, and changes only the own password',
		async (name) => {
			await setStatus('suspended');
			const before = await stateOf();
			for (const one of CASES) {
				if (refusalOf(name, one) !== null) continue;
				const isOwnAccount = one.place === 'settings' && OF_ACCOUNT.includes(one.action);
				const expected = one.fields === null || isOwnAccount ? one.status : 403;
				expect([one.place, one.action, (await send(name, one)).status]).toEqual([
					...[one.place, one.action, expected]
				]);
			}
			expect(await stateOf()).toEqual(before);
			await setStatus('active');
		}
	);

	it.each(['other owner', 'other manager', 'other cashier', 'other administrator'])(
		'%s sees pages of an own account',
		async (name) => {
			for (const one of CASES) {
				if (refusalOf(name, one) === null)
					expect([one.place, (await send(name, one)).status]).toEqual([one.place, 200]);
			}
		}
	);

	it.each(['cashier', 'manager', 'owner'])('%s does everything else', async (name) => {
		({ session } = await customerAt(fixture(), router));
		batch = await addPrintedBatch(fixture().sql, owner, router);
		// Pages first: forms end the purchase.
		const pages = CASES.filter(({ fields }) => fields === null);
		const forms = CASES.filter(({ fields }) => fields !== null);
		for (const one of [...pages, ...forms]) {
			if (refusalOf(name, one) !== null) continue;
			const answer = await send(name, one);
			const status = one.action === 'end' && name !== 'cashier' ? 409 : one.status;
			expect([one.place, one.action, answer.status]).toEqual([one.place, one.action, status]);
			if (answer.status === 303) expect(answer.headers.get('location')).not.toContain('sign-in');
		}
	});
});

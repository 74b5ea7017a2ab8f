/** Only its owner and administrators see and change a router on the owner pages. */
import { beforeAll, describe, expect, it } from 'vitest';
import { browse, type Browsing, type Fields } from '../../support/pages/browsing.ts';
import { addRouter, newOwner } from '../../support/pages/owners.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

const PLACE = { name: 'Mine now', address: '', ssid: 'Net', lat: '0', lon: '0' };

/** [page of the router, a form that its owner may send] */
const FORMS: readonly (readonly [string, Fields])[] = [
	['edit', PLACE],
	['sales', { do: 'pause' }],
	['sales', { do: 'disable' }],
	['access', { access: 'wpa_enterprise wpa' }],
	['price', { price: '1', from: '500' }],
	['offers', { do: 'save', rows: '0', hourly: 'yes', version: '0' }],
	['brand', { name: 'Mine now', contact: '', which: 'none' }]
];

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let router: number;
	const people = new Map<string, Browsing>();

	beforeAll(async () => {
		const owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId);
		people.set('the owner', owner);
		people.set('signed out', browse(fixture().server.url));
		people.set('another owner', await newOwner(fixture()));
		people.set('a developer', await newOwner(fixture(), 'app'));
	});

	const stateOf = async () => ({
		router: await fixture().sql.all('select * from routers where id = ?', router),
		brands: await fixture().sql.all("select * from brands where subject = 'router ' || ?", router),
		audit: await fixture().sql.count('select count(*) from audit_log')
	});

	/** [person, status of a page, status of a form] */
	const REFUSED = [
		['signed out', 303, 303],
		['another owner', 404, 404],
		['a developer', 403, 403],
		['the owner, suspended', 200, 403]
	] as const;

	describe.each(REFUSED)('%s', (name, page, form) => {
		it.each(FORMS)(
			`gets ${page} from a page of a router and ${form} from its form (%s)`,
			async (path, fields) => {
				const isSuspended = name === 'the owner, suspended';
				const person = people.get(isSuspended ? 'the owner' : name);
				if (isSuspended) await setStatus('suspended');
				const before = await stateOf();
				const at = `/owner/routers/${router}/${path}`;
				const shown = await person?.raw(at);
				const sent = await person?.raw(at, {
					method: 'POST',
					body: new URLSearchParams(fields as Record<string, string>),
					headers: { origin: fixture().server.url }
				});
				expect([shown?.status, sent?.status]).toEqual([page, form]);
				if (page === 303) expect(shown?.headers.get('location')).toMatch(/^\/owner\/sign-in/);
				expect(await stateOf()).toEqual(before);
				if (isSuspended) await setStatus('active');
			}
		);
	});

	const setStatus = (status: string) =>
		fixture().sql.run(
			'update accounts set status = ? where id = (select owner_account_id from routers where id = ?)',
			...[status, router]
		);

	it.each(FORMS)('the owner sees the page and sends its form (%s)', async (path, fields) => {
		const owner = people.get('the owner');
		const at = `/owner/routers/${router}/${path}`;
		expect((await owner?.get(at))?.status).toBe(200);
		expect((await owner?.post(at, fields))?.status).toBe(200);
	});
});

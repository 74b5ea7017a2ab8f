/** The price of a router: PUT /v1/owner/routers/{id}/price (specification 1.10), and its page. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { formatMinor, formatReadings } from '../../../../src/lib/domain/money.ts';
import { numberEnding, type Api } from '../../../support/api/api.ts';
import { fieldValue } from '../../../support/pages/browsing.ts';
import { addRouter, alertOf, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { DATABASES, recorded, useFixture, type NewKey, runsAllOn } from '../../../support/server/fixture.ts';

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	describe('the price', () => {
		let owner: NewKey;
		let router: number;

		beforeEach(async () => {
			owner = await fixture().newKey({ role: 'owner' });
			router = await addRouter(fixture(), owner.accountId);
		});

		const pathOf = (id: number | string) => `/v1/owner/routers/${id}/price`;
		const set = (api: Api, price: unknown, id: number | string = router) =>
			api.send('PUT', pathOf(id), { body: { price } });
		const history = (id = router) =>
			fixture().sql.all(
				`select old_price_minor, new_price_minor, currency, account_id, api_key_id, changed_at
					from price_changes where router_id = ? order by id`,
				id
			);
		const keyIdOf = ({ accountId }: NewKey) =>
			fixture().sql.count('select id from api_keys where account_id = ?', accountId);

		it('is set at once, and kept with who changed it and when', async () => {
			const before = await fixture().api.getRouter(router);
			const started = fixture().server.now();
			const { status, body } = await set(owner.api, 750);
			const ended = fixture().server.now();
			const after = await fixture().api.getRouter(router);
			expect([status, body]).toEqual([200, after]);
			expect(after).toEqual({ ...before, price: 750, updated_at: after.updated_at });
			const [change, ...others] = await history();
			expect(others).toEqual([]);
			expect(change).toEqual({
				old_price_minor: 500,
				new_price_minor: 750,
				currency: 'UGX',
				account_id: owner.accountId,
				api_key_id: await keyIdOf(owner),
				changed_at: Date.parse(after.updated_at)
			});
			expect(change?.['changed_at']).toBeGreaterThanOrEqual(started);
			expect(change?.['changed_at']).toBeLessThanOrEqual(ended);
		});

		it('of ten changes at once keeps a history without a gap', async () => {
			const prices = Array.from({ length: 10 }, (_, index) => 1000 + index);
			const answers = await Promise.all(prices.map((price) => set(owner.api, price)));
			for (const { status } of answers) expect(status).toBe(200);
			const changes = await history();
			expect(changes.map((change) => change['new_price_minor']).sort()).toEqual(prices);
			let old: unknown = 500;
			for (const change of changes) {
				expect(change['old_price_minor']).toBe(old);
				old = change['new_price_minor'];
			}
			expect((await fixture().api.getRouter(router)).price).toBe(old);
		});

		if (!runsAllOn(database)) return;

		it('needs no Idempotency-Key: sent twice it is one change, and a bad key is nobody’s business', async () => {
			for (const key of ['a', 'a', 'not a key']) {
				const request = { body: { price: 650 }, headers: { 'idempotency-key': key } };
				const { status, headers } = await owner.api.send('PUT', pathOf(router), request);
				expect([status, headers.has('idempotent-replayed')]).toEqual([200, false]);
			}
			expect(await history()).toHaveLength(1);
		});

		it('is what a new order costs; open orders and running sessions keep theirs', async () => {
			const { api } = fixture();
			const { session: running } = await fixture().buy({ router_id: router });
			const open = await api.createSession({ router_id: router, phone: numberEnding('008') });
			await set(owner.api, 2000);
			expect(await api.getSession(running.id)).toMatchObject({ status: 'active', amount: 500 });
			expect(await api.getSession(open.id)).toMatchObject({ amount: 500 });
			expect(await api.getPayment((await api.pay(open)).id, 20)).toMatchObject({
				applied: true,
				amount: 500
			});
			expect(await api.createSession({ router_id: router, duration: '30m' })).toMatchObject({ amount: 1000 });
			const { data } = await api.listRouters('lat=0.3377&lon=32.5878&radius=1&limit=100');
			expect(data.find(({ id }) => id === router)?.price).toBe(2000);
		});

		it.each([1, 999_999, 1_000_000])('may be %d', async (price) => {
			expect(await set(owner.api, price)).toMatchObject({ status: 200, body: { price } });
		});

		it.each([
			[0, 'out_of_range'],
			[-0.001, 'out_of_range'],
			[1_000_001, 'out_of_range'],
			[500.5, 'invalid_format'],
			['500', 'invalid_type'],
			[null, 'invalid_type'],
			[undefined, 'required']
		])('may not be %j: %s', async (price, code) => {
			const before = await recorded(fixture());
			const request = { body: { price } };
			const path = pathOf(router);
			const { errors } = await owner.api.refused('400 validation_failed', 'PUT', path, request);
			expect(errors).toEqual([expect.objectContaining({ in: 'body', pointer: '/price', code })]);
			expect(await recorded(fixture())).toEqual(before);
		});

		it('may not be a number that JSON cannot hold, nor come with other fields', async () => {
			const path = pathOf(router);
			const infinite = { body: '{"price":1e999}' };
			expect((await owner.api.send('PUT', path, infinite)).status).toBe(400);
			const request = { body: { price: 700, currency: 'KES' } };
			const { errors } = await owner.api.refused('400 validation_failed', 'PUT', path, request);
			expect(errors).toMatchObject([{ pointer: '/currency', code: 'unknown_field' }]);
			expect(await history()).toEqual([]);
		});

		it('is changed by any owner key of that account, which is the one noted', async () => {
			const second = await fixture().newKey({ accountId: owner.accountId, role: 'owner' });
			expect((await set(second.api, 600)).status).toBe(200);
			const [change] = await history();
			const newest = await fixture().sql.count(
				'select max(id) from api_keys where account_id = ?',
				owner.accountId
			);
			expect(change).toMatchObject({ account_id: owner.accountId, api_key_id: newest });
		});

		it('is changed by an admin at any router, and the log names the admin', async () => {
			const admin = await fixture().newKey({ role: 'admin' });
			const disabled = await addRouter(fixture(), owner.accountId, { disabled_at: 1 });
			for (const id of [router, disabled]) {
				expect(await set(admin.api, 900, id)).toMatchObject({ status: 200, body: { id, price: 900 } });
				expect(await history(id)).toMatchObject([
					{ account_id: admin.accountId, api_key_id: await keyIdOf(admin) }
				]);
			}
		});

		it('of a disabled router is set by its owner; for others it is not there', async () => {
			const disabled = await addRouter(fixture(), owner.accountId, { disabled_at: 1 });
			expect((await set(owner.api, 900, disabled)).status).toBe(200);
			const { api: other } = await fixture().newKey({ role: 'owner' });
			const request = { body: { price: 1 } };
			await other.refused('404 router_not_found', 'PUT', pathOf(disabled), request);
		});

		it.each(['0', '-1', '9007199254740993'])('404 router_not_found for the router %s', async (id) => {
			for (const api of [owner.api, fixture().admin]) {
				await api.refused('404 router_not_found', 'PUT', pathOf(id), { body: { price: 1 } });
			}
		});

		it('errors in path and body are reported before the router’s owner is checked', async () => {
			const bad = { body: { price: 0 } };
			for (const id of [3, 999_999]) {
				await owner.api.refused('400 validation_failed', 'PUT', pathOf(id), bad);
				await owner.api.refused('400 validation_failed', 'PUT', pathOf(id), { body: { price: 0.5 } });
			}
			const problem = await owner.api.refused('400 validation_failed', 'PUT', pathOf('abc'), {
				body: { price: 5 }
			});
			expect(problem.errors).toMatchObject([{ in: 'path', pointer: '/id', code: 'invalid_format' }]);
		});
	});

	describe('the page of the price', () => {
		let owner: Owner;
		let router: number;
		const pathOf = () => `/owner/routers/${router}?/price`;

		beforeAll(async () => {
			owner = await newOwner(fixture());
			router = await addRouter(fixture(), owner.accountId);
		});

		it('has the price, which is changed once however often it is sent', async () => {
			const page = await owner.get(`/owner/routers/${router}`);
			expect(fieldValue(page, 'price')).toBe('500');
			const fields = { price: '1,500', from: fieldValue(page, 'from') };
			const done = await owner.post(pathOf(), fields);
			expect(done.text).toContain('The price is now UGX 1,500 an hour.');
			expect((await fixture().api.getRouter(router)).price).toBe(1500);
			const history = () =>
				fixture().sql.all('select account_id, api_key_id from price_changes where router_id = ?', router);
			expect(await history()).toEqual([{ account_id: owner.accountId, api_key_id: null }]);
			// Sent twice it is one change.
			expect((await owner.post(pathOf(), fields)).path).toBe(`/owner/routers/${router}?done=price`);
			expect(await history()).toHaveLength(1);
		});

		it('is not set over a change that its owner has not seen', async () => {
			await fixture().admin.send('PUT', `/v1/owner/routers/${router}/price`, { body: { price: 900 } });
			const page = await owner.post(pathOf(), { price: '700', from: '1500' });
			expect([page.status, alertOf(page)]).toEqual([
				409,
				'Somebody else changed the price: it is now UGX 900. Check it again.'
			]);
			expect((await fixture().api.getRouter(router)).price).toBe(900);
		});

		it('that two people change at once is set once: the other one sees an error', async () => {
			const prices = [1100, 1200, 1300, 1400, 1600, 1700];
			const { price } = await fixture().api.getRouter(router);
			const answers = await Promise.all(
				prices.map((wanted) => owner.post(pathOf(), { price: String(wanted), from: String(price) }))
			);
			expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
			const refused = answers.filter(({ status }) => status === 409);
			expect(refused).toHaveLength(prices.length - 1);
			const { price: now } = await fixture().api.getRouter(router);
			for (const page of refused) {
				expect(alertOf(page)).toContain(`it is now UGX ${now.toLocaleString('en')}`);
			}
			await fixture().admin.send('PUT', `/v1/owner/routers/${router}/price`, { body: { price: 900 } });
		});

		it.each(['', '0', '1.5', '1000001'])('may not be %j: it is said, and nothing changes', async (price) => {
			const { price: before } = await fixture().api.getRouter(router);
			const sent = await owner.post(pathOf(), { price, from: String(before) });
			expect([sent.status, alertOf(sent)]).toEqual([400, expect.stringMatching(/./)]);
			expect((await fixture().api.getRouter(router)).price).toBe(before);
		});
	});

	describe('the price in a currency with cents', () => {
		const fixture = useFixture({ database, env: { CURRENCY: 'KES', MAX_PRICE: '5000' } });

		it('has as many decimals as the currency, and the installation’s highest price', async () => {
			const { owner } = fixture();
			const path = '/v1/owner/routers/3/price';
			for (const price of [12.5, 0.01, 19.99, 5000]) {
				const { status, body } = await owner.send('PUT', path, { body: { price } });
				expect([status, (body as { price: number }).price]).toEqual([200, price]);
			}
			const minor = await fixture().sql.all('select new_price_minor from price_changes order by id');
			expect(minor.map((row) => row['new_price_minor'])).toEqual([1250, 1, 1999, 500_000]);
			for (const [price, code] of [
				[12.345, 'invalid_format'],
				[0.001, 'invalid_format'],
				[5000.01, 'out_of_range']
			] as const) {
				const { errors } = await owner.refused('400 validation_failed', 'PUT', path, { body: { price } });
				expect(errors).toMatchObject([{ pointer: '/price', code }]);
			}
			expect(await fixture().api.createSession({ duration: '15m' })).toMatchObject({ amount: 1250 });
		});

		describe('on the pages of an owner', () => {
			let owner: Owner;
			let router: number;

			beforeAll(async () => {
				owner = await newOwner(fixture());
				router = await addRouter(fixture(), owner.accountId, { price_minor: 155_050, currency: 'KES' });
			});

			/** Sends what was typed over the price that the page shows. */
			const send = async (locale: string, price: string) => {
				const path = `/${locale}/owner/routers/${router}`;
				return owner.post(`${path}?/price`, { price, from: fieldValue(await owner.get(path), 'from') });
			};
			const read = () => fixture().sql.count('select price_minor from routers where id = ?', router);

			it.each(['en', 'fr'] as const)(
				'is read in %s as it is shown; two readings are refused',
				async (locale) => {
					const shown = (minor: number) => formatMinor(minor, 'KES', locale);
					for (const minor of [5050, 155_051]) {
						const page = await send(locale, shown(minor));
						expect([page.html.includes(shown(minor)), await read()]).toEqual([true, minor]);
					}
					const page = await send(locale, '1.500');
					for (const reading of formatReadings('1.500', 'KES', locale)) expect(page.text).toContain(reading);
					expect([page.status, fieldValue(page, 'price')]).toEqual([400, '1.500']);
					expect([(await send(locale, 'USD 5')).status, await read()]).toEqual([400, 155_051]);
				}
			);

			it('of an offer is read as it is shown', async () => {
				const row = { 'name-0': 'Dia', 'count-0': '1', 'unit-0': 'd', 'active-0': 'yes', rows: '1' };
				const path = `/pt/owner/routers/${router}/offers`;
				const send = (price: string) =>
					owner.post(path, { ...row, 'price-0': price, do: 'save', hourly: 'yes', version: '0' });
				expect((await send('1.200')).text).toContain('1200 ou 1,20');
				await send('1 200,50');
				expect((await fixture().api.getRouter(router)).offers).toMatchObject([{ price: 1200.5 }]);
			});
		});
	});
});

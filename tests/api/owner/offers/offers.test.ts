/** Offers: what owners set, what routers show, and what an order buys. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { offersUpdate, ownerOfferList } from '../../../../src/lib/server/contract/offer.ts';
import { numberEnding, type Order } from '../../../support/api/api.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { useFixture } from '../../../support/server/fixture.ts';

type List = z.output<typeof ownerOfferList>;
type NewOffer = z.input<typeof offersUpdate>['offers'][number];

const DAY = { name: 'Day', duration: '1d', price: 1000, max_devices: 3 };
const HOUR = { name: 'Hour', duration: '1h', price: 400 };
const WEEK = { name: 'Week', duration: '1w', price: 5000 };

const fixture = useFixture({ database: 'sqlite' });
const path = '/v1/owner/routers/3/offers';

const put = (offers: readonly NewOffer[], more: object = {}) =>
	fixture().owner.send('PUT', path, { body: { offers, ...more } });
async function set(offers: readonly NewOffer[], more: object = {}): Promise<List> {
	const { status, body } = await put(offers, more);
	expect([status, body]).toEqual([200, body]);
	return body as List;
}
const order = (more: Partial<Order>) => fixture().api.createSession({ router_id: 3, ...more });
const refused = (code: `400 ${string}`, more: object) =>
	fixture().api.refused(code, 'POST', '/v1/sessions', {
		body: {
			...{ router_id: 3, duration: '1d', payment_method: 'mobile_money', phone: '+256772123456' },
			...more
		}
	});

beforeEach(async () => {
	await fixture().sql.run(`update routers set offers = '[]', hourly = 1 where id = 3`);
});

describe('the list', () => {
	it('is set as a whole, is shown with the router, and keeps who changed it', async () => {
		const list = await set([DAY, HOUR]);
		expect(list.data.map(({ name, price }) => [name, price])).toEqual([
			['Day', 1000],
			['Hour', 400]
		]);
		expect((await fixture().owner.send('GET', path)).body).toEqual(list);
		const { offers } = await fixture().api.getRouter(3);
		expect(offers).toEqual([
			expect.objectContaining({ ...DAY, duration_seconds: 86_400, available: true }),
			expect.objectContaining({ ...HOUR, duration_seconds: 3600, max_devices: null })
		]);
		const changes = await fixture().sql.all('select account_id, offers from offer_changes order by id');
		expect(changes.at(-1)).toMatchObject({ account_id: expect.any(Number) as number });
		expect(list.changed_at).not.toBeNull();
	});

	it('keeps the id of an offer until its terms change, and never uses an id again', async () => {
		const first = await set([DAY, HOUR]);
		const [day, hour] = first.data.map(({ id }) => id);
		const renamed = await set([HOUR, { ...DAY, name: 'One day' }]);
		expect(renamed.data.map(({ id }) => id)).toEqual([hour, day]);
		const dearer = await set([{ ...DAY, price: 1200 }]);
		const again = await set([DAY]);
		const ids = [day, hour, dearer.data[0]?.id, again.data[0]?.id];
		expect(new Set(ids).size).toBe(4);
	});

	it('is not set by an editor who has not seen the last change', async () => {
		const { version } = await set([DAY]);
		await set([DAY, HOUR], { version });
		const body = { offers: [WEEK], version };
		await fixture().owner.refused('400 offers_changed', 'PUT', path, { body });
		expect((await fixture().api.getRouter(3)).offers).toHaveLength(2);
	});

	it('that is sent again after a lost response is the same change', async () => {
		const { version } = await set([DAY]);
		const changed = await set([DAY, HOUR], { version });
		expect(await set([DAY, HOUR], { version })).toEqual(changed);
	});

	it.each<[string, NewOffer[], string, object?]>([
		['a duration outside of the router’s limits', [{ ...DAY, duration: '5w' }], '/offers/0/duration'],
		['superfluous decimals', [DAY, { ...HOUR, price: 0.5 }], '/offers/1/price'],
		['a start without an end', [{ ...DAY, from: '08:00' }], '/offers/0/until'],
		['a time that does not exist', [{ ...DAY, from: '24:00', until: '08:00' }], '/offers/0/from'],
		['eleven devices', [{ ...DAY, max_devices: 11 }], '/offers/0/max_devices'],
		['devices with decimals', [{ ...DAY, max_devices: 1.5 }], '/offers/0/max_devices'],
		['a blank name', [{ ...DAY, name: ' ' }], '/offers/0/name'],
		['a name that turns the text around', [{ ...DAY, name: 'Day \u202e005' }], '/offers/0/name'],
		['one name twice', [DAY, { ...WEEK, name: 'day' }], '/offers/1/name'],
		['the same terms twice', [DAY, { ...DAY, name: 'Other' }], '/offers/1/price'],
		['a speed that nothing limits', [{ ...DAY, speed_down_kbps: 5000 }], '/offers/0/speed_down_kbps'],
		['data that nothing limits', [{ ...DAY, data_limit_mb: 500 }], '/offers/0/data_limit_mb'],
		['offers only, but none', [], '/hourly', { hourly: false }],
		['twenty-one offers', Array.from({ length: 21 }, (_, n) => ({ ...DAY, price: n + 1 })), '/offers']
	])('names the field for %s, and changes nothing', async (_what, offers, pointer, more) => {
		const before = await set([HOUR]);
		const { status, body } = await put(offers, more);
		expect(status).toBe(400);
		expect(body).toMatchObject({ code: 'validation_failed', errors: [{ in: 'body', pointer }] });
		expect((await fixture().owner.send('GET', path)).body).toEqual(before);
	});

	it('belongs to the owner: 403 for others', async () => {
		const { api } = await fixture().newKey({ role: 'owner' });
		await api.refused('403 not_router_owner', 'GET', path);
		await api.refused('403 not_router_owner', 'PUT', path, { body: { offers: [DAY] } });
	});
});

describe('an order', () => {
	it('buys the offer that it names, with its price and limits, whatever is sold later', async () => {
		const { data } = await set([DAY, HOUR]);
		const { session } = await fixture().buy({ router_id: 3, duration: '1d', offer_id: data[0]?.id ?? 0 });
		expect(session).toMatchObject({ amount: 1000, duration_seconds: 86_400, status: 'active' });
		expect(session.offer).toEqual({
			...{ id: data[0]?.id, name: 'Day', max_devices: 3 },
			...{ speed_down_kbps: null, speed_up_kbps: null, data_limit_mb: null }
		});
		expect(session.access.max_devices).toBe(3);
		await set([{ ...DAY, price: 9000, max_devices: 1 }]);
		expect(await fixture().api.getSession(session.id)).toMatchObject({
			...{ amount: 1000, offer: session.offer },
			access: { max_devices: 3 }
		});
	});

	it('without an offer buys the cheapest one of its duration that adds no limit, else by the hour', async () => {
		const { data } = await set([
			...[HOUR, { ...DAY, price: 1500, name: 'Day A' }, { ...DAY, price: 1200, name: 'Day B' }],
			{ ...WEEK, active: false }
		]);
		expect(await order({ duration: '24h' })).toMatchObject({ amount: 1200, offer: { id: data[2]?.id } });
		expect(await order({ duration: '2h' })).toMatchObject({ amount: 1000, offer: null });
		expect(await order({ duration: '1w' })).toMatchObject({ amount: 84_000, offer: null });
	});

	it('without an offer never gets fewer devices than the router allows', async () => {
		await fixture().sql.run('update routers set max_devices = 4 where id = 3');
		await set([DAY]);
		const session = await order({ duration: '1d' });
		await fixture().sql.run('update routers set max_devices = 1 where id = 3');
		expect(session).toMatchObject({ amount: 12_000, offer: null, access: { max_devices: 4 } });
	});

	it('is refused with the list where only offers are sold and none has its duration', async () => {
		await set([DAY, HOUR], { hourly: false });
		expect((await fixture().api.getRouter(3)).hourly).toBe(false);
		const { offers } = await refused('400 duration_not_offered', { duration: '2h' });
		expect(offers).toEqual((await fixture().api.getRouter(3)).offers);
		expect(await order({ duration: '1d' })).toMatchObject({ amount: 1000 });
	});

	it('keeps the longest time at the hourly price unless the list names another', async () => {
		const longest = async () => (await fixture().api.getRouter(3)).max_duration;
		expect(await set([WEEK], { max_duration: '12h' })).toMatchObject({ max_duration: '12h' });
		await set([DAY, WEEK]);
		expect(await longest()).toBe('12h');
		expect(await order({ duration: '12h' })).toMatchObject({ amount: 6000 });
		expect(await order({ duration: '1w' })).toMatchObject({ amount: 5000 });
		await refused('400 duration_not_allowed', { duration: '13h' });
		for (const max_duration of ['31d', '14m', '1', '']) {
			const { status, body } = await put([DAY], { max_duration });
			expect([status, body]).toMatchObject([400, { errors: [{ pointer: '/max_duration' }] }]);
		}
		expect(await longest()).toBe('12h');
		await set([], { max_duration: '30d' });
	});

	it('is refused for an offer that is gone, changed, or of another duration', async () => {
		const { data } = await set([DAY, HOUR]);
		const [day, hour] = data.map(({ id }) => id);
		const { errors } = await refused('400 validation_failed', { offer_id: hour });
		expect(errors).toMatchObject([{ in: 'body', pointer: '/duration' }]);
		await set([{ ...DAY, price: 1100 }, HOUR]);
		await refused('400 offer_not_available', { offer_id: day });
		await refused('400 offer_not_available', { offer_id: 999_999 });
	});

	it('is refused outside of the hours of sale', async () => {
		const now = new Date(Date.now() + 3 * 3_600_000);
		const hour = (shift: number) =>
			new Date(now.getTime() + shift * 3_600_000).toISOString().slice(11, 14) + '00';
		const { data } = await set([
			{ ...DAY, from: hour(2), until: hour(3) },
			{ ...WEEK, from: hour(-2), until: hour(2) }
		]);
		const { offers } = await fixture().api.getRouter(3);
		expect(offers.map(({ available }) => available)).toEqual([false, true]);
		await refused('400 offer_not_available', { offer_id: data[0]?.id });
		expect(await order({ duration: '1d' })).toMatchObject({ offer: null });
		expect(await order({ duration: '1w', offer_id: data[1]?.id ?? 0 })).toMatchObject({ amount: 5000 });
	});

	it('adds time to a pass, with the larger number of devices', async () => {
		const { data } = await set([DAY, HOUR]);
		const { session } = await fixture().buy({ router_id: 3, duration: '1h' });
		const { session: added } = await fixture().buy({
			...{ router_id: 3, duration: '1d', offer_id: data[0]?.id ?? 0, extends_session_id: session.id },
			phone: numberEnding('108')
		});
		expect(added).toMatchObject({ pass_id: session.id, starts_at: session.expires_at, amount: 1000 });
		const pass = await fixture().sql.all('select max_devices from passes where id = ?', session.id);
		expect(pass).toEqual([{ max_devices: 3 }]);
	});

	it('on the page that is sent again after its offer changed leads to its purchase', async () => {
		const { data } = await set([DAY, HOUR]);
		const form = {
			...{ time: `1h 400 ${data[1]?.id}`, count: '', unit: 'm', asked: '', quoted: '' },
			...{ paymentMethod: 'mobile_money', phone: numberEnding('003'), purchase: 'offers-form-of-the-tests' }
		};
		const { url } = fixture().server;
		const first = await browse(url).post('/r/3', form);
		expect(first.path).toContain('/s/offers-form-of-the-tests');
		await set([{ ...DAY, price: 1100 }]);
		expect((await browse(url).post('/r/3', form)).path).toBe(first.path);
		const other = await browse(url).post('/r/3', { ...form, purchase: 'other-form-of-the-tests-' });
		expect(other.html).toContain('The offers have just changed.');
		const orders = 'select count(*) from sessions where phone = ?';
		expect(await fixture().sql.count(orders, form.phone)).toBe(1);
	});
});

/** Paying again for an offer: at its own price, in its own words, also when it is not sold any more. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { browse, fieldValue, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const ROUTER = 4;
const DAY = { name: 'Day', duration: '1d', price: 1000 };
const FAMILY = { name: 'Family day', duration: '1d', price: 1500, max_devices: 3 };

describe('a declined payment for an offer', () => {
	const fixture = useFixture({ database: 'sqlite' });
	let person: Browsing;

	beforeAll(() => {
		person = browse(fixture().server.url);
	});

	const ownerSets = (offers: readonly object[]) =>
		fixture().owner.send('PUT', `/v1/owner/routers/${ROUTER}/offers`, { body: { offers } });

	let path: string;
	const token = () => path.split('/').at(-1) ?? '';
	const phone = numberEnding('001');

	beforeEach(async () => {
		const { body } = await ownerSets([DAY, FAMILY]);
		const family = (body as { data: { id: number }[] }).data[1]?.id;
		const shop = await person.get(`/r/${ROUTER}`);
		const ordered = await person.post(`/r/${ROUTER}`, {
			...{ time: `1d 1500 ${family}`, paymentMethod: 'mtn_momo', phone },
			purchase: fieldValue(shop, 'purchase')
		});
		path = ordered.path;
		await shown('Payment declined, or the PIN was wrong.');
	});

	const shown = (text: string): Promise<Page> =>
		eventually(`the page says ${text}`, async () => {
			const page = await person.get(path);
			return page.text.includes(text) ? page : null;
		});
	const methods = ({ html }: Page) =>
		[...html.matchAll(/name="paymentMethod" value="(\w+)"/g)].map(([, method]) => method);
	const again = (fields: object = {}) =>
		person.post(`${path}?/retry`, { paymentMethod: 'mtn_momo', phone, quoted: '1500', ...fields });
	const atKiosk = async () =>
		(
			JSON.parse((await person.post(`/kiosk/${ROUTER}/purchase`, { token: token() })).html) as {
				again: object;
			}
		).again;
	const payments = () =>
		fixture().sql.all(
			'select amount_minor from payments where session_id = (select max(id) from sessions) order by id'
		);

	it('names that offer, its price and its payment methods, at the kiosk too', async () => {
		const page = await person.get(path);
		expect(page.text).toMatch(/Family day, 1 day, 3 devices UGX\s1,500 Try again: pay UGX\s1,500/);
		expect(methods(page)).toContain('airtel_money');
		const kiosk = { words: 'Family day, 1 day, 3 devices', amount: 1500, paymentMethod: 'mtn_momo' };
		expect(await atKiosk()).toMatchObject({ ...kiosk, methods: methods(page) });
	});

	it('keeps its price with its own payment method after the offer is gone, and says so', async () => {
		await ownerSets([DAY]);
		const page = await person.get(path);
		expect(page.text).toContain('You keep this price with MTN MoMo.');
		expect(methods(page)).toEqual(['mtn_momo']);
		expect(await atKiosk()).toMatchObject({ words: 'Family day, 1 day, 3 devices', methods: ['mtn_momo'] });

		const refused = await again({ paymentMethod: 'airtel_money' });
		expect(refused.text).toContain('You keep this price with MTN MoMo.');
		expect(await payments()).toHaveLength(1);
		await again();
		expect(await payments()).toEqual([{ amount_minor: 1500 }, { amount_minor: 1500 }]);
	});
});

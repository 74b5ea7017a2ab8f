/** The data of a pass, as its buyer reads it: at the purchase page, at the kiosk, and when it is used up. */
import { beforeAll, describe, expect, it } from 'vitest';
import { loginUser } from '../../../src/lib/domain/wifi.ts';
import { numberEnding } from '../../support/api/api.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { radiusCalls, type RadiusCalls } from '../../support/gateways/radius-calls.ts';
import { browse, fieldValue, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const ROUTER = 4;
const MB = 1_000_000;
const MINUTE = 60_000;
const WEEK = { name: 'Week', duration: '1w', price: 5000, data_limit_mb: 20_000 };

describe('a pass with 20 GB', () => {
	const fixture = useFixture({ database: 'sqlite' });
	let person: Browsing;
	let calls: RadiusCalls;
	let offer: number;

	beforeAll(async () => {
		person = browse(fixture().server.url);
		const disconnects = { nas: '127.0.0.1:9', radiusSecret: 'a-secret-of-this-nas' };
		const gateway = { kind: 'mikrotik', access: 'portal_login', router: ROUTER, ...disconnects } as const;
		calls = radiusCalls(fixture().server.url, await registerRadius(fixture(), gateway));
		const body = { offers: [WEEK, { ...WEEK, name: 'Day', duration: '1d', price: 1000 }] };
		const list = await fixture().owner.send('PUT', `/v1/owner/routers/${ROUTER}/offers`, { body });
		expect(list.status, list.text).toBe(200);
		offer = (list.body as { data: { id: number }[] }).data[0]?.id ?? 0;
	});

	/** Buys at the page. Returns its path, and a function that reports the data a device has used. */
	async function bought() {
		const purchase = fieldValue(await person.get(`/r/${ROUTER}`), 'purchase');
		const order = { time: `1w 5000 ${offer}`, paymentMethod: 'mobile_money', phone: numberEnding('008') };
		const { path } = await person.post(`/r/${ROUTER}`, { ...order, purchase });
		const page = await untilIt(path, 'Your Wi‑Fi is paid until');
		const user = loginUser(await fixture().sql.count('select max(id) from sessions'));
		const mac = '02:00:00:00:08:01';
		expect((await calls.postAuth(user, mac)).status).toBe(204);
		const use = async (megabytes: number) => {
			await fixture().server.advance(5 * MINUTE);
			await calls.account('interim', user, {
				...{ user, mac, lasted: '300', out: String((megabytes * MB) % 2 ** 32) },
				out_gigawords: String(Math.floor((megabytes * MB) / 2 ** 32))
			});
		};
		return { path, page, use };
	}

	const untilIt = (path: string, says: string): Promise<Page> =>
		eventually(`${path} says ${says}`, async () => {
			const page = await person.get(path);
			return page.text.includes(says) ? page : null;
		});
	const stateOf = async (path: string) => (await person.get(`${path}/status`)).html;

	it('shows the limit until a gateway has reported, then what is left, warns at 80 %, and ends with one plain sentence', async () => {
		const { path, page, use } = await bought();
		expect(page.html).toMatch(/<b>\W*20\sGB\W*<\/b>/);
		expect(page.text).not.toMatch(/GB of/);
		await use(7_550);
		expect((await person.get(path)).text).toMatch(/12\.4\sGB of 20\sGB left/);
		const before = await stateOf(path);

		await use(15_999);
		expect((await person.get(path)).text).not.toContain('almost used up');
		await use(16_000);
		const low = await person.get(path);
		expect(low.text).toMatch(/4\sGB of 20\sGB left.* Your data is almost used up\. Add time and data to/);
		expect(low.html).toContain(`href="${path}?more#add-time"`);
		expect((await person.get(`${path}?more`)).text).toMatch(/Day UGX\s1,000 20\sGB/);
		// An open page is loaded again when it is next seen.
		expect(await stateOf(path)).not.toBe(before);
		expect((await person.get(`${path}/kiosk`)).text).toMatch(/4\sGB of 20\sGB left/);

		await use(20_150);
		const over = await person.get(path);
		expect(over.text).toMatch(
			/All 20\sGB of your data is used up\. Your Wi‑Fi has ended\. .*Buy more time to continue\./
		);
		expect(over.text).not.toMatch(/time has ended|GB left/);
	});
});

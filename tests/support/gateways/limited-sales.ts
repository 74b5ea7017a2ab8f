/** Sells and buys offers with limits of speed and data, at gateways of each kind. */
import { expect } from 'vitest';
import { numberEnding, type Order } from '../api/api.ts';
import { browse } from '../pages/browsing.ts';
import { buyHourOn } from '../pages/splash.ts';
import { eventually, type Fixture } from '../server/fixture.ts';
import type { Registered } from './gateways.ts';
import { ndsEntry, type NdsDevice } from './opennds.ts';

export interface Limits {
	speed_down_kbps?: number;
	speed_up_kbps?: number;
	data_limit_mb?: number;
	max_devices?: number;
}

export const LOGIN_HOST = '192.168.8.1';

export function limitedSales(fixture: () => Fixture) {
	/** Sets the offers of a router: an hour with each of these limits. */
	async function setOffers(router: number, ...list: readonly Limits[]) {
		const offers = list.map((limits, n) => ({
			name: `Hour ${n}`,
			duration: '1h',
			price: 400 + n,
			...limits
		}));
		const path = `/v1/owner/routers/${router}/offers`;
		const { status, body } = await fixture().owner.send('PUT', path, { body: { offers } });
		const { data, errors } = body as { data?: { id: number }[]; errors?: { detail: string }[] };
		return { status, ids: (data ?? []).map(({ id }) => id), detail: errors?.[0]?.detail };
	}
	async function newestPass(): Promise<number> {
		const [row] = await fixture().sql.all('select * from passes order by id desc limit 1');
		return Number(row?.['id']);
	}
	/** Buys with these limits, as an offer would have set them: the portal's form buys an hour. */
	async function limited<T>(limits: Limits, work: () => Promise<T>): Promise<T> {
		const { sql } = fixture();
		const all = { speed_down_kbps: null, speed_up_kbps: null, data_limit_mb: null, ...limits };
		const change = Object.entries(all).map(([name, value]) => `${name} = ${String(value)}`);
		await sql.run(
			`create trigger limited after insert on passes begin
				update passes set ${change.join(', ')} where id = new.id; end`
		);
		try {
			return await work();
		} finally {
			await sql.run('drop trigger limited');
		}
	}
	return {
		setOffers,
		/** The same, which must succeed. @returns the ids of the offers */
		async sell(router: number, ...list: readonly Limits[]): Promise<number[]> {
			const { status, ids, detail } = await setOffers(router, ...list);
			expect([status, detail]).toEqual([200, undefined]);
			return ids;
		},
		newestPass,
		limited,
		/** Orders by the API and pays; the pass may still wait for a gateway. */
		async buy(order: Partial<Order>) {
			const { api } = fixture();
			const session = await api.createSession({ duration: '1h', phone: numberEnding('008'), ...order });
			await api.getPayment((await api.pay(session)).id, 20);
			return session;
		},
		/** A device behind an openNDS buys an hour with these limits. @returns the pass */
		buyAtNds: (gateway: Pick<Registered, 'key'>, device: NdsDevice, limits: Limits) =>
			limited(limits, async () => {
				const before = await newestPass();
				const person = browse(fixture().server.url);
				await buyHourOn(person, await person.get(ndsEntry(gateway, device, LOGIN_HOST)));
				return eventually('it is paid', async () => {
					const id = await newestPass();
					return id !== before && id;
				});
			})
	};
}

/** Time with a data limit: buyers add to it, and use it up while their money is on its way. */
import fc from 'fast-check';
import { loginUser } from '../../src/lib/domain/wifi.ts';
import { registerRadius, type RadiusGateway } from '../support/gateways/gateways.ts';
import { radiusCalls } from '../support/gateways/radius-calls.ts';
import type { Fixture } from '../support/server/fixture.ts';
import { untilQuiet } from '../torture/time.ts';
import { ByPerson, currentOrder, PAY, takePayment, type Buyer, type Real } from './buyers.ts';

/** A router that no other command uses. */
const ROUTER = 6;
const MB = 1_000_000;

export interface DataOnSale {
	offerId: number;
	gateway: RadiusGateway;
}

export async function sellData(fixture: Fixture): Promise<DataOnSale> {
	const access = { access: 'portal_login', router: ROUTER, nas: '127.0.0.1:9' } as const;
	const gateway = await registerRadius(fixture, { kind: 'mikrotik', ...access });
	const offers = [{ name: 'Day', duration: '1d', price: 400, data_limit_mb: 100 }];
	const path = `/v1/owner/routers/${ROUTER}/offers`;
	const { status, body } = await fixture.owner.send('PUT', path, { body: { offers } });
	if (status !== 200) throw new Error(`the offers are answered ${status} ${JSON.stringify(body)}`);
	return { offerId: (body as { data: { id: number }[] }).data[0]?.id ?? 0, gateway };
}

/** Buys 100 MB, added to the time that runs if there is any. The operator may take its time. */
class BuyData extends ByPerson {
	readonly afterMs: number;
	constructor(who: number, afterMs: number) {
		super(who);
		this.afterMs = afterMs;
	}
	async act(buyer: Buyer, real: Real): Promise<void> {
		const { fixture, operator, data, simulator, server } = real;
		const last = currentOrder(buyer);
		const running = last && (await fixture.api.getSession(last.sessionId));
		const isRunning = running?.status === 'active' && running.router_id === ROUTER;
		const { status, body } = await fixture.api.send('POST', '/v1/sessions', {
			body: {
				...{ router_id: ROUTER, duration: '1d', offer_id: data.offerId },
				...{ payment_method: operator.method, phone: buyer.phone },
				...(isRunning && { extends_session_id: running.id })
			}
		});
		const { id, amount, code } = Object(body) as { id: number; amount: number; code?: unknown };
		if (status !== 201) {
			// The time may have ended since it was read.
			if (code === 'session_not_extendable') return;
			throw new Error(`an order is answered ${status} ${JSON.stringify(body)}`);
		}
		const paymentIds = new Set<number>();
		buyer.orders.push({ sessionId: id, amount, deleted: null, paymentIds });
		simulator.script({ phone: buyer.phone.slice(1), times: 1 }, { afterMs: this.afterMs, guards: false });
		const order = { session_id: id, amount, phone: buyer.phone };
		takePayment(await fixture.api.send('POST', PAY, { body: order }), paymentIds);
		await untilQuiet(server, fixture.sql);
	}
	override toString = () => this.name(`buys data, paid after ${this.afterMs} ms`);
}

/** A device signs out, and its gateway reports what it used. */
class UseData extends ByPerson {
	readonly megabytes: number;
	constructor(who: number, megabytes: number) {
		super(who);
		this.megabytes = megabytes;
	}
	async act(buyer: Buyer, { fixture, server, data }: Real): Promise<void> {
		for (const { sessionId } of buyer.orders.toReversed()) {
			const { offer, starts_at: startsAt, pass_id: pass } = await fixture.api.getSession(sessionId);
			if (offer === null || startsAt === null) continue;
			const uses = (buyer.uses += 1);
			const used = (buyer.usedOf.get(pass) ?? 0) + this.megabytes;
			buyer.usedOf.set(pass, used);
			const report = { user: loginUser(pass), lasted: '1', out: String(this.megabytes * MB) };
			await radiusCalls(server.url, data.gateway).account('stop', `${buyer.phone}-${uses}`, report);
			const limit = await fixture.sql.count('select data_limit_mb from passes where id = ?', pass);
			const session = await fixture.api.getSession(sessionId);
			const what = `session ${sessionId} (${session.status} ${session.status_reason}, used ${session.data_used_mb} MB)`;
			if (session.status_reason === 'data_limit_reached' && used < limit)
				throw new Error(`${what} has ended after ${used} of ${limit} MB`);
			if (session.status === 'active' && session.data_left_mb === 0)
				throw new Error(`${what} has no data left`);
			if ((session.data_used_mb ?? 0) > used) throw new Error(`${what} has used only ${used} MB`);
			return;
		}
	}
	override toString = () => this.name(`uses ${this.megabytes} MB`);
}

/** Two of the buyers, so that each uses up what was bought. */
const who = fc.nat({ max: 1 });

const SOONER_AND_LATER = [0, 0, 0, 20_000, 5 * 60_000, 11 * 60_000, 40 * 60_000];
export const buyData = fc
	.tuple(who, fc.constantFrom(...SOONER_AND_LATER))
	.map(([index, afterMs]) => new BuyData(index, afterMs));
export const useData = fc
	.tuple(who, fc.constantFrom(60, 100))
	.map(([index, megabytes]) => new UseData(index, megabytes));

/** Calls that buyers and gateways make to a server. */
import { radiusCalls } from '../../support/gateways/radius-calls.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { buyAt } from '../../support/pages/purchase.ts';
import type { TestServer } from '../../support/server/server.ts';
import { openSql } from '../../support/database/sql.ts';
import { loginUser } from '#lib/domain/wifi.ts';
import { placeIn, type Place } from './fill.ts';
import { demoKey } from './server.ts';

/** A demo router without a gateway, whose passes start with the payment, and one for RADIUS. */
const ROUTER = 3;
const RADIUS_ROUTER = 4;

/** Devices that are online by RADIUS. */
export const DEVICES = 64;
const EVENTS = ['payment.success', 'session.created', 'session.activated'];

let phones = 0;
/** A number that pays at once (billing/operators/sandbox.ts), new for each call. */
const payingPhone = () => `+25677${String((phones += 1) % 10_000).padStart(4, '0')}008`;

export interface Bought {
	sessionId: number;
	paymentId: number;
}

/** Calls the API with a key. */
export function createBuyer(url: string, key: string) {
	const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
	async function call<T>(path: string, body?: object): Promise<T> {
		const request = body ? { method: 'POST', body: JSON.stringify(body) } : {};
		const response = await fetch(url + path, { ...request, headers });
		const text = await response.text();
		if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
		return JSON.parse(text) as T;
	}
	return {
		call,
		/** From the order until the pass runs. */
		async buy(router = ROUTER): Promise<Bought> {
			const phone = payingPhone();
			const order = { router_id: router, duration: '1h', payment_method: 'mobile_money', phone };
			const { id: sessionId, amount } = await call<{ id: number; amount: number }>('/v1/sessions', order);
			const payment = { amount, phone, session_id: sessionId };
			const { id: paymentId } = await call<{ id: number }>('/v1/payments/mobile-money', payment);
			const { status } = await call<{ status: string }>(`/v1/payments/${paymentId}/status?wait=20`);
			if (status !== 'success') throw new Error(`Payment ${paymentId} is ${status}`);
			return { sessionId, paymentId };
		}
	};
}

export type Buyers = Awaited<ReturnType<typeof createBuyers>>;

export async function createBuyers(server: TestServer, places: Record<'area' | 'density', Place>) {
	const { call, buy } = createBuyer(server.url, await demoKey(server));
	async function page(path: string): Promise<void> {
		const response = await fetch(server.url + path, { headers: { accept: 'text/html' } });
		const text = await response.text();
		if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
	}
	const bought = await buy();
	const purchasePage = await buyAt(server.url, `/r/${ROUTER}`, payingPhone());
	const sql = await openSql(server.databaseUrl);
	const gateway = await registerRadius(
		{ server, sql },
		{ kind: 'coova', access: 'portal_login', router: RADIUS_ROUTER }
	);
	await sql.close();
	const radius = radiusCalls(server.url, gateway);
	const devices: { user: string; mac: string }[] = [];
	for (let number = 1; number <= DEVICES; number += 1) {
		const user = loginUser((await buy(RADIUS_ROUTER)).sessionId);
		const mac = `02:00:00:00:0a:${number.toString(16).padStart(2, '0')}`;
		await answered(radius.postAuth(user, mac));
		devices.push({ user, mac });
	}
	const deviceOf = (caller: number) => devices[caller % DEVICES] ?? { user: '', mac: '' };

	return {
		buy,
		search: (number: number, kind: keyof typeof places) => {
			const { lat, lon } = placeIn(places[kind], number + 0.5);
			return call(`/v1/routers?lat=${lat}&lon=${lon}`);
		},
		routerPage: () => page(`/r/${ROUTER}`),
		order: () => buyAt(server.url, `/r/${ROUTER}`, payingPhone()),
		purchasePage: () => page(purchasePage),
		poll: () => call(`/v1/payments/${bought.paymentId}/status`),
		session: () => call(`/v1/sessions/${bought.sessionId}`),
		/** For deliveries of all events. */
		register: (url: string) => call('/v1/webhooks/register', { url, events: EVENTS }),
		/** @param caller one of DEVICES devices, so that calls at the same time are about different passes */
		radiusLogin(caller: number) {
			const { user, mac } = deviceOf(caller);
			return answered(radius.authorize(user, mac));
		},
		radiusReport(caller: number, number: number, status: 'start' | 'interim' = 'interim') {
			const { user, mac } = deviceOf(caller);
			const counted = { lasted: String(number), out: String(number * 1_000) };
			return radius.account(status, `${user}-1`, { user, mac, ...counted });
		}
	};
}

async function answered(call: Promise<{ status: number; attributes: object }>): Promise<void> {
	const { status, attributes } = await call;
	if (status >= 300) throw new Error(`RADIUS: ${status} ${JSON.stringify(attributes)}`);
}

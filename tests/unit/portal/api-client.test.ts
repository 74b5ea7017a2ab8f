import { NotFound, Unavailable } from '#lib/server/platform/errors.ts';
import { expect, it } from 'vitest';
import type { RouterBody } from '#lib/server/contract/router.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { apiClient, type ApiClient } from '#lib/server/portal/api-client.ts';
/** The portal's client: what it sends, and that the types of the OpenAPI document are held at compile time. */

interface Sent {
	url: string;
	method: string | undefined;
	body: unknown;
}

/** A client of an API that always gives this answer, and what it was asked. */
function clientOf(status: number, body: unknown): { client: ApiClient; sent: Sent[] } {
	const sent: Sent[] = [];
	const client = apiClient({
		fetch: async (url, init) => {
			sent.push({ url: String(url), method: init?.method, body: init?.body });
			return Response.json(body, { status });
		},
		request: new Request('http://portal.invalid/'),
		locals: { app: { api: { url: null, key: 'atl_test_fake' }, log: createLog('silent') } }
	});
	return { client, sent };
}

it('sends each request to its path of the document', async () => {
	const { client, sent } = clientOf(200, { password: null });
	await client.listRouters({ lat: 0.3354, lon: 1e-7, radius: 1000, limit: 5 });
	await client.listRouters({ lat: 1, lon: 2, cursor: 'a/b' });
	await client.getRouter(42);
	await client.createSession({
		router_id: 42,
		duration: '2h',
		payment_method: 'mobile_money',
		phone: '+256772123456'
	});
	await client.getSession(9001);
	await client.endSession(9001);
	await client.cancelUnpaid(9001);
	await client.startPayment({ amount: 1000, phone: '+256772123456', session_id: 9001 });
	await client.getPayment(7001);
	await client.getPayment(7001, 20);
	expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
		...['GET /v1/routers?lat=0.3354&lon=0.0000001&radius=1000&limit=5'],
		...['GET /v1/routers?lat=1&lon=2&cursor=a%2Fb', 'GET /v1/routers/42', 'POST /v1/sessions'],
		...['GET /v1/sessions/9001', 'DELETE /v1/sessions/9001'],
		...['DELETE /v1/sessions/9001?if_status=pending_payment', 'POST /v1/payments/mobile-money'],
		...['GET /v1/payments/7001/status', 'GET /v1/payments/7001/status?wait=20']
	]);
	expect(sent[7]?.body).toBe('{"amount":1000,"phone":"+256772123456","session_id":9001}');
});

it('tells a refusal from an answer that says nothing', async () => {
	const problem = { code: 'session_not_found', detail: 'There is no session with this id.' };
	await expect(clientOf(404, problem).client.getSession(1)).rejects.toThrow(NotFound);
	await expect(clientOf(429, problem).client.getSession(1)).rejects.toThrow(Unavailable);
	await expect(clientOf(500, problem).client.getSession(1)).rejects.toThrow(Unavailable);
});

it('has the types of the document', () => {
	// Never run: what is wrong here must not compile.
	const uses = async (client: ApiClient) => {
		const router: RouterBody = await client.getRouter(42);
		const session: SessionBody = await client.getSession(9001);
		// @ts-expect-error -- the document has no such field
		void session.owner;
		// @ts-expect-error -- a state that does not exist
		void (session.status === 'paid');
		// @ts-expect-error -- text is no price
		const price: string = router.price;
		// @ts-expect-error -- the longitude is required
		await client.listRouters({ lat: 1 });
		// @ts-expect-error -- an order without a number
		await client.createSession({ router_id: 42, duration: '2h', payment_method: 'mobile_money' });
		return price;
	};
	expect(uses).toBeTypeOf('function');
});

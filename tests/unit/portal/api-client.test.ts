/** The portal's client: what it makes of an answer; the types of the OpenAPI document are held at compile time. */
import { NotFound, Unavailable } from '#lib/server/platform/errors.ts';
import { expect, it } from 'vitest';
import type { RouterBody } from '#lib/server/contract/router.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { apiClient, type ApiClient } from '#lib/server/portal/api-client.ts';

/** A client of an API that always gives this answer. */
const clientOf = (status: number, body: unknown): ApiClient =>
	apiClient({
		fetch: async () => Response.json(body, { status }),
		request: new Request('http://portal.invalid/'),
		locals: { app: { api: { url: null, key: 'atl_test_fake' }, log: createLog('silent') } }
	});

it('tells a refusal from an answer that says nothing', async () => {
	const problem = { code: 'session_not_found', detail: 'There is no session with this id.' };
	await expect(clientOf(404, problem).getSession(1)).rejects.toThrow(NotFound);
	await expect(clientOf(429, problem).getSession(1)).rejects.toThrow(Unavailable);
	await expect(clientOf(500, problem).getSession(1)).rejects.toThrow(Unavailable);
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

/** Vouchers as their owner makes them through the API, and as buyers redeem them. */
import { expect } from 'vitest';
import type { Api } from '../api/api.ts';

export interface MadeVoucher {
	id: number;
	number: string;
	code: string;
}

export interface MadeBatch {
	id: number;
	codes: MadeVoucher[];
}

/** Sets one offer at a router of the demo owner: a day for UGX 1,000. Returns its id. */
export async function sellDay(owner: Api, router: number): Promise<number> {
	const offers = [{ name: 'Day', duration: '1d', price: 1000, max_devices: 3 }];
	const answer = await owner.send('PUT', `/v1/owner/routers/${router}/offers`, { body: { offers } });
	expect(answer.status, answer.text).toBe(200);
	return (answer.body as { data: { id: number }[] }).data[0]?.id ?? 0;
}

export async function makeVouchers(
	owner: Api,
	router: number,
	count: number,
	more: Record<string, unknown> = {}
): Promise<MadeBatch> {
	const offer = await sellDay(owner, router);
	const body = { router_id: router, offer_id: offer, count, ...more };
	const answer = await owner.send('POST', '/v1/owner/voucher-batches', { body });
	expect(answer.status, answer.text).toBe(201);
	return answer.body as MadeBatch;
}

export const redeem = (api: Api, code: string, router?: number) =>
	api.send('POST', '/v1/vouchers/redeem', {
		body: { code, ...(router !== undefined && { router_id: router }) }
	});

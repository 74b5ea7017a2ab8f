/** Vouchers as their owner makes them through the API, and as buyers redeem them. */
import { expect } from 'vitest';
import type { Api } from '../api/api.ts';
import type { Sql } from '../database/sql.ts';

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

/** A batch whose codes were printed. */
export const addPrintedBatch = (sql: Sql, owner: number, router: number): Promise<number> =>
	sql.count(
		`insert into voucher_batches (owner_account_id, router_id, offer_id, offer_name, duration,
			duration_seconds, amount_minor, currency, max_devices, size, account_id, printed_at, created_at)
		values (?, ?, 1, 'Day', '1d', 86400, 1000, 'UGX', 1, 1, ?, 1, 1) returning id`,
		...[owner, router, owner]
	);

export const redeem = (api: Api, code: string, router?: number) =>
	api.send('POST', '/v1/vouchers/redeem', {
		body: { code, ...(router !== undefined && { router_id: router }) }
	});

import { toMajor } from '#lib/domain/money.ts';
import { limitsOf } from '#lib/domain/offers.ts';
import * as example from '#lib/server/contract/examples.ts';
import { idParams } from '#lib/server/contract/fields.ts';
import { session } from '#lib/server/contract/session.ts';
import {
	type VoucherBatchBody,
	newVoucherBatch,
	voucherBatchCreation,
	voucherBatchList,
	voucherList,
	voucherListQuery,
	voucherRedemption
} from '#lib/server/contract/voucher.ts';
import {
	type VoucherBatchRow,
	type VoucherCounts,
	createPrintedBatch,
	describeVoucher,
	findBatchWithVouchers,
	formatVoucherNumber,
	listBatches,
	redeemVoucher
} from '../billing/vouchers.ts';
import { cutPage } from '../db/queries.ts';
import { isoTime } from '../platform/clock.ts';
import { endpoint, listPage } from './call.ts';
import { defineRoute, describeJson, describeJsonBody } from './route.ts';

const redeem = defineRoute({
	method: 'post',
	path: '/vouchers/redeem',
	operationId: 'redeemVoucher',
	tags: ['Vouchers'],
	summary: 'Redeem a voucher: buys its time at once',
	description:
		'Buys the time of a voucher that was paid in cash: the session is `activating` or `active`, with `payment_method` `voucher` and without a number of a payer. A voucher is redeemed once; a repeated request of the same account gets the session again, with 200. If no gateway confirms the time, the session is cancelled and the voucher can be redeemed again.',
	scope: 'sessions:write',
	errors: [
		'voucher_not_found',
		'voucher_redeemed',
		'voucher_void',
		'voucher_of_other_router',
		'router_unavailable',
		'session_not_found',
		'session_not_extendable',
		'offer_not_available'
	],
	location: '/v1/sessions/{id}',
	request: {
		body: describeJsonBody(voucherRedemption, 'The code of a voucher', {
			code: 'K7MQ-29XT-4HWB',
			router_id: 42
		})
	},
	responses: {
		200: describeJson(session, 'The session that this account has bought with the voucher before.', {
			again: ['Redeemed before', example.redeemed]
		}),
		201: describeJson(session, 'The session that the voucher bought.', {
			redeemed: ['The time is running', example.redeemed]
		})
	}
});

const createBatch = defineRoute({
	method: 'post',
	path: '/owner/voucher-batches',
	operationId: 'createVoucherBatch',
	tags: ['Vouchers'],
	summary: 'Make vouchers for an offer',
	description:
		'Makes up to 1,000 vouchers for an active offer of a router, on its present terms. **The codes are only in this response**: send an `Idempotency-Key` to get them again if it is lost. Buyers redeem them at `/redeem?code=…` of this installation.',
	scope: 'owner:write',
	errors: ['router_not_found', 'not_router_owner', 'offer_not_available'],
	idempotent: true,
	request: { body: describeJsonBody(voucherBatchCreation, 'Forty days for a shop', example.voucherOrder) },
	responses: {
		201: describeJson(newVoucherBatch, 'The batch with its codes.', {
			made: ['One voucher', example.newVoucherBatch]
		})
	}
});

const listVoucherBatches = defineRoute({
	method: 'get',
	path: '/owner/voucher-batches',
	operationId: 'listVoucherBatches',
	tags: ['Vouchers'],
	summary: 'List batches of vouchers with their states',
	description: 'Lists the batches of the caller, newest first, with the number of vouchers in each state.',
	scope: 'owner:read',
	request: { query: voucherListQuery },
	responses: {
		200: describeJson(voucherBatchList, 'The batches of this page.', {
			batches: ['One batch', example.lastPage(example.voucherBatch)]
		})
	}
});

const listVouchersOfBatch = defineRoute({
	method: 'get',
	path: '/owner/voucher-batches/{id}/vouchers',
	operationId: 'listVouchers',
	tags: ['Vouchers'],
	summary: 'List the vouchers of a batch',
	description: 'Lists the vouchers of a batch with their states and times, newest first, without codes.',
	scope: 'owner:read',
	errors: ['voucher_batch_not_found'],
	request: { params: idParams('Id of the batch.', 12), query: voucherListQuery },
	responses: {
		200: describeJson(voucherList, 'The vouchers of this page.', {
			vouchers: ['One voucher', example.lastPage(example.voucher)]
		})
	}
});

const describeBatch = (batch: VoucherBatchRow, states: VoucherCounts): VoucherBatchBody => ({
	id: batch.id,
	router_id: batch.router_id,
	offer: { id: batch.offer_id, name: batch.offer_name, ...limitsOf(batch) },
	duration: batch.duration,
	amount: toMajor(batch.amount_minor, batch.currency),
	currency: batch.currency,
	size: batch.size,
	seller: batch.seller,
	commission_percent: batch.commission_basis_points / 100,
	states,
	created_at: isoTime(batch.created_at)
});

export const vouchers = [
	endpoint(redeem, async ({ app, caller, body }) => {
		const { body: bought, isNew } = await redeemVoucher(app, caller, {
			code: body.code,
			routerId: body.router_id ?? null,
			extendsSessionId: body.extends_session_id
		});
		return { body: bought, status: isNew ? 201 : 200 };
	}),
	endpoint(createBatch, async ({ app, caller, body, remember }) => {
		const order = {
			...{
				routerId: body.router_id,
				offerId: body.offer_id,
				size: body.count,
				seller: body.seller?.trim() ?? null
			},
			...{ commissionBasisPoints: Math.round(body.commission_percent * 100), form: null }
		};
		const describe = ({ batch, cards }: Awaited<ReturnType<typeof createPrintedBatch>>) => ({
			...describeBatch(batch, { unsold: batch.size, sold: 0, redeemed: 0, void: 0 }),
			codes: cards.map(({ id, code }) => ({ id, number: formatVoucherNumber(id), code }))
		});
		const actor = { accountId: caller.accountId, personId: caller.accountId };
		const made = await createPrintedBatch(app, actor, order, async (trx, made) =>
			remember?.(trx, describe(made))
		);
		return { body: describe(made) };
	}),
	endpoint(listVoucherBatches, async (call) => {
		const { app, caller, query } = call;
		return listPage(call, ['owner/voucher-batches', caller.accountId], async (after) => {
			const found = await listBatches(app, caller.accountId, {
				before: after?.[0] ?? null,
				limit: query.limit + 1
			});
			const { rows, next } = cutPage(found, query.limit, ({ id }): [number, number] => [id, id]);
			return { data: rows.map((batch) => describeBatch(batch, batch.counts)), next };
		});
	}),
	endpoint(listVouchersOfBatch, async (call) => {
		const { app, caller, params, query } = call;
		const filters = ['owner/vouchers', caller.accountId, params.id];
		return listPage(call, filters, async (after) => {
			const { batch, vouchers } = await findBatchWithVouchers(app, caller.accountId, params.id, {
				before: after?.[0] ?? null,
				limit: query.limit + 1
			});
			const { rows, next } = cutPage(vouchers, query.limit, ({ id }): [number, number] => [id, id]);
			return { data: rows.map((row) => describeVoucher(row, batch)), next };
		});
	})
];

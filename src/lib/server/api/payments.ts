import { listOwnPayments, readPayment, requestPayment } from '../billing/payments.ts';
import * as example from '#lib/server/contract/examples.ts';
import { idParams } from '#lib/server/contract/fields.ts';
import {
	payment,
	paymentList,
	paymentListQuery,
	paymentStart,
	paymentStatusQuery
} from '#lib/server/contract/payment.ts';
import { endpoint, listPage } from './call.ts';
import { defineRoute, describeJson, describeJsonBody } from './route.ts';
import { findClientAddress } from './env.ts';
import { DEVICE_HEADER, readDevice } from '#lib/server/http/client-address.ts';

export const startPayment = defineRoute({
	method: 'post',
	path: '/payments/mobile-money',
	operationId: 'startMobileMoneyPayment',
	tags: ['Payments'],
	summary: 'Start a mobile-money payment for a session',
	description:
		"Asks the payer for the amount of a session; the prompt appears on the phone. The response is always a `pending` payment; its status shows the operator's decision later. A session has one pending payment at a time. Send an `Idempotency-Key`.",
	scope: 'payments:write',
	errors: [
		'session_not_found',
		'amount_mismatch',
		'payment_in_progress',
		'session_already_paid',
		'session_not_payable',
		'router_unavailable',
		'payment_method_not_supported',
		'invalid_phone',
		'payment_attempts_exceeded',
		'payer_prompt_limit',
		'unpaid_prompt_limit'
	],
	idempotent: true,
	location: '/v1/payments/{id}/status',
	request: {
		body: describeJsonBody(paymentStart, 'The amount of the session', {
			amount: 1000,
			phone: '+256772123456',
			session_id: 9001
		})
	},
	responses: {
		201: describeJson(payment, 'The payment, pending.', { pending: ['The payer is asked', example.pending] })
	}
});

const listPayments = defineRoute({
	method: 'get',
	path: '/payments',
	operationId: 'listPayments',
	tags: ['Payments'],
	summary: 'List the payments of the account',
	description:
		'Lists the payments that the account of the key started, newest first, for example to compare them with your books.',
	scope: 'payments:read',
	request: { query: paymentListQuery },
	responses: {
		200: describeJson(paymentList, 'The payments of this page; an empty list if there are none.', {
			last_page: ['One payment, and no further page', example.lastPage(example.paid)]
		})
	}
});

const getPaymentStatus = defineRoute({
	method: 'get',
	path: '/payments/{id}/status',
	operationId: 'getPaymentStatus',
	tags: ['Payments'],
	summary: 'Read the status of a payment, at once or as soon as it changes',
	description:
		'Reads the current payment. Poll at most every three seconds, or let `wait` hold the response until the payment leaves `pending`.',
	scope: 'payments:read',
	errors: ['payment_not_found'],
	request: { params: idParams('Id of the payment.', 7001), query: paymentStatusQuery },
	responses: {
		200: describeJson(payment, 'The payment.', {
			success: ['Paid; the session is active', example.paid],
			pending: ['The payer has not answered', example.pending],
			failed: ['The payer lacks the money', example.failed],
			refunded: ['Paid too late and refunded', example.refunded]
		})
	}
});

export const payments = [
	endpoint(startPayment, async ({ app, caller, body, remember, context }) => {
		const buyer =
			caller.plan === 'portal'
				? { address: findClientAddress(context), device: readDevice(context.req.header(DEVICE_HEADER)) }
				: { accountId: caller.accountId };
		return { body: await requestPayment(app, caller, body, buyer, remember) };
	}),
	endpoint(listPayments, async (call) => {
		const { app, caller, query } = call;
		const { status, provider_reference: transaction, limit } = query;
		const { created_after: createdAfter, created_before: createdBefore } = query;
		const filters = ['payments', caller.accountId, status, createdAfter, createdBefore, transaction];
		return listPage(call, filters, (after) =>
			listOwnPayments(app, caller, { status, transaction, createdAfter, createdBefore, after, limit })
		);
	}),
	endpoint(getPaymentStatus, async ({ app, caller, params, query, context }) => {
		const wait = query.wait > 0 ? { seconds: query.wait, signal: context.req.raw.signal } : undefined;
		return { body: await readPayment(app, caller, params.id, wait) };
	})
];

import { z } from '@hono/zod-openapi';
import * as field from './fields.ts';

export const paymentStatus = z
	.enum(['pending', 'success', 'failed', 'expired', 'refund_pending', 'refunded', 'refund_failed'])
	.openapi('PaymentStatus', {
		description:
			'State of a payment. `pending`: the operator has not decided. `success`: the payer was charged. `failed`: the payer was not charged. `expired`: no answer in time; the payment can still succeed late. `refund_pending`: the refund is on its way. `refunded`: the money is back. `refund_failed`: the refund failed and a person handles it.'
	});

export const failureCode = z
	.enum([
		'payer_rejected',
		'insufficient_funds',
		'payer_not_found',
		'payer_limit_reached',
		'payer_timeout',
		'provider_unavailable',
		'provider_error'
	])
	.openapi('FailureCode', { description: 'Reason of a failed payment. More codes may be added.' });

const operatorRequest = z.enum(['unsent', 'unanswered', 'accepted', 'refused']).openapi('OperatorRequest', {
	description:
		'The request to the operator. `unsent`: nobody is asked to pay yet, and it is sent until `expires_at`. `unanswered`: it was sent, and the payer may be asked. `accepted`: the operator asks the payer. `refused`: the operator did not take it.'
});

export const payment = z
	.object({
		id: field.id('Id of the payment.'),
		session_id: field.id('Id of the session.'),
		status: paymentStatus,
		amount: field.amount('Amount in major units of `currency`.'),
		currency: field.currency,
		phone: field.phone('Number that is asked to pay, in E.164; `+9990000000` once it is deleted.'),
		payment_method: z.string().describe('Payment method of the session.'),
		operator_request: operatorRequest,
		applied: z
			.boolean()
			.describe(
				'Whether this payment bought the time. A late or second success is not applied and is refunded.'
			),
		failure_code: z
			.union([failureCode, z.null()])
			.describe('Reason of the failure; null unless `status` is `failed` or `expired`.'),
		failure_message: field.textOrNull('The same reason for people, in English; the wording may change.'),
		provider_reference: field.textOrNull(
			"The operator's reference of the transaction; null until it is known."
		),
		refund_reason: field.textOrNull(
			'Reason of the refund, e.g. `late_payment`, `duplicate_payment`; else null.'
		),
		refund_amount: field
			.amount(
				'Amount of the refund in major units of `refund_currency`: the amount that the operator took. It can differ from `amount` only with the reason `amount_mismatch`. null if there is no refund or the currency is unknown.'
			)
			.nullable(),
		refund_currency: field.currency
			.nullable()
			.describe('ISO 4217 code of the currency of `refund_amount`; null if there is no refund.'),
		expires_at: field.timestamp.describe('Time from which an unanswered payment shows as `expired`.'),
		paid_at: field.timeOrNull('Time at which the operator charged the payer; null if it has not.'),
		refunded_at: field.timeOrNull('Time of the refund; null if there is none.'),
		...field.changes
	})
	.openapi('Payment', { description: 'A mobile-money payment for a session.' });

export const paymentStart = z
	.strictObject({
		amount: field.bodyAmount(
			'Exactly the `amount` of the session, in major units of its currency.',
			'Use an amount above 0.'
		),
		phone: field.bodyPhone(
			'Mobile number that is asked to pay; it may differ from the number of the session.'
		),
		session_id: field.bodyId('Id of the session.')
	})
	.openapi('PaymentStart', { description: 'The start of a payment.' });

export const paymentListQuery = z.object({
	status: field.parameter(paymentStatus, 'Only payments in this state.'),
	provider_reference: field.parameter(
		z.string().regex(/^[ -~]{1,64}$/, 'Use the operator\'s reference, e.g. "1029384756".'),
		'Only payments with this reference of the operator, written exactly as stored.'
	),
	...field.newestFirst
});

export const paymentList = field.list(
	'PaymentList',
	'One page of the payments that the account started.',
	payment,
	'Payments of this page, newest first.'
);

const MAX_STATUS_WAIT_SECONDS = 20;

export const paymentStatusQuery = z.object({
	wait: field.queryInteger(
		[0, MAX_STATUS_WAIT_SECONDS],
		0,
		'Seconds for which the response may be held back until the payment leaves `pending`.'
	)
});

export type PaymentBody = z.infer<typeof payment>;
export type PaymentListBody = z.infer<typeof paymentList>;
export type PaymentStartBody = z.infer<typeof paymentStart>;

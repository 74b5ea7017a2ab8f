import { DELETED_NUMBER } from '#lib/domain/phone.ts';
import type { BillingContext } from '../context.ts';
import type { PaymentRow, RefundRow } from '../payments/store.ts';

/** Whether a person may refund it: it bought time, its operator can return the money, and its number is still stored. */
export const isRefundable = (
	{ operators }: Pick<BillingContext, 'operators'>,
	payment: Pick<PaymentRow, 'status' | 'applied' | 'operator' | 'phone'>
): boolean =>
	payment.status === 'success' &&
	payment.applied === 1 &&
	payment.phone !== DELETED_NUMBER &&
	operators.all().some(({ id, refund }) => id === payment.operator && refund !== undefined);

/** Whether a person may record that the money went back in another way: the operator cannot return it, or did not. */
export const takesRefundByHand = (
	context: Pick<BillingContext, 'operators'>,
	payment: Pick<PaymentRow, 'status' | 'applied' | 'operator' | 'phone'>
): boolean =>
	payment.status === 'refund_failed' ||
	(payment.status === 'success' && payment.applied === 1 && !isRefundable(context, payment));

/** Whether a person has recorded that the money went back in another way. */
export const isRefundedByHand = (
	{ status }: Pick<PaymentRow, 'status'>,
	refunds: readonly Pick<RefundRow, 'status'>[]
): boolean => status === 'refunded' && refunds.every((refund) => refund.status !== 'succeeded');

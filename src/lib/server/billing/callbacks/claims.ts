import type { Queries } from '#lib/server/db/database.ts';
import type { BillingContext } from '../context.ts';
import type { AttemptReference, CallbackClaim } from '../operators/operator.ts';
import * as store from '../payments/store.ts';

export const claimOf = (row: { claim: string | null }): CallbackClaim | null =>
	row.claim === null ? null : (JSON.parse(row.claim) as CallbackClaim);

export const claimsSuccess = (row: { claim: string | null }): boolean =>
	claimOf(row)?.claimed === 'succeeded';

/** For the status read of a payment or a refund. */
export const attemptOf = (row: store.PaymentRow | store.RefundRow): AttemptReference => ({
	reference: row.reference,
	operatorReference: row.operator_reference,
	submittedAt: row.submitted_at,
	claim: claimOf(row)
});

/**
 * Opens a review if a callback called a failed refund successful: a person may return the money, too. Called
 * after the failure and after the claim is stored, so that one of the two sees the other.
 */
export async function reviewFailedRefund(
	{ reviews }: Pick<BillingContext, 'reviews'>,
	queries: Queries,
	refundId: number
): Promise<void> {
	const refund = await store.findRefund(queries, refundId);
	if (refund?.status !== 'failed' || !claimsSuccess(refund)) return;
	const detail = `a callback says that refund ${refund.reference} succeeded; here it failed`;
	await reviews.open(queries, refund.payment_id, 'contradiction', detail);
}

/** Opens a review if a callback calls a refund failed that an earlier answer or callback called successful. */
export async function reviewDeniedRefund(
	{ database, reviews }: Pick<BillingContext, 'database' | 'reviews'>,
	refundId: number
): Promise<void> {
	const refund = await store.findRefund(database.db, refundId);
	if (!refund || refund.status === 'failed') return;
	if (refund.status === 'pending' && !claimsSuccess(refund)) return;
	const detail = `a callback says that refund ${refund.reference} failed, after it was called successful`;
	await reviews.open(database.db, refund.payment_id, 'contradiction', detail);
}

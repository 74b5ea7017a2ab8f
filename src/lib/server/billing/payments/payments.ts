import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import { portalCallbackUrl } from '../callbacks/callback-url.ts';
import { receiveCallback, type Callback } from '../callbacks/callbacks.ts';
import { isRefundable, refundForOwner } from '../refunds/refund-for-owner.ts';
import { refundPayment } from '../refunds/refunds.ts';
import { decide, evidenceOf, type DecisionOrder } from '../reviews/decisions.ts';
import type { Review } from '../reviews/reviews.ts';
import { checkStatement, type StatementFile } from '../statements/statement.ts';
import { RECONCILE_JOB, REFUND_JOB, SUBMIT_JOB, type PaymentsContext } from './context.ts';
import { listPayments, merchantErrors, newestPayments, readPayment } from './read-payment.ts';
import { reconcilePayment } from './reconcile.ts';
import { refundUnprovisioned } from './settlement.ts';
import { startPayment } from './start-payment.ts';
import * as store from './store.ts';
import { submitPayment } from './submission.ts';

/**
 * Mobile-money payments. A payment is committed first, then sent from the outbox (submission.ts).
 * reconcile.ts reads its status until it is final, settlement.ts applies it, and refunds.ts sends money back.
 */
export type Payments = ReturnType<typeof createPayments>;

export function createPayments(context: PaymentsContext) {
	return {
		start: startPayment.bind(null, { ...context, turns: new Map() }),
		read: (caller: Caller, id: number, wait?: { seconds: number; signal: AbortSignal }) =>
			readPayment(context, caller, id, wait),
		list: listPayments.bind(null, context),
		merchantErrors: () => merchantErrors(context),
		newest: (accountId: number, limit: number) => newestPayments(context, accountId, limit),
		receiveCallback: (callback: Callback) => receiveCallback(context, callback),
		/** For the portal of an operator that takes no callback address with a request. */
		portalCallbackUrl: (operator: string) => portalCallbackUrl(context, operator),
		evidenceOf: (id: number) => evidenceOf(context, id),
		decide: (review: Review, order: DecisionOrder) => decide(context, review, order),
		checkStatement: (file: StatementFile) => checkStatement(context, file),
		/** True if the operator of a payment supports refunds. */
		async canBeRefunded(queries: Queries, id: number): Promise<boolean> {
			const payment = await store.find(queries, id);
			return context.operators.all().some((one) => one.id === payment?.operator && one.refund !== undefined);
		},
		isRefundable: (payment: store.PaymentRow) => isRefundable(context, payment),
		refundForOwner: refundForOwner.bind(null, context),
		refundUnprovisioned: (trx: Tx, id: number) => refundUnprovisioned(context, trx, id),
		jobs: {
			[SUBMIT_JOB]: (id: number) => submitPayment(context, id),
			[RECONCILE_JOB]: (id: number) => reconcilePayment(context, id),
			[REFUND_JOB]: (id: number) => refundPayment(context, id)
		}
	};
}

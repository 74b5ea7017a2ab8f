import type { Queries } from '#lib/server/db/database.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { portalCallbackUrl } from '../callbacks/callback-url.ts';
import { receiveCallback } from '../callbacks/callbacks.ts';
import { recordRefundForOwner, refundForOwner } from '../refunds/refund-for-owner.ts';
import { isRefundable, takesRefundByHand } from '../refunds/refund-by-hand.ts';
import { refundPayment } from '../refunds/refunds.ts';
import { decide, evidenceOf, openRefundByHand } from '../reviews/decisions.ts';
import { checkStatement } from '../statements/statement.ts';
import { RECONCILE_JOB, REFUND_JOB, SUBMIT_JOB, type BillingContext } from '../context.ts';
import { listPayments, merchantErrors, newestPayments, readPayment } from './read-payment.ts';
import { crowdedPools } from './prompt-limits.ts';
import { reconcilePayment } from './reconcile.ts';
import { refundUnprovisioned } from '../refunds/start-refund.ts';
import { startPayment } from './start-payment.ts';
import * as store from './store.ts';
import { submitPayment } from './submission.ts';

/**
 * Mobile-money payments. A payment is committed first, then sent from the outbox (submission.ts).
 * reconcile.ts reads its status until it is final, settlement.ts applies it, and refunds.ts sends money back.
 */
export type Payments = ReturnType<typeof createPayments>;

export function createPayments(context: BillingContext) {
	const bind = binder(context);
	return {
		start: binder({ ...context, queues: new Map() })(startPayment),
		read: bind(readPayment),
		list: bind(listPayments),
		merchantErrors: bind(merchantErrors),
		crowdedPools: bind(crowdedPools),
		newest: bind(newestPayments),
		receiveCallback: bind(receiveCallback),
		/** For the portal of an operator that takes no callback address with a request. */
		portalCallbackUrl: bind(portalCallbackUrl),
		evidenceOf: bind(evidenceOf),
		decide: bind(decide),
		openRefundByHand: bind(openRefundByHand),
		checkStatement: bind(checkStatement),
		async operatorRefunds(queries: Queries, id: number): Promise<boolean> {
			const { operator } = await store.findOrThrow(queries, id);
			return context.operators.find(operator)?.refund !== undefined;
		},
		isRefundable: bind(isRefundable),
		takesRefundByHand: bind(takesRefundByHand),
		refundForOwner: bind(refundForOwner),
		recordRefundForOwner: bind(recordRefundForOwner),
		refundUnprovisioned: bind(refundUnprovisioned),
		jobs: {
			[SUBMIT_JOB]: bind(submitPayment),
			[RECONCILE_JOB]: bind(reconcilePayment),
			[REFUND_JOB]: bind(refundPayment)
		}
	};
}

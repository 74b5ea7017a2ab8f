import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Queries, Tx } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import * as store from './store.ts';

/**
 * Reviews: questions about money that a person must decide. They are opened in the transaction that found the problem,
 * once, and stay open until a decision (decisions.ts).
 */
export type Review = store.ReviewRow;

export type ReviewReason =
	/** The operator took another amount than requested; it is being refunded. */
	| 'amount_mismatch'
	/** A callback and a status read, or two status reads, contradict each other. */
	| 'contradiction'
	/** The operator's reference was lost with its answer, and no callback has arrived. */
	| 'no_reference'
	/** No final answer within RECONCILE_HOURS. */
	| 'no_final_answer'
	/** The operator cannot refund, refuses to, failed to, or does not say whether it did. */
	| 'refund_not_supported'
	| 'refund_refused'
	| 'refund_failed'
	| 'refund_no_final_answer'
	/** The operator's statement contains a payment that is not paid here, or lacks one that is. */
	| 'statement_unknown'
	| 'statement_paid'
	| 'statement_missing'
	| 'statement_amount';

export interface Reviews {
	/** Opens a review of a payment unless the same one is open; with `once`, unless it was ever opened. */
	open(
		queries: Queries,
		about: { paymentId: number; reason: ReviewReason; detail?: string; once?: boolean }
	): Promise<void>;
	/** Opens a review of a transaction that matches no payment. */
	openOther(
		queries: Queries,
		about: { subject: string; reason: ReviewReason; detail: string }
	): Promise<void>;
	find(id: number): Promise<Review | undefined>;
	/** Oldest first. */
	list(which: 'open' | 'resolved'): Promise<Review[]>;
	countOpen(): Promise<{ count: number; oldest: number | null }>;
	/** Resolves a review. @returns false if it was resolved before */
	close(trx: Tx, id: number, answer: { by: string; decision: string; note: string }): Promise<boolean>;
}

export function createReviews(database: Database, clock: Clock, log: Log): Reviews {
	async function insert(
		queries: Queries,
		review: { payment_id: number | null; subject: string; reason: ReviewReason; detail: string | null }
	): Promise<void> {
		if (!(await store.insert(queries, { ...review, opened_at: clock.now() }))) return;
		log.warn({ subject: review.subject, reason: review.reason }, 'review opened: a person must decide');
	}
	return {
		async open(queries, { paymentId, reason, detail, once = false }) {
			const subject = `payment ${paymentId}`;
			if (once && (await store.findAbout(queries, subject, reason))) return;
			await insert(queries, { payment_id: paymentId, subject, reason, detail: detail ?? null });
		},
		openOther: (queries, about) => insert(queries, { payment_id: null, ...about }),
		find: (id) => store.find(database.db, id),
		list: (which) => store.list(database.db, which === 'open'),
		countOpen: () => store.countOpen(database.db),
		close: (trx, id, { by, decision, note }) =>
			store.close(trx, id, { resolved_at: clock.now(), resolved_by: by, decision, note })
	};
}

import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Queries, Tx } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import * as store from './store.ts';

/**
 * Questions about money that only a person can answer. Whoever meets one opens it, in the transaction of what was
 * found; it stays open, once, until a person has decided (payments/decisions.ts).
 */
export type Review = store.ReviewRow;

export type ReviewReason =
	/** The operator took another amount than was asked for; it is being sent back. */
	| 'amount_mismatch'
	/** A callback and the status read, or two answers, deny each other. */
	| 'contradiction'
	/** The operator's reference was lost with its answer, and no callback has come. */
	| 'no_reference'
	/** Nothing final within RECONCILE_HOURS. */
	| 'no_final_answer'
	/** The operator cannot, would not, or did not send the money back, or does not say whether it did. */
	| 'refund_not_supported'
	| 'refund_refused'
	| 'refund_failed'
	| 'refund_no_final_answer'
	/** The operator's statement has the payment and we do not count it as paid, or the other way round. */
	| 'statement_unknown'
	| 'statement_paid'
	| 'statement_missing'
	| 'statement_amount';

export interface Reviews {
	/** Opens a question about a payment unless the same one is open; with `once`, unless it ever was. */
	open(
		queries: Queries,
		about: { paymentId: number; reason: ReviewReason; detail?: string; once?: boolean }
	): Promise<void>;
	/** The same about something that no payment belongs to. */
	openOther(
		queries: Queries,
		about: { subject: string; reason: ReviewReason; detail: string }
	): Promise<void>;
	find(id: number): Promise<Review | null>;
	/** Oldest first. */
	list(which: 'open' | 'resolved'): Promise<Review[]>;
	countOpen(): Promise<{ count: number; oldest: number | null }>;
	/** Ends a question. @returns false when somebody else has */
	close(trx: Tx, id: number, answer: { by: string; decision: string; note: string }): Promise<boolean>;
}

export function createReviews(database: Database, clock: Clock, log: Log): Reviews {
	async function insert(
		queries: Queries,
		review: { payment_id: number | null; subject: string; reason: ReviewReason; detail: string | null }
	): Promise<void> {
		if (!(await store.insert(queries, { ...review, opened_at: clock.now() }))) return;
		log.warn({ subject: review.subject, reason: review.reason }, 'a person must look at this');
	}
	return {
		async open(queries, { paymentId, reason, detail, once = false }) {
			const subject = `payment ${paymentId}`;
			if (once && (await store.wasAsked(queries, subject, reason))) return;
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

import type { Author } from '#lib/server/audit/audit.ts';
import type { Base } from '#lib/server/base.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import { first } from '#lib/server/db/first.ts';
import * as store from './store.ts';

/** Decisions about money that a person must make. The same review is open only once at a time. */
export type Review = store.ReviewRow;

export type ReviewReason =
	/** The amount taken differs from the requested or settled one. */
	| 'amount_mismatch'
	/** A callback and a status read, or two status reads, contradict each other. */
	| 'contradiction'
	/** The operator's reference was lost, and no callback has arrived. */
	| 'no_reference'
	/** No final answer within RECONCILE_HOURS. */
	| 'no_final_answer'
	/** The operator cannot refund, refuses to, failed to, or does not say whether it did. */
	| 'refund_not_supported'
	| 'refund_refused'
	| 'refund_failed'
	| 'refund_no_final_answer'
	/** A person returns the money of a payment that the operator cannot refund. */
	| 'refund_by_hand'
	/** The operator's statement and our payments differ. */
	| 'statement_unknown'
	| 'statement_paid'
	| 'statement_missing'
	| 'statement_amount';

export type Reviews = ReturnType<typeof createReviews>;

interface Resolution extends Author {
	decision: string;
}

export function createReviews({ database, clock, log }: Base) {
	const resolved = ({ by, decision, note }: Resolution) => ({
		resolved_at: clock.now(),
		resolved_by: by,
		decision,
		note
	});
	return {
		/**
		 * Opens a review unless the same one is open; with `once`, unless it was ever opened.
		 * @param about.paymentId null for a review that belongs to no payment, but to a `subject`
		 */
		async open(
			queries: Queries,
			about: { reason: ReviewReason; detail?: string; once?: boolean } & (
				{ paymentId: number } | { paymentId: null; subject: string }
			)
		): Promise<void> {
			const { paymentId, reason, detail = null, once = false } = about;
			const subject = about.paymentId === null ? about.subject : `payment ${paymentId}`;
			if (once && (await store.wasOpened(queries, { subject, reason }))) return;
			const review = { payment_id: paymentId, subject, reason, detail, opened_at: clock.now() };
			if (await store.insert(queries, review)) {
				log.warn({ subject, reason }, 'review opened: a person must decide');
			}
		},
		find: (id: number) => store.find(database.db, id),
		/** Open reviews from the oldest, resolved ones from the newest. @param of.at the last id of the page before */
		page: (which: 'open' | 'resolved', of: { at: number | null; limit: number }) =>
			store.page(database.db, which === 'open', of),
		/** Returns the oldest open review about the refund of a payment. */
		aboutRefund: (queries: Queries, paymentId: number) => first(store.aboutRefund(queries, paymentId)),
		countOpen: () => store.countOpen(database.db),
		close: (trx: Tx, id: number, resolution: Resolution) => store.close(trx, id, resolved(resolution)),
		closeAboutRefund: (trx: Tx, paymentId: number, resolution: Resolution) =>
			store.closeAboutRefund(trx, paymentId, resolved(resolution))
	};
}

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

interface Resolution extends Author {
	decision: string;
}

export type Reviews = ReturnType<typeof createReviews>;

/** No more facts are added then. */
const MAX_DETAIL = 4_000;

const holds = (detail: string | null, fact: string) => `; ${detail}; `.includes(`; ${fact}; `);

export function createReviews({ database, clock, log }: Base) {
	/**
	 * Opens a review. If the same one is open, it gets the detail, too. A fact that a person has judged opens no other
	 * review, except about a refund, which can fail again.
	 * @param about the id of a payment, or what else the review is about
	 * @param detail a fact. After "; " come circumstances, which may differ when the same fact comes again
	 */
	async function open(
		queries: Queries,
		about: number | { subject: string },
		reason: ReviewReason,
		detail: string | null = null
	): Promise<void> {
		const paymentId = typeof about === 'number' ? about : null;
		const subject = typeof about === 'number' ? `payment ${about}` : about.subject;
		const review = { payment_id: paymentId, subject, reason, detail, opened_at: clock.now() };
		const fact = detail?.split('; ', 1)[0] ?? null;
		if (fact !== null) {
			const same = await store.sameReviews(queries, review);
			const known = same.filter((one) => holds(one.detail, fact));
			if (known.some((one) => one.resolved_at === null || !reason.startsWith('refund'))) return;
			const length = same.find((one) => one.resolved_at === null)?.detail?.length ?? 0;
			if (length >= MAX_DETAIL) return log.warn({ subject, reason, detail }, 'review is full');
		}
		if (await store.insert(queries, review, fact)) {
			log.warn({ subject, reason }, 'review opened: a person must decide');
		}
	}
	const resolved = ({ by, decision, note }: Resolution) => ({
		resolved_at: clock.now(),
		resolved_by: by,
		decision,
		note
	});
	return {
		open,
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

/** The decisions of a review. `paid` and `unpaid` settle like the reconciler. */
export const DECISIONS = ['paid', 'unpaid', 'retry-refund', 'refunded', 'dismiss'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Characters of the reason that an administrator gives for a change. */
export const MAX_REASON = 500;
/** Characters of the operator's transaction id. */
export const MAX_TRANSACTION = 100;

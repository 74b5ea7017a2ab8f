/** The decisions of a review. `paid` and `unpaid` settle like the reconciler. */
export const DECISIONS = ['paid', 'unpaid', 'retry-refund', 'refunded', 'dismiss'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Characters of the reason that an administrator gives for a change. */
export const MAX_REASON = 500;
/** Characters of the operator's transaction id. */
export const MAX_TRANSACTION = 100;

/** Free time that a person may give to a customer at once. */
export const EXTRA_TIMES = ['15m', '30m', '1h', '2h'] as const;
export type ExtraTime = (typeof EXTRA_TIMES)[number];

/** Time that has ended gets extra time up to this much later. */
export const EXTRA_TIME_AFTER_END_MS = 24 * 60 * 60 * 1000;

/** Free time that one account may give in 24 hours: enough for an outage, and a limit for misuse. */
export const MAX_EXTRA_MINUTES_PER_DAY = 480;

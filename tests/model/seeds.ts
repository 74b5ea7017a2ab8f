/** Histories in which something was wrong once; they are played first. */
export const KEPT_SEEDS: readonly number[] = [];

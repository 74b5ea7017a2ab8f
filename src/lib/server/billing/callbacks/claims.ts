import type { CallbackClaim } from '../operators/operator.ts';

/** Parses the stored claim of an authentic callback; null if there is none. */
export const claimOf = (row: { claim: string | null }): CallbackClaim | null =>
	row.claim === null ? null : (JSON.parse(row.claim) as CallbackClaim);

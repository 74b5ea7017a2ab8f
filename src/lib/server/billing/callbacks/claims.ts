import type { CallbackClaim } from '../operators/operator.ts';

/** What an authentic callback claimed about a payment or refund; null when none did. */
export const claimOf = (row: { claim: string | null }): CallbackClaim | null =>
	row.claim === null ? null : (JSON.parse(row.claim) as CallbackClaim);

import type { CallbackClaim } from '../operators/operator.ts';

export const claimOf = (row: { claim: string | null }): CallbackClaim | null =>
	row.claim === null ? null : (JSON.parse(row.claim) as CallbackClaim);

export const claimsSuccess = (row: { claim: string | null }): boolean =>
	claimOf(row)?.claimed === 'succeeded';

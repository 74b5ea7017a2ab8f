import { createHmac } from 'node:crypto';
import { CODE_BYTES, codeOfBytes, codeText } from '#lib/checkout/purchase/code.ts';
import type { Database } from '#lib/server/db/database.ts';
import { untilUnique } from '#lib/server/db/first.ts';
import { hmac, type Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

/**
 * Security: a code is derived from the purchase's token and not stored. Its keyed hash finds the purchase,
 * whose token is sealed. So the database alone opens no purchase. Purchases.resume limits guesses.
 */
export type Codes = ReturnType<typeof createCodes>;

/** Codes to try: two of a million purchases may derive the same one. */
export const MAX_CODES = 8;

export function createCodes(database: Database, secrets: Secrets) {
	const codeKey = secrets.derive('purchase code', 32);
	const hashKey = secrets.derive('purchase code hash', 32);

	const derived = (token: string, attempt: number) =>
		codeOfBytes(createHmac('sha256', codeKey).update(`${attempt}:${token}`).digest().subarray(0, CODE_BYTES));
	const hashOf = (code: string) => hmac(hashKey, code);
	const sealedFor = (hash: string) => `purchase:${hash}`;

	/** @param attempt number of codes of this token that other purchases have taken */
	function columns(token: string, attempt: number) {
		const code_hash = hashOf(derived(token, attempt));
		return { code_hash, token_sealed: secrets.encrypt(token, sealedFor(code_hash)) };
	}

	/** The token may be sealed with an earlier secret. */
	function unsealed(sealed: string, hash: string): string | null {
		try {
			return secrets.decrypt(sealed, sealedFor(hash));
		} catch {
			return null;
		}
	}

	return {
		columns,
		/** Returns the code, e.g. "K7MQ-29XT". Creates it if it is missing or belongs to an earlier secret. */
		async of(token: string, row: store.PurchaseRow): Promise<string> {
			for (let attempt = 0; attempt < MAX_CODES; attempt += 1) {
				const code = derived(token, attempt);
				if (hashOf(code) === row.code_hash) return codeText(code);
			}
			return untilUnique(database, MAX_CODES, async (attempt) => {
				await store.setCode(database.db, row.id, columns(token, attempt));
				return codeText(derived(token, attempt));
			});
		},
		/** Finds the purchase of a code from readCode, without its token. */
		find: (code: string, since: number) => store.findByCode(database.db, hashOf(code), since),
		/** Finds the token for a code from readCode. Returns null if the code is unknown. */
		async open(code: string, since: number): Promise<string | null> {
			const code_hash = hashOf(code);
			const row = await store.findByCode(database.db, code_hash, since);
			return row && this.tokenOf(row);
		},
		/** Returns null for added time, and if the token was sealed with a secret that is gone. */
		tokenOf: ({ token_sealed: sealed, code_hash: hash }: store.PurchaseRow): string | null =>
			sealed === null || hash === null ? null : unsealed(sealed, hash)
	};
}

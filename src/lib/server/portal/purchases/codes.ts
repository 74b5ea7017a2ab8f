import { createHmac } from 'node:crypto';
import { CODE_BYTES, codeOfBytes, codeText } from '#lib/checkout/purchase/code.ts';
import type { Database } from '#lib/server/db/database.ts';
import { hmac, type Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

/**
 * Resume codes: short codes that open a purchase on any device. A code is derived from the purchase's token and not
 * stored; its keyed hash finds the purchase, whose token is sealed. So the database alone opens no purchase, and
 * guesses are limited by Purchases.resume.
 */
export interface Codes {
	/** Columns of a new purchase. @param attempt number of codes that other purchases have already taken */
	columns(token: string, attempt: number): Pick<store.PurchaseRow, 'code_hash' | 'token_sealed'>;
	/** Returns the code, e.g. "K7MQ-29XT". Creates it if there is none yet, or if it belongs to an earlier secret. */
	of(token: string, row: store.PurchaseRow): Promise<string>;
	/** Finds the token for a code. @param code as returned by readCode. @returns null if the code is unknown */
	open(code: string, since: number): Promise<string | null>;
}

/** Codes that a purchase tries: two of a million purchases may derive the same one. */
export const MAX_CODES = 8;

export function createCodes(database: Database, secrets: Secrets): Codes {
	const codeKey = secrets.derive('purchase code', 32);
	const hashKey = secrets.derive('purchase code hash', 32);

	const derived = (token: string, attempt: number) =>
		codeOfBytes(createHmac('sha256', codeKey).update(`${attempt}:${token}`).digest().subarray(0, CODE_BYTES));
	const hashOf = (code: string) => hmac(hashKey, code);
	const sealedFor = (hash: string) => `purchase:${hash}`;

	function columns(token: string, attempt: number) {
		const code_hash = hashOf(derived(token, attempt));
		return { code_hash, token_sealed: secrets.encrypt(token, sealedFor(code_hash)) };
	}

	/** null if the token was sealed with an earlier secret. */
	function unsealed(sealed: string, hash: string): string | null {
		try {
			return secrets.decrypt(sealed, sealedFor(hash));
		} catch {
			return null;
		}
	}

	return {
		columns,
		async of(token, row) {
			for (let attempt = 0; attempt < MAX_CODES; attempt += 1) {
				const code = derived(token, attempt);
				if (hashOf(code) === row.code_hash) return codeText(code);
			}
			for (let attempt = 0; ; attempt += 1) {
				try {
					await store.setCode(database.db, row.id, columns(token, attempt));
					return codeText(derived(token, attempt));
				} catch (error) {
					if (!database.isUniqueViolation(error) || attempt >= MAX_CODES) throw error;
				}
			}
		},
		async open(code, since) {
			const code_hash = hashOf(code);
			const row = await store.findByCode(database.db, code_hash, since);
			return row?.token_sealed == null ? null : unsealed(row.token_sealed, code_hash);
		}
	};
}

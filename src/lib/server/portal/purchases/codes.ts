import { createHmac } from 'node:crypto';
import { CODE_BYTES, codeOfBytes, codeText } from '#lib/checkout/purchase/code.ts';
import type { Database } from '#lib/server/db/database.ts';
import { hmac, type Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

/**
 * The short codes of purchases. A code is derived from the purchase's token, and stored nowhere: its keyed hash finds
 * the purchase, whose token is sealed. So nobody opens a purchase with what stands in the database, and a code has as
 * many guesses as the limit lets through (purchases.resume).
 */
export interface Codes {
	/** Columns of a new purchase. @param attempt counts codes that another purchase has already */
	columns(token: string, attempt: number): Pick<store.PurchaseRow, 'code_hash' | 'token_sealed'>;
	/** "K7MQ-29XT"; a purchase that has none yet (or one of another secret) gets its code now. */
	of(token: string, row: store.PurchaseRow): Promise<string>;
	/** @param code as readCode makes it. @returns the token that it opens, or null */
	open(code: string, since: number): Promise<string | null>;
}

/** Two of a million purchases may derive the same code; the second then takes its next one. */
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

	/** null where the token belongs to another secret's time. */
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

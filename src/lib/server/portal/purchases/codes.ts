import { createHmac } from 'node:crypto';
import { CODE_BYTES, codeOfBytes, codeText } from '#lib/checkout/purchase/code.ts';
import type { Database } from '#lib/server/db/database.ts';
import { retryUniqueViolation } from '#lib/server/db/queries.ts';
import { hmac, type Secrets } from '#lib/server/platform/secrets.ts';
import * as store from './store.ts';

/**
 * Security: a code is derived from the purchase's token and not stored. Its keyed hash finds the purchase,
 * whose token is sealed. So the database alone opens no purchase. Purchases.resume limits guesses.
 * A change of the secret seals the code with the token, so that a code on paper stays valid.
 */
export type Codes = ReturnType<typeof createCodes>;

type Stored = Pick<store.PurchaseRow, 'code_hash' | 'token_sealed'>;

/** Lifetime of a code after the last change: the longest pass and a month. The page address never expires. */
export const CODE_MS = 60 * 24 * 60 * 60 * 1000;

/** Codes to try: two of a million purchases may derive the same one. */
export const MAX_CODES = 8;

const sealedFor = (hash: string) => `purchase:${hash}`;

/** By accepted secret, the current one first. */
function keysOf(secrets: Secrets) {
	const hashKeys = secrets.deriveAll('purchase code hash', 32);
	return secrets.deriveAll('purchase code', 32).map((codeKey, index) => ({
		derived: (token: string, attempt: number) =>
			codeOfBytes(
				createHmac('sha256', codeKey).update(`${attempt}:${token}`).digest().subarray(0, CODE_BYTES)
			),
		hashOf: (code: string) => hmac(hashKeys[index] ?? codeKey, code)
	}));
}

type Keys = ReturnType<typeof keysOf>;

/** Returns null without a code, and if no accepted secret opens it. */
function openToken(secrets: Secrets, { token_sealed: sealed, code_hash: hash }: Stored): string | null {
	if (sealed === null || hash === null) return null;
	try {
		return secrets.decrypt(sealed, sealedFor(hash));
	} catch {
		return null;
	}
}

/** Returns null if the code belongs to an earlier secret. */
function codeOf(keys: Keys, token: string, row: Stored): string | null {
	for (const { derived, hashOf } of keys) {
		for (let attempt = 0; attempt < MAX_CODES; attempt += 1) {
			const code = derived(token, attempt);
			if (hashOf(code) === row.code_hash) return code;
		}
	}
	return null;
}

const seal = (secrets: Secrets, code_hash: string, token: string) => ({
	code_hash,
	token_sealed: secrets.encrypt(token, sealedFor(code_hash))
});

export function createCodes(database: Database, secrets: Secrets) {
	const keys = keysOf(secrets);
	const [current] = keys as [Keys[number]];
	const hashesOf = (code: string) => keys.map(({ hashOf }) => hashOf(code));

	return {
		/** @param attempt number of codes of this token that other purchases have taken */
		columns: (token: string, attempt: number) =>
			seal(secrets, current.hashOf(current.derived(token, attempt)), token),
		/** Returns the code, e.g. "K7MQ-29XT". Creates it if it is missing or belongs to an earlier secret. */
		async of(token: string, row: store.PurchaseRow): Promise<string> {
			const code = codeOf(keys, token, row);
			if (code !== null) return codeText(code);
			return retryUniqueViolation(database, MAX_CODES, async (attempt) => {
				await store.update(database.db, row.id, this.columns(token, attempt));
				return codeText(current.derived(token, attempt));
			});
		},
		/** Finds the purchase of a code from readCode, without its token. */
		find: (code: string, since: number) => store.findByCode(database.db, hashesOf(code), since),
		/** Returns null for added time, and if the token was sealed with a secret that is gone. */
		tokenOf: (row: store.PurchaseRow): string | null => openToken(secrets, row)
	};
}

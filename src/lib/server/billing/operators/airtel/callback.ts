import { createHmac } from 'node:crypto';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import type { CallbackHint } from '../operator.ts';
import { NO_HINT } from '../outcomes.ts';
import { jsonObject, member, textMember } from '../response.ts';
import { referenceOf } from './ids.ts';
import { CLAIMS } from './outcomes.ts';

/** @param key of the portal, for authenticated callbacks; undefined if the portal has none */
export function parseCallback(body: string, key: string | undefined): CallbackHint {
	const transaction = member(jsonObject(body), 'transaction');
	const id = textMember(transaction, 'id');
	const reference = id === null ? null : referenceOf(id);
	const state = textMember(transaction, 'status_code') ?? textMember(transaction, 'status') ?? '';
	const hint: CallbackHint = {
		...NO_HINT,
		claimed: CLAIMS[state.toUpperCase()] ?? 'unknown',
		reference,
		operatorReference: reference === null || id === null ? null : id.toLowerCase(),
		providerReference: textMember(transaction, 'airtel_money_id')
	};
	if (key === undefined) return hint;
	return { ...hint, authentic: isAuthentic(body, key) ? 'verified' : 'invalid' };
}

/** A transaction has no nested objects; its strings may contain braces. */
const TRANSACTION = /"transaction"\s*:\s*(\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\})/;
/** With a repeated member, the signed bytes and the parsed value could differ. */
const SIGNED_MEMBERS = /"(transaction|hash)"\s*:/g;
const HASH = /,\s*"hash"\s*:\s*"[^"]*"|"hash"\s*:\s*"[^"]*"\s*,\s*/;

/**
 * Checks the `hash` of an authenticated callback: Base64(HMAC-SHA256(payload, private key of the portal)).
 * Published clients define the payload differently, so each definition is tried.
 */
function isAuthentic(body: string, key: string): boolean {
	const { hash, ...others } = jsonObject(body) ?? {};
	if (typeof hash !== 'string' || (body.match(SIGNED_MEMBERS)?.length ?? 0) > 2) return false;
	try {
		const { transaction } = others;
		const bytes = TRANSACTION.exec(body)?.[1];
		const payloads = [
			...(bytes !== undefined && isSame(bytes, transaction) ? [bytes] : []),
			...(transaction === undefined ? [] : [JSON.stringify(transaction)]),
			...[body.replace(HASH, ''), JSON.stringify(others)].filter((text) => isSame(text, others))
		];
		return payloads.some((payload) =>
			equalSecrets(createHmac('sha256', key).update(payload).digest('base64'), hash)
		);
	} catch {
		// Too deeply nested to serialise, so not from Airtel.
		return false;
	}
}

/** Signed bytes count only if they equal the parsed value. */
const isSame = (bytes: string, value: unknown): boolean =>
	JSON.stringify(jsonObject(bytes)) === JSON.stringify(value);

import { createHmac } from 'node:crypto';
import { equalSecrets } from '#lib/server/platform/secrets.ts';
import { jsonObject } from '../response.ts';

/**
 * Checks the `hash` of an authenticated callback: Base64(HMAC-SHA256(payload, private key of the portal)).
 * Published clients define the payload differently, so each definition is tried, or only the
 * configured one.
 */
export const HASH_VARIANTS = ['transaction-bytes', 'transaction-json', 'body'] as const;
type HashVariant = (typeof HASH_VARIANTS)[number];

/** A transaction has no nested objects; its strings may contain braces. */
const TRANSACTION = /"transaction"\s*:\s*(\{(?:"(?:[^"\\]|\\.)*"|[^{}"])*\})/;
/** With a repeated member, the signed bytes and the parsed value could differ. */
const SIGNED_MEMBERS = /"(transaction|hash)"\s*:/g;
const HASH = /,\s*"hash"\s*:\s*"[^"]*"|"hash"\s*:\s*"[^"]*"\s*,\s*/;

/** Returns the definition that matches the body as received, or null. */
export function matchingVariant(
	body: string,
	key: string,
	variants: readonly HashVariant[]
): HashVariant | null {
	const { hash, ...others } = jsonObject(body) ?? {};
	if (typeof hash !== 'string' || (body.match(SIGNED_MEMBERS)?.length ?? 0) > 2) return null;
	try {
		const { transaction } = others;
		const bytes = TRANSACTION.exec(body)?.[1];
		const payloads: Record<HashVariant, readonly string[]> = {
			'transaction-bytes': bytes !== undefined && isSame(bytes, transaction) ? [bytes] : [],
			'transaction-json': transaction === undefined ? [] : [JSON.stringify(transaction)],
			body: [body.replace(HASH, ''), JSON.stringify(others)].filter((text) => isSame(text, others))
		};
		const isSigned = (payload: string) =>
			equalSecrets(createHmac('sha256', key).update(payload).digest('base64'), hash);
		return variants.find((variant) => payloads[variant].some(isSigned)) ?? null;
	} catch {
		// Too deeply nested to serialise, so not from Airtel.
		return null;
	}
}

/** Signed bytes count only if they equal the parsed value. */
const isSame = (bytes: string, value: unknown): boolean =>
	JSON.stringify(jsonObject(bytes)) === JSON.stringify(value);

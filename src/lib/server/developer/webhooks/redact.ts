import { maskPhone } from '#lib/domain/phone.ts';
import { redact, redactCut, redactKnown } from '#lib/server/platform/redact.ts';
import { KEPT_RESPONSE_BYTES } from './transport/transport.ts';

/** Decoding drops a byte order mark, so a truncated text may be 3 bytes shorter. */
const CUT_FROM_BYTES = KEPT_RESPONSE_BYTES - 3;
/** A beginning of a secret counts as a leak from this length on. */
const LEAST_BEGUN = 6;

/**
 * Redacts a response before it is stored, because a receiver may echo the request. Replaces NUL, which PostgreSQL
 * cannot store.
 * @param secrets signing secrets of the request; removed everywhere
 */
export function redactResponse(text: string, secrets: readonly string[] = []): string {
	const isCut = Buffer.byteLength(text) >= CUT_FROM_BYTES;
	let known = text.replaceAll('\0', '\uFFFD');
	for (const secret of secrets) known = without(known, secret.replace(/^whsec_/, ''), isCut);
	return isCut ? redactCut(known) : redact(known);
}

/** Removes a secret, and its beginning at the end of a truncated text. */
function without(text: string, secret: string, isCut: boolean): string {
	const rest = redactKnown(text, secret);
	if (!isCut) return rest;
	for (let length = secret.length - 1; length >= LEAST_BEGUN; length -= 1) {
		if (rest.endsWith(secret.slice(0, length))) return `${rest.slice(0, -length)}…`;
	}
	return rest;
}

export const redactBody = (body: string): string =>
	body.replace(/"phone":"(\+\d+)"/g, (_, phone: string) => `"phone":"${maskPhone(phone)}"`);

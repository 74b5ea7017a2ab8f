import { maskPhone } from '#lib/domain/phone.ts';
import { redact, redactCut, redactKnown } from '#lib/server/platform/redact.ts';
import { KEPT_RESPONSE_BYTES } from './transport.ts';

/** The delivery log shows what was sent and answered, without what must not stand in any log. */

/** A byte order mark is read away, so a text that was cut may be a little shorter. */
const CUT_FROM_BYTES = KEPT_RESPONSE_BYTES - 3;
/** As much of the beginning of a secret tells something about it. */
const LEAST_BEGUN = 6;

/**
 * An answer as it is kept: a receiver may well send back what it got. NUL is nothing that PostgreSQL stores.
 * @param secrets what signed the request; taken out also where nothing says that it is a secret
 */
export function redactResponse(text: string, secrets: readonly string[] = []): string {
	const isCut = Buffer.byteLength(text) >= CUT_FROM_BYTES;
	const known = secrets
		.map((secret) => secret.replace(/^whsec_/, ''))
		.reduce((rest, secret) => without(rest, secret, isCut), text.replaceAll('\0', '\uFFFD'));
	return isCut ? redactCut(known) : redact(known);
}

function without(text: string, secret: string, isCut: boolean): string {
	const rest = redactKnown(text, secret);
	for (let length = secret.length - 1; isCut && length >= LEAST_BEGUN; length -= 1) {
		if (rest.endsWith(secret.slice(0, length))) return `${rest.slice(0, -length)}…`;
	}
	return rest;
}

/** A body of ours as it is shown: the phone number masked, all else as it was sent. */
export const redactBody = (body: string): string =>
	body.replace(/"phone":"(\+\d+)"/g, (_, phone: string) => `"phone":"${maskPhone(phone)}"`);

import { maskPhone } from '#lib/domain/phone.ts';
import { redact } from '#lib/server/platform/redact.ts';

/**
 * Redacts a response before it is stored, because a receiver may echo the request. Replaces NUL, which PostgreSQL
 * cannot store.
 * @param secrets signing secrets of the request
 */
export const redactResponse = (text: string, secrets: readonly string[] = []): string =>
	redact(
		secrets
			.map((secret) => secret.replace(/^whsec_/, ''))
			.reduce((rest, secret) => rest.replaceAll(secret, '…'), text.replaceAll('\0', '\uFFFD'))
	);

export const redactBody = (body: string): string =>
	body.replace(/"phone":"(\+\d+)"/g, (_, phone: string) => `"phone":"${maskPhone(phone)}"`);

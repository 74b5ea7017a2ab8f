import { maskPhone } from '../../phone.ts';

/** The delivery log shows what was sent and answered, without what must not stand in any log. */

const SECRETS = /\b(whsec_|atl_(?:live|test)_)[A-Za-z0-9+/=_-]+/g;

/**
 * An answer as it is kept: a receiver may well send back what it got. Numbers keep their last four digits; NUL is
 * nothing that PostgreSQL stores.
 */
export const redactResponse = (text: string): string =>
	text
		.replaceAll('\0', '\uFFFD')
		.replace(SECRETS, '$1…')
		.replace(/\d{8,}/g, (digits) => `…${digits.slice(-4)}`);

/** A body of ours as it is shown: the phone number masked, all else as it was sent. */
export const redactBody = (body: string): string =>
	body.replace(/"phone":"(\+\d+)"/g, (_, phone: string) => `"phone":"${maskPhone(phone)}"`);

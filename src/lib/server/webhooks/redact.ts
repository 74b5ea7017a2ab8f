import { maskPhone } from '../../phone.ts';
import { redact } from '../redact.ts';

/** The delivery log shows what was sent and answered, without what must not stand in any log. */

/** An answer as it is kept: a receiver may well send back what it got. NUL is nothing that PostgreSQL stores. */
export const redactResponse = (text: string): string => redact(text.replaceAll('\0', '\uFFFD'));

/** A body of ours as it is shown: the phone number masked, all else as it was sent. */
export const redactBody = (body: string): string =>
	body.replace(/"phone":"(\+\d+)"/g, (_, phone: string) => `"phone":"${maskPhone(phone)}"`);

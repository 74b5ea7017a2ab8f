import { createHmac, randomBytes } from 'node:crypto';

/** Signatures of Standard Webhooks 1.0.0, https://github.com/standard-webhooks/standard-webhooks */

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** `whsec_` and 32 random bytes in base64. */
export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

export interface Signed {
	/** `webhook-id` */
	id: string;
	/** `webhook-timestamp`: seconds since the epoch. */
	timestamp: number;
	/** The body as sent. */
	body: string;
}

/** Returns the value of `webhook-signature`: one signature per secret, in their order. */
export function signatures({ id, timestamp, body }: Signed, secrets: readonly string[]): string {
	return secrets
		.map((secret) => {
			const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
			return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
		})
		.join(' ');
}

import { createHmac, randomBytes } from 'node:crypto';

/** Signatures of Standard Webhooks 1.0.0, https://github.com/standard-webhooks/standard-webhooks */

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/**
 * Returns `webhook-signature`: one signature per secret, in order.
 * @param signed `webhook-id`, `webhook-timestamp` in seconds since the epoch, and the body as sent
 */
export function signatures(
	{ id, timestamp, body }: { id: string; timestamp: number; body: string },
	secrets: readonly string[]
): string {
	return secrets
		.map((secret) => {
			const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
			return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
		})
		.join(' ');
}

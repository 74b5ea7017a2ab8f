import type { Config } from '#lib/server/config/config.ts';
import type { HttpOutcome } from '#lib/server/platform/http-client.ts';

/** `unsent`: nothing arrived, so it may be sent again. `uncertain`: it may have been sent and paid for. */
export type SmsOutcome =
	{ kind: 'sent'; reason?: never } | { kind: 'refused' | 'unsent' | 'uncertain'; reason: string };

export interface SmsProvider {
	/** Sends one request. Never throws. @param to E.164 */
	send(sms: { to: string; text: string }): Promise<SmsOutcome>;
}

export type SmsConfig = NonNullable<Config['sms']>;
export type AfricasTalkingConfig = Extract<SmsConfig['provider'], { kind: 'africastalking' }>;
export type HttpProviderConfig = Extract<SmsConfig['provider'], { kind: 'http' }>;

/** The outcome of a request without a success: only an answer 4xx, or no connection, says that nothing was sent. */
export function failureOf(outcome: HttpOutcome): SmsOutcome {
	if (outcome.kind === 'failure') {
		return { kind: outcome.sent ? 'uncertain' : 'unsent', reason: outcome.cause };
	}
	const { status } = outcome;
	const reason = `HTTP ${status}`;
	if (status === 429) return { kind: 'unsent', reason };
	return { kind: status >= 400 && status < 500 ? 'refused' : 'uncertain', reason };
}

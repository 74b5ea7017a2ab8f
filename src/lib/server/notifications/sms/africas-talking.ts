import { z } from 'zod';
import type { HttpClient } from '#lib/server/platform/http-client.ts';
import { failureOf, type AfricasTalkingConfig, type SmsOutcome, type SmsProvider } from './provider.ts';

/** Source: developers.africastalking.com/docs/sms/sending/bulk */

const ANSWER = z.object({
	SMSMessageData: z.object({
		Message: z.string().default(''),
		Recipients: z.array(z.object({ statusCode: z.number(), status: z.string().default('') }))
	})
});

/** Processed, sent, queued. */
const ACCEPTED = [100, 101, 102];

export const africasTalking = (
	{ url, username, apiKey, sender }: AfricasTalkingConfig,
	http: HttpClient
): SmsProvider => ({
	async send({ to, text }) {
		const form = { username, to, message: text, ...(sender !== null && { from: sender }) };
		const outcome = await http.send({
			method: 'POST',
			url: `${url}/version1/messaging`,
			headers: {
				apiKey,
				accept: 'application/json',
				'content-type': 'application/x-www-form-urlencoded'
			},
			body: new URLSearchParams(form).toString()
		});
		const isAnswer = outcome.kind === 'response' && outcome.status >= 200 && outcome.status < 300;
		return isAnswer ? read(outcome.text) : failureOf(outcome);
	}
});

/** Without recipients, the message says why none got it, such as an invalid sender. */
function read(body: string): SmsOutcome {
	let data: z.output<typeof ANSWER>['SMSMessageData'];
	try {
		data = ANSWER.parse(JSON.parse(body)).SMSMessageData;
	} catch {
		return { kind: 'uncertain', reason: 'unreadable answer' };
	}
	const [recipient] = data.Recipients;
	if (!recipient) return { kind: 'refused', reason: data.Message };
	if (ACCEPTED.includes(recipient.statusCode)) return { kind: 'sent' };
	return { kind: 'refused', reason: `${recipient.statusCode} ${recipient.status}` };
}

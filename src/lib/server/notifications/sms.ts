import type { Config } from '#lib/server/config/config.ts';
import type { HttpClient, HttpOutcome } from '#lib/server/platform/http-client.ts';
import { z } from 'zod';

/** `unsent`: nothing arrived, so it may be sent again. `uncertain`: it may have been sent and paid for. */
export type SmsOutcome =
	{ kind: 'sent'; reason?: never } | { kind: 'refused' | 'unsent' | 'uncertain'; reason: string };

export interface SmsProvider {
	/** Sends one request. Never throws. @param to E.164 */
	send(sms: { to: string; text: string }): Promise<SmsOutcome>;
}

type SmsConfig = NonNullable<Config['sms']>;
type AfricasTalkingConfig = Extract<SmsConfig['provider'], { kind: 'africastalking' }>;
type HttpProviderConfig = Extract<SmsConfig['provider'], { kind: 'http' }>;

/** The outcome of a request without a success: only an answer 4xx, or no connection, says that nothing was sent. */
function classifyFailure(outcome: HttpOutcome): SmsOutcome {
	if (outcome.kind === 'failure') {
		return { kind: outcome.sent ? 'uncertain' : 'unsent', reason: outcome.cause };
	}
	const { status } = outcome;
	const reason = `HTTP ${status}`;
	if (status === 429) return { kind: 'unsent', reason };
	return { kind: status >= 400 && status < 500 ? 'refused' : 'uncertain', reason };
}

/** The GSM 7-bit alphabet (3GPP TS 23.038, 6.2.1) without its extension. Other characters take 16 bits. */
const GSM = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà]*$/;

const SEVEN_BIT = { whole: 160, part: 153 };
const SIXTEEN_BIT = { whole: 70, part: 67 };

/** Typographic characters of pages, which would more than double the price, by their plain form. */
const PLAIN: readonly [RegExp, string][] = [
	[/[\u2060\u2066-\u2069]/g, ''],
	[/[\u00a0\u202f]/g, ' '],
	[/[\u2010\u2011\u2013\u2212]/g, '-'],
	[/[‘’]/g, "'"],
	[/[“”«»]/g, '"']
];

export const formatSmsText = (text: string): string =>
	PLAIN.reduce((plain, [pattern, instead]) => plain.replace(pattern, instead), text);

/** Counts the SMS that providers charge for. */
export function countSmsParts(text: string): number {
	const { whole, part } = GSM.test(text) ? SEVEN_BIT : SIXTEEN_BIT;
	return text.length <= whole ? 1 : Math.ceil(text.length / part);
}

export const httpProvider = ({ url, headers, body }: HttpProviderConfig, http: HttpClient): SmsProvider => ({
	async send({ to, text }) {
		const values: Record<string, string> = { number: to, digits: to.slice(1), text };
		const written = isForm(headers) ? encodeURIComponent : inJson;
		const outcome = await http.send({
			method: 'POST',
			url,
			headers,
			body: body.replace(/\{(number|digits|text)\}/g, (_, name: string) => written(values[name] ?? ''))
		});
		const isSent = outcome.kind === 'response' && outcome.status >= 200 && outcome.status < 300;
		return isSent ? { kind: 'sent' } : classifyFailure(outcome);
	}
});

const isForm = (headers: Record<string, string>): boolean =>
	Object.entries(headers).some(
		([name, value]) => name.toLowerCase() === 'content-type' && value.includes('urlencoded')
	);

/** Without the quotes, which the template has. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Source: developers.africastalking.com/docs/sms/sending/bulk */

const ANSWER = z.object({
	SMSMessageData: z.object({
		Message: z.string().default(''),
		Recipients: z.array(z.object({ statusCode: z.number(), status: z.string().default('') }))
	})
});

/** Processed, sent, queued. */
const ACCEPTED = [100, 101, 102];

const africasTalking = (
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
		return isAnswer ? read(outcome.text) : classifyFailure(outcome);
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

export const createSmsProvider = ({ provider }: SmsConfig, http: HttpClient): SmsProvider =>
	provider.kind === 'africastalking' ? africasTalking(provider, http) : httpProvider(provider, http);

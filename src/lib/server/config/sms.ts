import { z } from 'zod';
import { flag, httpUrl } from './fields.ts';
import type { Setting } from './setting.ts';

const HEADERS = 'Use a JSON object of texts, e.g. {"authorization":"Bearer …"}.';

const headers = z
	.string()
	.transform((text, check) => {
		try {
			return JSON.parse(text) as unknown;
		} catch {
			check.addIssue(HEADERS);
			return z.NEVER;
		}
	})
	.pipe(z.record(z.string().regex(/^[\w-]+$/, HEADERS), z.string().regex(/^[^\r\n]*$/, HEADERS), HEADERS));

/** Spread into SETTINGS. */
export const SMS_SETTINGS = {
	AFRICASTALKING_USERNAME: {
		schema: z.string().min(1).optional(),
		description: 'Username of your Africa’s Talking app, which sends SMS. Test apps have `sandbox`.'
	},
	AFRICASTALKING_API_KEY: {
		schema: z.string().min(1).optional(),
		description: 'Its API key. Required with the username.'
	},
	AFRICASTALKING_SENDER: {
		schema: z
			.string()
			.regex(/^[\w .+-]{1,15}$/, 'Use the sender ID or short code of your app.')
			.optional(),
		description: 'Sender ID or short code that Africa’s Talking has given you. Default: the provider’s own.'
	},
	AFRICASTALKING_URL: {
		schema: httpUrl,
		default: 'https://api.africastalking.com',
		description: 'Address of Africa’s Talking. Test apps need `https://api.sandbox.africastalking.com`.'
	},
	SMS_URL: {
		schema: z.url({ protocol: /^https?$/ }).optional(),
		description:
			'Address of another SMS or WhatsApp provider, instead of Africa’s Talking. Airtill sends a POST request; an answer 2xx means sent. It may be a private address.'
	},
	SMS_HEADERS: {
		schema: headers,
		default: '{"content-type":"application/json"}',
		description:
			'Headers for `SMS_URL` as a JSON object, with your key at the provider. The type `application/json` or `application/x-www-form-urlencoded` decides how the values in the body are written.'
	},
	SMS_BODY: {
		schema: z
			.string()
			.regex(/\{text\}/, 'Use {text} in it.')
			.regex(/\{(number|digits)\}/, 'Use {number} or {digits} in it.'),
		default: '{"to":"{number}","text":"{text}"}',
		description:
			'Body for `SMS_URL`: `{number}` is `+256772123456`, `{digits}` the same without `+`, and `{text}` the message.'
	},
	SMS_PRICE: {
		schema: z
			.string()
			.regex(/^\d{1,6}(\.\d{1,2})?$/, 'Use an amount, e.g. "35".')
			.transform(Number),
		default: '0',
		description:
			'Price of one SMS in `CURRENCY`. Owners see it, and the sum of a month. A long text counts as several SMS.'
	},
	SMS_BUYER_CODES: flag(
		'`1`: buyers may have their code sent to the number that paid, and once more if the first SMS may be missing. You pay for the SMS.'
	)
} as const satisfies Record<string, Setting>;

import { existsSync } from 'node:fs';
import { isSupportedCountry } from 'libphonenumber-js/mobile';
import { z } from 'zod';
import { isContact } from '#lib/domain/text.ts';
import { CURRENCIES } from '#lib/domain/money.ts';
import { NAMED_METHODS } from '#lib/domain/payment-methods.ts';
import { type Setting, flag, httpUrl, integer, position, rate, secret, timeZone } from './setting.ts';
import { isInRange, readIpRange } from '#lib/domain/address.ts';

/**
 * All settings but those of operators: how each is read, its default, and its description for the configuration
 * reference.
 */

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

/** @param address in its one spelling (`normaliseIp`) */
export type IsListed = (address: string) => boolean;

/** Parses `daraja=196.201.214.200;pawapay=3.64.89.224/32` to a check per operator; null if it is invalid. */
function readAddressLists(text: string): ReadonlyMap<string, IsListed> | null {
	const lists = new Map<string, IsListed>();
	for (const part of text.split(';').map((one) => one.trim())) {
		if (part === '') continue;
		const [, operator, addresses] = /^([a-z]+)\s*=\s*(\S.*)$/.exec(part) ?? [];
		if (operator === undefined || addresses === undefined || lists.has(operator)) return null;
		const ranges = addresses.split(',').map(readIpRange);
		if (!ranges.every((range) => range !== null)) return null;
		lists.set(operator, (address) => ranges.some((range) => isInRange(address, range)));
	}
	return lists;
}

/** Excludes the operators' settings. The configuration reference shows the descriptions. */
export const SETTINGS = {
	PORT: integer([0, 65_535], 3000, 'Port of the web server.'),
	HOST: { schema: z.string().min(1), default: '0.0.0.0', description: 'Address the web server listens on.' },
	ORIGIN: {
		schema: httpUrl.optional(),
		description:
			'Public address, for example `https://airtill.example`. Set it behind a TLS proxy; otherwise links use the Host header and plain http. Pages opened by another name lead to it, except those that devices behind a gateway read.'
	},
	DATABASE_URL: {
		schema: z
			.string()
			.regex(/^(file:.+|postgres(ql)?:\/\/.+)$/, 'Use "file:PATH" or "postgres://USER:PASSWORD@HOST/NAME".')
			.optional(),
		description:
			'`file:PATH` for SQLite, `postgres://…` for PostgreSQL 15 or newer, with `?options=-csearch_path%3DNAME` in the schema of a city. Unset: the file `airtill.db` in `DATA_DIR`.'
	},
	DATABASE_POOL: integer([1, 200], 10, 'PostgreSQL connections per process.'),
	DATABASE_NAMED_STATEMENTS: {
		...flag(
			'`0` if PgBouncer older than 1.21 is in front of PostgreSQL. `1`: PostgreSQL parses a statement once per connection, which halves its work for a read.'
		),
		default: '1'
	},
	DATA_DIR: {
		schema: z.string().min(1),
		default: './data',
		description:
			'Folder for files that Airtill creates: the database, unless `DATABASE_URL` is set, and the secret of a sandbox. Other users of the machine get no access.'
	},
	AIRTILL_MODE: {
		schema: z.enum(['sandbox', 'live']),
		default: 'sandbox',
		description:
			'`sandbox`: test money, with a mark on every page. `live`: real money; refuses the sandbox operator and test keys.'
	},
	AIRTILL_SECRET: {
		schema: secret.optional(),
		description:
			'Encrypts stored Wi-Fi passwords and derives callback tokens. Required in live mode, and the same in every process. A sandbox creates one in `DATA_DIR`.'
	},
	AIRTILL_SECRET_FALLBACK: {
		schema: secret.optional(),
		description:
			'The secret from before a change of `AIRTILL_SECRET`. It still opens the values that it sealed; keep it.'
	},
	AIRTILL_DEMO: {
		schema: z.enum(['on', 'routers', 'off']),
		default: 'on',
		description:
			'Loads demo routers, accounts and a month of sales into an empty sandbox database; `routers`: without the sales.'
	},
	AIRTILL_API_URL: {
		schema: httpUrl.optional(),
		description:
			'Base address of a remote API (ends in `/v1`) that the portal buys through. Such a portal cannot serve gateways. Default: this process.'
	},
	AIRTILL_API_KEY: { schema: z.string().min(1).optional(), description: 'API key for `AIRTILL_API_URL`.' },
	AIRTILL_LOG_LEVEL: {
		schema: z.enum(['debug', 'info', 'warn', 'error', 'silent']),
		default: 'info',
		description: 'Lowest level of log lines (JSON on standard error).'
	},
	METRICS_TOKEN: {
		schema: secret.optional(),
		description: 'Bearer token of `/metrics`, which is off without it.'
	},
	SMTP_URL: {
		schema: z
			.url({ protocol: /^smtps?$/, error: 'Use "smtps://USER:PASSWORD@HOST:465" or "smtp://HOST:587".' })
			.optional(),
		description:
			'Mail server for sign-in links and alerts, for example `smtps://USER:PASSWORD@mail.example:465`. Without it a sandbox prints emails, and live mode sends none.'
	},
	MAIL_FROM: {
		schema: z
			.string()
			.regex(/^[^\r\n]*@[^\r\n]*$/, 'Use an email address, e.g. "Airtill <till@airtill.example>".')
			.optional(),
		description:
			'Sender of these emails, for example `Airtill <till@airtill.example>`. Required with `SMTP_URL`.'
	},
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
	),
	CONTACT: {
		schema: z
			.string()
			.transform((text) => text.split(',').map((one) => one.trim()))
			.pipe(
				z.array(z.string().refine(isContact, 'Use phone numbers and email addresses, separated by commas.'))
			)
			.optional(),
		description: 'Where buyers get help: phone numbers and email addresses, separated by commas.'
	},
	TEXTS_DIR: {
		schema: z.string().refine(existsSync, 'Use a folder that exists.').optional(),
		description:
			'Folder with your own `help.md`, `terms.md` or `privacy.md`, shown instead of the standard page; `terms.sw.md` is for Swahili.'
	},
	CURRENCY: {
		schema: z.enum(CURRENCIES),
		default: 'UGX',
		description: `Currency of prices and payments: ${CURRENCIES.join(', ')}.`
	},
	DEFAULT_REGION: {
		schema: z.string().refine(isSupportedCountry, 'Use an ISO 3166 country code, e.g. "UG".'),
		default: 'UG',
		description: 'Country of phone numbers without a country code.'
	},
	PAYMENT_METHODS: {
		schema: z
			.string()
			.transform((text) => text.split(',').map((method) => method.trim()))
			.pipe(
				z.array(z.enum(NAMED_METHODS, `Use some of ${NAMED_METHODS.join(', ')}, separated by commas.`)).max(8)
			),
		default: 'mtn_momo,airtel_money',
		description: `Payment methods of new routers, beside \`mobile_money\` (detected from the number): ${NAMED_METHODS.join(', ')}.`
	},
	MAP_CENTRE: {
		schema: position,
		default: '0.3476,32.5825',
		description: 'Centre of the map at its start: latitude,longitude.'
	},
	BASEMAP: {
		schema: z.string().endsWith('.pmtiles', 'Use the path of a ".pmtiles" file.').optional(),
		description:
			'Path of a `.pmtiles` file with the streets of the map. Default: `basemap.pmtiles` in `DATA_DIR`, if it is there.'
	},
	BASEMAP_ATTRIBUTION: {
		schema: z
			.string()
			.max(200, 'Use at most 200 characters.')
			.regex(/^[^<>\p{Cc}]*\S[^<>\p{Cc}]*$/u, 'Use plain text without "<" and ">".')
			.optional(),
		description: 'Copyright notice on the map. Default: `© OpenStreetMap contributors`.'
	},
	REPORT_TIMEZONE: {
		schema: timeZone,
		default: 'Africa/Kampala',
		description: 'Time zone of pages and reports.'
	},
	CALLBACK_URL: {
		schema: httpUrl.optional(),
		description:
			'Address for callbacks of mobile-money operators. Default: `ORIGIN`; in sandbox mode the loopback address.'
	},
	CALLBACK_ADDRESSES: {
		schema: z
			.string()
			.transform((text, check) => {
				const lists = readAddressLists(text);
				if (lists) return lists;
				check.addIssue(
					'Use "OPERATOR=ADDRESS,ADDRESS;OPERATOR=…", addresses such as "196.201.214.200" or "10.0.0.0/8".'
				);
				return z.NEVER;
			})
			.optional(),
		description:
			'Allowed source addresses of callbacks, for example `daraja=196.201.214.200,196.201.214.206;pawapay=3.64.89.224`. Airtill stores other callbacks and ignores them. Behind a proxy set `ADDRESS_HEADER` too. Optional, because callbacks are only hints, and operators change their addresses.'
	},
	OPERATOR_TIMEOUT_SECONDS: integer(
		[1, 120],
		30,
		'Time limit of one request to a mobile-money operator or SMS provider. After it Airtill asks for the status of a payment, and sends the payment again, under the same reference, only if the operator does not know it.'
	),
	RATE_LIMIT_DEFAULT: rate(100, 'API requests per key in 60 seconds, on the default rate plan.'),
	RATE_LIMIT_ENTERPRISE: rate(1000, 'API requests per key in 60 seconds, on the enterprise rate plan.'),
	PAYMENT_TIMEOUT_SECONDS: integer(
		[30, 60 * 60],
		10 * 60,
		'Time until an unanswered payment shows as expired. It can still succeed late.'
	),
	SESSION_PAYMENT_SECONDS: integer(
		[60, 24 * 60 * 60],
		30 * 60,
		'Time to pay a session. Airtill then cancels it.'
	),
	LATE_PAYMENT_SECONDS: integer(
		[0, 24 * 60 * 60],
		30 * 60,
		'Time after the cancellation in which a late payment still buys the time. Later payments are refunded.'
	),
	RECONCILE_HOURS: integer(
		[24, 30 * 24],
		72,
		'Time in which Airtill asks the operator about an unanswered payment; then a person must decide. For one that the operator calls failed it is 24 hours.'
	),
	KEEP_NUMBERS_DAYS: integer(
		[90, 36_500],
		3650,
		'Days until phone numbers and messages of operators are deleted from purchases and payments, which stay. The default is ten years, for which OHADA countries keep evidence of accounts; the law of your country may ask for fewer.'
	),
	KEEP_DEVICES_DAYS: integer(
		[32, 3650],
		400,
		'Days until the records of devices are deleted: MAC and IP addresses, times online, data use. The default lets owners look back a year; the law of your country may ask for a time.'
	),
	PAYMENT_ATTEMPTS: integer([1, 100], 5, 'Payments per session.'),
	PAYER_PROMPTS: integer(
		[1, 1000],
		5,
		'Payment prompts per phone number and source in 15 minutes. Each API account, with all its keys, is a source, and so is each address (IPv6: /64) that uses the pages. All sources together may send four times as many.'
	),
	UNPAID_PROMPTS: integer(
		[1, 1_000_000],
		10,
		'Unpaid payment prompts in 15 minutes of an address that uses the pages (IPv6: /64; a /56 has twice as many, a /48 four times), and of an API account with all its keys. Three more for each payment of the last 24 hours. Above it, the first two prompts of a device that a gateway redirected pass, up to three times as many. Outages of the operator do not count, and numbers that paid in the last 30 days are not refused.'
	),
	UNPAID_PROMPTS_TOTAL: integer(
		[10, 1_000_000],
		1000,
		'Unpaid payment prompts in 15 minutes from all addresses together, or three for each payment of these 15 minutes if that is more. Devices that gateways redirected have the same total for themselves, and so have API accounts. Above it only addresses and accounts that paid in the last 24 hours and numbers that paid in the last 30 days can start payments, and administrators see it in their overview.'
	),
	MAX_PRICE: integer(
		[1, 1_000_000_000],
		1_000_000,
		'Highest price per hour. 30 days at this price must be payable.'
	),
	COMMISSION_BASIS_POINTS: integer(
		[0, 10_000],
		1000,
		'Your share of each payment in hundredths of a percent.'
	),
	PAYOUT_APPROVAL: flag('`1`: a second administrator must approve payouts before they are sent.'),
	WEBHOOK_ALLOW_INSECURE: flag(
		'`1`: allows webhooks to `http:` and private addresses, for development. Refused in live mode.'
	)
} as const satisfies Record<string, Setting>;

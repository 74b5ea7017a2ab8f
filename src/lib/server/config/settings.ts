import { existsSync } from 'node:fs';
import { isSupportedCountry } from 'libphonenumber-js/mobile';
import { z } from 'zod';
import { isContact } from '#lib/domain/contact.ts';
import { CURRENCIES } from '#lib/domain/money.ts';
import { readAddressLists } from './callback-addresses.ts';
import { NAMED_METHODS } from '#lib/domain/payment-methods/payment-method-guess.ts';
import { flag, httpUrl, integer, position, secret, timeZone } from './fields.ts';
import { LIMITS } from './limits.ts';
import type { Setting } from './setting.ts';
import { SMS_SETTINGS } from './sms.ts';

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
			'`file:PATH` for SQLite, `postgres://…` for PostgreSQL 15 or newer. Unset: the file `airtill.db` in `DATA_DIR`.'
	},
	DATABASE_POOL: integer([1, 200], 10, 'PostgreSQL connections per process.'),
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
		schema: z.enum(['on', 'off']),
		default: 'on',
		description: 'Loads demo routers and accounts into an empty sandbox database.'
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
	...SMS_SETTINGS,
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
		description: 'Path of a `.pmtiles` file with the streets of the map. Default: coasts and borders.'
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
	...LIMITS,
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
	WEBHOOK_ALLOW_INSECURE: flag(
		'`1`: allows webhooks to `http:` and private addresses, for development. Refused in live mode.'
	)
} as const satisfies Record<string, Setting>;

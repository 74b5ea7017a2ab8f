import { integer, rate } from './fields.ts';
import type { Setting } from './setting.ts';

/** Active API keys of an account. */
export const MAX_ACTIVE_KEYS = 20;

export const LIMITS = {
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
		'Unpaid payment prompts in 15 minutes from all addresses together, or three for each payment of these 15 minutes if that is more. Devices that gateways redirected have the same total for themselves, and so have API accounts. Above it only addresses and accounts that paid in the last 24 hours and numbers that paid in the last 30 days can start payments, and administrators are alerted.'
	)
} as const satisfies Record<string, Setting>;

import { z } from '@hono/zod-openapi';
import { SCOPES } from './scopes.ts';
import * as field from './fields.ts';
import { offer } from './offer.ts';
import { sessionStatus } from './session.ts';

/** The API's errors by code (RFC 9457). A code is stable; `detail` is for people and may change. */

interface Problem {
	status: number;
	title: string;
	/** Default: the page /problems/{code}. */
	type?: string;
	meaning: string;
	advice: string;
	detail: string;
}

const withStatus = <Code extends string>(status: number, problems: Record<Code, Omit<Problem, 'status'>>) =>
	Object.fromEntries(
		Object.entries<Omit<Problem, 'status'>>(problems).map(([code, problem]) => [code, { status, ...problem }])
	) as Record<Code, Problem>;

export const PROBLEMS = {
	...withStatus(400, {
		invalid_json: {
			title: 'Request body is not valid JSON',
			meaning: 'The body is not JSON in UTF-8. (JSON that is not an object is `validation_failed`.)',
			advice:
				'Send one JSON object, written by a library. A stray comma or another encoding causes this error.',
			detail: 'The body is not valid JSON in UTF-8.'
		},
		unsupported_media_type: {
			title: 'Content type must be application/json',
			meaning:
				'The body lacks the header `Content-Type: application/json`, or it is compressed (`Content-Encoding`).',
			advice:
				'Send the header. With curl: `-H "Content-Type: application/json"`, because `-d` alone announces a form. Send the body uncompressed.',
			detail: 'Send JSON with the header "Content-Type: application/json".'
		},
		body_too_large: {
			title: 'Request body is too large',
			meaning: 'The body has more than 16 KiB.',
			advice: 'Send only documented fields; none of them needs that much.',
			detail: 'Send at most 16384 bytes.'
		},
		validation_failed: {
			title: 'Request validation failed',
			meaning: 'One or more values are missing, unknown, out of range, or have the wrong type or form.',
			advice:
				'Read `errors`: `in` and `pointer` name the value, `code` gives the reason, `detail` the fix. Correct all of them, then send the request again.',
			detail: '1 field is invalid.'
		},
		invalid_cursor: {
			title: 'Cursor is not valid for this list',
			meaning: 'The cursor was changed, or belongs to a list with other filters.',
			advice: 'Send `next_cursor` unchanged, with the same filters. Otherwise start again without a cursor.',
			detail: 'Use next_cursor of the previous page, with the same filters.'
		},
		invalid_phone: {
			title: 'Phone is not a mobile number',
			meaning: 'The phone number is not a mobile number of its country’s numbering plan.',
			advice:
				'Ask for the number again. Send it in E.164 (`+256772123456`), or as it is dialled in the country of the installation.',
			detail: 'Use a mobile number with its country code, e.g. "+256772123456".'
		},
		router_unavailable: {
			title: 'Router is offline',
			meaning: 'The router is offline. Nothing was created or charged.',
			advice: 'Offer another router nearby, or try again when `status` of the router is `online`.',
			detail: 'The router is offline and cannot be sold now.'
		},
		duration_not_allowed: {
			title: 'Duration is outside what the router sells',
			meaning:
				'The duration is shorter or longer than this router sells at its hourly price, and no offer has it.',
			advice:
				'Choose a duration from `min_duration` to `max_duration` (the response and the router have both), or an offer.',
			detail:
				'This router sells from 15 minutes ("15m") to 30 days ("30d"). Units: m, h, d (24 hours), w (7 days).'
		},
		duration_not_offered: {
			title: 'Duration is not among the offers of the router',
			meaning: 'The router sells only its offers, and none of them that is available has this duration.',
			advice: 'Choose one of `offers` and send its `duration` and, as `offer_id`, its `id`.',
			detail: 'This router sells only its offers: 1h, 1d.'
		},
		offer_not_available: {
			title: 'Offer is not on sale',
			meaning:
				'The offer was changed or removed, it is outside its hours of sale, or its limits differ from those of the pass in `extends_session_id`. Nothing was created or charged.',
			advice: 'Show the buyer the current `offers` of the router and let them choose again.',
			detail: 'The router has no offer with this id on sale now.'
		},
		offers_changed: {
			title: 'Offers have changed',
			meaning:
				'The offers of the router were changed after the list with this `version` was read. Nothing was set.',
			advice: 'Read the offers again, make the change there, and send the list with its new `version`.',
			detail: 'Somebody has changed the offers since you read them.'
		},
		payment_method_not_supported: {
			title: 'Payment method is not accepted by the router',
			meaning:
				'The router does not accept this payment method, or the method cannot charge the price (`payment_limits` of the router). `detail` names the reason.',
			advice:
				'Use one of `payment_methods`; `mobile_money` finds the method from the number. If the price is the reason, another duration helps too.',
			detail: 'The router accepts mobile_money, mtn_momo, airtel_money.'
		},
		session_not_active: {
			title: 'Session cannot be ended in its state',
			meaning: 'The session is already over or about to start, so it cannot be ended.',
			advice:
				'Check `session_status`. If it is `ended` or `cancelled`, an earlier request succeeded and nothing is left to do.',
			detail: 'The session is expired; there is nothing to end.'
		},
		session_not_extendable: {
			title: 'Session cannot be extended',
			meaning:
				'The session in `extends_session_id` is not `active`, or it is on another router. Nothing was created or charged.',
			advice:
				'Check `session_status`. If the time is over, order without `extends_session_id`: that creates a new pass with its own password.',
			detail: 'The session is expired; order time without extends_session_id.'
		},
		amount_mismatch: {
			title: 'Amount differs from the price of the session',
			meaning: 'The amount is not the price of the session. Nobody was asked to pay.',
			advice:
				'Send the `amount` of the session unchanged, here also as `expected_amount`. Do not compute it.',
			detail: 'The session costs UGX 1000.'
		},
		payment_in_progress: {
			title: 'A payment for the session is already in progress',
			meaning: 'A payment of the session is waiting for the payer. Nobody was asked a second time.',
			advice: 'Poll the payment in `payment_id` until it leaves `pending`; start a new one only after that.',
			detail: 'A payment for this session is pending. Wait until it ends.'
		},
		session_already_paid: {
			title: 'Session is already paid',
			meaning: 'The session is paid and runs, or starts soon. No further payment is due.',
			advice: 'Read the session: it has the password.',
			detail: 'The session is already paid.'
		},
		session_not_payable: {
			title: 'Session cannot be paid in its state',
			meaning: 'The session is cancelled, ended or expired, and can no longer be paid.',
			advice: 'Create a new session and pay for that one.',
			detail: 'The session is expired. Create a new one.'
		},
		payment_attempts_exceeded: {
			title: 'Too many payment attempts for the session',
			meaning: 'Too many payments were started for this session.',
			advice: 'Ask the payer to check number and balance, then create a new session.',
			detail: 'Create a new session to try again.'
		},
		payer_prompt_limit: {
			title: 'Too many payment prompts to the number',
			meaning:
				'This number got too many payment prompts in the last 15 minutes: by default five from your account, or 20 from everybody.',
			advice: 'Wait `retry_after` seconds, or pay from another number.',
			detail: 'This number got 5 payment requests in the last 15 minutes. Try again in 7 min.'
		},
		unpaid_prompt_limit: {
			title: 'Too many payment prompts are unpaid',
			meaning:
				'Too many payment prompts of the last 15 minutes are unpaid: of your account, of the network of a buyer of the pages, or in total. An account starts with few, and gets three more for each payment of the last 24 hours. Numbers that paid in the last 30 days are not refused. The session stays open.',
			advice: 'Wait `retry_after` seconds.',
			detail: 'Too many payment requests of this account are unpaid. Try again in 7 min.'
		},
		voucher_redeemed: {
			title: 'Voucher has been redeemed',
			meaning: 'Another account has redeemed this voucher, at `redeemed_at`. A voucher buys time once.',
			advice: 'Say when it was redeemed. The buyer finds the time with the code of the purchase.',
			detail: 'The voucher has been redeemed.'
		},
		voucher_void: {
			title: 'Voucher is void',
			meaning: 'The owner of the router voided the voucher, or printed new ones in its place, at `void_at`.',
			advice: 'Send the buyer to the seller, who can exchange it.',
			detail: 'The voucher is void. The seller can exchange it.'
		},
		voucher_of_other_router: {
			title: 'Voucher is for another router',
			meaning: 'The voucher buys time on `router_id`, not on the router of the request. It was not redeemed.',
			advice: 'Name that router (`router_name`). The voucher stays valid.',
			detail: 'The voucher is for Kisementi Cafe.'
		},
		webhook_url_not_allowed: {
			title: 'Webhook URL is not allowed',
			meaning: 'Events are not sent to addresses like this one. `detail` names the broken rule.',
			advice:
				'Use `https`, a public host name, port 443 or 1024 and above, and neither a username nor a fragment.',
			detail: 'Use an https address with a DNS name.'
		},
		webhook_limit_reached: {
			title: 'Account has too many webhooks',
			meaning: 'The account has reached its number of webhook endpoints.',
			advice:
				'Delete one with `DELETE /v1/webhooks/{id}` or in the developer settings, or register one address for more events.',
			detail: 'An account has at most 16 webhook endpoints.'
		},
		idempotency_key_reused: {
			title: 'Idempotency key was used with another request',
			meaning:
				'The `Idempotency-Key` belongs to an earlier request with another body. This request had no effect.',
			advice: 'Create a new key for each new order or payment; reuse a key only to repeat the same request.',
			detail: 'This key was used with a different body. Use a new key.'
		},
		idempotency_key_in_use: {
			title: 'Idempotency key is in use',
			meaning: 'The first request with this `Idempotency-Key` is still being processed.',
			advice: 'Send the same request again after `Retry-After` seconds to get the response of the first one.',
			detail: 'The first request with this key is still being processed.'
		}
	}),
	...withStatus(401, {
		missing_api_key: {
			title: 'API key is missing',
			meaning: 'The request has no API key in the `Authorization` header.',
			advice:
				'Send `Authorization: Bearer <API_KEY>`. Keys in the address or in the body are never read. Paths that do not exist need a key too.',
			detail: 'Send the header "Authorization: Bearer <API_KEY>".'
		},
		invalid_api_key: {
			title: 'API key is not valid',
			meaning:
				'The API key is mistyped, unknown, revoked or expired, or it is a test key on a live installation.',
			advice:
				'Compare the key with the one you saved. If it is lost or old, create a new one in the developer settings.',
			detail: 'The API key is not known, or no longer valid.'
		}
	}),
	...withStatus(403, {
		account_suspended: {
			title: 'Account is suspended',
			meaning: 'The account of this API key is suspended; none of its keys works.',
			advice: 'Do not retry. Contact the administrator of this installation.',
			detail: 'The account of this API key is suspended.'
		},
		insufficient_scope: {
			title: 'API key lacks a scope',
			meaning: 'The API key is limited to scopes, and the scope of this endpoint is not among them.',
			advice:
				'Use a key with the scope in `required_scope`, or one without scopes, which may do all of its role.',
			detail: 'The API key lacks the scope.'
		},
		owner_role_required: {
			title: 'Only router owners may do this',
			meaning: 'The endpoint is for router owners, and the key or its account has only the role `app`.',
			advice: 'Use a key of role `owner` of an account that owns routers.',
			detail: 'Use an API key with the role owner.'
		},
		not_router_owner: {
			title: 'The router belongs to another account',
			meaning: 'The router belongs to another account. Only that account or an administrator may do this.',
			advice: 'Check the id.',
			detail: 'The router belongs to another account.'
		}
	}),
	...withStatus(404, {
		route_not_found: {
			title: 'No such route',
			meaning: 'There is no such path under `/v1`, or the path does not support this method.',
			advice:
				'Compare path and method with the [list of endpoints](/docs/api). If the response has the header `Allow`, the path exists and supports those methods.',
			detail: 'There is no PATCH /v1/routers.'
		},
		router_not_found: {
			title: 'Router not found',
			meaning: 'No router has this id, or it is no longer for sale.',
			advice: 'Use ids from the list of routers, and do not store them for long.',
			detail: 'There is no router with this id.'
		},
		session_not_found: {
			title: 'Session not found',
			meaning: 'No session has this id, or it belongs to another account.',
			advice:
				'Use a key of the account that created the session. Owners find sessions on their routers in `/v1/owner/users`.',
			detail: 'There is no session with this id.'
		},
		voucher_not_found: {
			title: 'Voucher not found',
			meaning: 'No voucher has this code.',
			advice: 'Ask the buyer to compare the code with the voucher: it has 12 letters and digits.',
			detail: 'There is no voucher with this code.'
		},
		voucher_batch_not_found: {
			title: 'Batch of vouchers not found',
			meaning: 'No batch has this id, or it belongs to another account.',
			advice: 'Use an id of `GET /v1/owner/voucher-batches`.',
			detail: 'There is no batch of vouchers with this id.'
		},
		webhook_not_found: {
			title: 'Webhook not found',
			meaning: 'No webhook endpoint has this id, or it belongs to another account.',
			advice: 'Use an id of `GET /v1/webhooks`. If an earlier request deleted it, nothing is left to do.',
			detail: 'There is no webhook endpoint with this id.'
		},
		payment_not_found: {
			title: 'Payment not found',
			meaning: 'No payment has this id, or it belongs to another account.',
			advice:
				'Use a key of the account that started the payment, and the id of the payment, not of the session.',
			detail: 'There is no payment with this id.'
		}
	}),
	...withStatus(429, {
		rate_limit_exceeded: {
			title: 'Rate limit exceeded',
			// Registered: https://www.iana.org/assignments/http-problem-types
			type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
			meaning:
				'The key, or all keys of its account together, have used their requests of the last 60 seconds, or too many requests of your network wait for an answer (`waiting`); `violated-policies` and `detail` name the limit. This request was not counted.',
			advice:
				'Wait `Retry-After` seconds. While a payment is pending, use `wait` or a webhook instead of frequent polling.',
			detail: '100 requests per minute are allowed for this API key. Retry in 23 s.'
		}
	}),
	...withStatus(500, {
		internal_error: {
			title: 'Internal server error',
			meaning: 'The server failed. The error is logged with its `request_id`.',
			advice:
				'Try again after a moment, with the same `Idempotency-Key` if you sent one. If the error persists, send the `request_id` to the administrator of this installation.',
			detail: 'The server failed to process the request. Try again later.'
		}
	})
};

export type ProblemCode = keyof typeof PROBLEMS;

export const PROBLEM_CODES = Object.keys(PROBLEMS) as ProblemCode[];

export const ITEM_CODES = {
	required: 'The value is missing.',
	invalid_type: 'The value has the wrong JSON type. Nothing is converted: send `1`, not `"1"`.',
	invalid_format: 'The type is right, the form is not. Compare it with the pattern, e.g. `2h` for two hours.',
	out_of_range: 'The value is too small or too large. Values are never clamped.',
	unknown_field: 'The body has a field that this endpoint does not know. Remove it, or correct its spelling.',
	unknown_value: 'The value is not one of the known ones, which `detail` lists.',
	duplicate: 'The parameter or entry occurs twice. Send it once.'
} as const;

type ItemCode = keyof typeof ITEM_CODES;
const itemCodes = Object.keys(ITEM_CODES) as [ItemCode, ...ItemCode[]];

const problemItem = z
	.object({
		in: z.enum(['body', 'query', 'path', 'header']).describe('Part of the request with the invalid value.'),
		pointer: z
			.string()
			.describe(
				'The value in the body (RFC 6901), or `/` and the name of the parameter; empty for the whole body or path.'
			),
		// A Markdown list, because an enumeration has only one description.
		code: z
			.enum(itemCodes)
			.describe(`Reason:\n\n${itemCodes.map((code) => `- \`${code}\`: ${ITEM_CODES[code]}`).join('\n')}`),
		detail: z.string().describe('The same for people; the wording may change.')
	})
	.openapi('ProblemItem', { description: 'One invalid value.' });

/** Members that only some codes have; their descriptions name the codes. */
const members = {
	errors: z
		.array(problemItem)
		.min(1)
		.describe('`validation_failed`: every invalid value of one part of the request: path, query or body.'),
	required_scope: z.enum(SCOPES).describe('`insufficient_scope`: the scope that the API key lacks.'),
	min_duration: field.duration('`duration_not_allowed`: the shortest time that the router sells.'),
	max_duration: field.duration('`duration_not_allowed`: the longest time that the router sells.'),
	offers: z
		.array(offer)
		.describe('`duration_not_offered`: all offers of the router. Those with `available` are on sale now.'),
	payment_methods: z
		.array(z.string())
		.describe('`payment_method_not_supported`: the payment methods that the router accepts.'),
	/** Of `session_not_active`, `session_not_extendable` and `session_not_payable`. */
	session_status: sessionStatus,
	expected_amount: field.amount('`amount_mismatch`: the amount to pay, in major units of `currency`.'),
	currency: field.currency.describe('`amount_mismatch`: ISO 4217 code.'),
	payment_id: field.id('`payment_in_progress`: id of the pending payment.'),
	router_id: field.id('`voucher_of_other_router`: id of the router of the voucher.'),
	router_name: z.string().describe('`voucher_of_other_router`: name of the router of the voucher.'),
	redeemed_at: field.timestamp.describe('`voucher_redeemed`: time at which the voucher was redeemed.'),
	void_at: field.timestamp.describe('`voucher_void`: time at which the voucher became void.'),
	retry_after: z.int().min(1).max(900).meta({
		description:
			'`rate_limit_exceeded`, `payer_prompt_limit`, `unpaid_prompt_limit`: seconds until the next try.',
		minimum: 1,
		maximum: 900
	}),
	'violated-policies': z
		.array(z.string())
		.min(1)
		.describe('`rate_limit_exceeded`, `unpaid_prompt_limit`: names of the exceeded limits.')
};

export const problem = z
	.object({
		type: z.string().meta({ description: 'Address of a page that explains the code.', format: 'uri' }),
		title: z.string().describe('Short text; always the same for a code.'),
		status: z.int().meta({ description: 'The HTTP status.', minimum: 400, maximum: 599 }),
		detail: z.string().describe('Reason in this request, for people; the wording may change.'),
		code: z.string().describe('Stable code of the error.'),
		request_id: z.string().meta({
			description: 'Id of this request, as in `X-Request-Id`.',
			pattern: '^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$'
		}),
		...z.object(members).partial().shape
	})
	.openapi('Problem', {
		description:
			'An error (RFC 9457). Clients switch on `code`, and handle a code that they do not know by its status.'
	});

export type ProblemItem = z.infer<typeof problemItem>;

/** Escapes `~` and `/` in names (RFC 6901). */
const formatPointer = (path: readonly PropertyKey[]) =>
	path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

const findValue = (value: unknown, path: readonly PropertyKey[]): unknown =>
	path.reduce<unknown>((part, name) => (Object(part) as Record<PropertyKey, unknown>)[name], value);

/** @param sent the value that the schema parsed */
export function describeIssue(location: ProblemItem['in'], issue: z.core.$ZodIssue, sent: unknown) {
	const value = findValue(sent, issue.path);
	const at = (code: ProblemItem['code'], detail: string, path = issue.path): ProblemItem[] => [
		{ in: location, pointer: formatPointer(path), code, detail }
	];
	if (location === 'query' && Array.isArray(value)) return at('duplicate', 'Send this parameter once.');
	switch (issue.code) {
		case 'unrecognized_keys':
			return issue.keys.flatMap((key) =>
				at('unknown_field', 'This endpoint has no such field.', [...issue.path, key])
			);
		case 'invalid_type':
			if (value === undefined) return at('required', 'This field is required.');
			if (issue.path.length === 0) return at('invalid_type', 'Use a JSON object.');
			return at('invalid_type', `Use ${withArticle(issue.expected === 'int' ? 'integer' : issue.expected)}.`);
		case 'too_small':
			return at(
				'out_of_range',
				`Use ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}.`
			);
		case 'too_big':
			return at('out_of_range', `Use at most ${issue.maximum}.`);
		case 'invalid_value':
			// All enumerations in the schemas contain strings.
			if (value === undefined) return at('required', 'This field is required.');
			if (typeof value !== 'string') return at('invalid_type', 'Use a string.');
			return at('unknown_value', `Use one of ${issue.values.map(String).join(', ')}.`);
		case 'custom': {
			const item = String(issue.params?.item);
			return at(item in ITEM_CODES ? (item as ProblemItem['code']) : 'invalid_format', issue.message);
		}
		default:
			return at('invalid_format', issue.message);
	}
}

const withArticle = (type: string) => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);

import { z } from '@hono/zod-openapi';
import { SCOPES } from '../scopes.ts';
import * as field from './fields.ts';
import { offer } from './offer.ts';
import { sessionStatus } from './session.ts';

export const ITEM_CODES = {
	required: 'The value is missing.',
	invalid_type: 'The value has the wrong JSON type. Nothing is converted: send `1`, not `"1"`.',
	invalid_format: 'The type is right, the form is not. Compare it with the pattern, e.g. `2h` for two hours.',
	out_of_range: 'The value is too small or too large. Values are never clamped.',
	unknown_field: 'The body has a field that this endpoint does not know. Remove it, or correct its spelling.',
	unknown_value: 'The value is not one of the known ones, which `detail` lists.',
	duplicate: 'The parameter, field or entry occurs twice. Send it once.'
} as const;

type ItemCode = keyof typeof ITEM_CODES;
const itemCodes = Object.keys(ITEM_CODES) as [ItemCode, ...ItemCode[]];

export const problemItem = z
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
	errors: z.array(problemItem).min(1).describe('`validation_failed`: every invalid value of the request.'),
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

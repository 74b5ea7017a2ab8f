import { z } from '@hono/zod-openapi';

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

export const problem = z.object({
	type: z.string().meta({ description: 'Address of a page that explains the code.', format: 'uri' }),
	title: z.string().describe('Short text; always the same for a code.'),
	status: z.int().describe('The HTTP status.'),
	detail: z.string().describe('Reason in this request, for people; the wording may change.'),
	code: z.string().describe('Stable code of the error.'),
	request_id: z.string().meta({
		description: 'Id of this request, as in `X-Request-Id`.',
		pattern: '^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$'
	}),
	errors: z.array(problemItem).optional()
});

export type ProblemItem = z.infer<typeof problemItem>;

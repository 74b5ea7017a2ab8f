import { z } from '@hono/zod-openapi';
import { MAX_REASON } from '#lib/domain/help.ts';
import { MAX_DURATION, MIN_DURATION } from '#lib/domain/time.ts';
import { MAX_AMOUNT_MINOR } from '#lib/domain/money.ts';

/**
 * Request schemas are strict, because an ignored field can cost money.
 * Response schemas are open, because additions are not breaking.
 * Path and query parameters arrive as text, so their type and limits are documented by hand.
 * Optional parameters have no example: consoles fill in what they find, and a request should work as they show it.
 */

const ID = { format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER } as const;

export const id = (description: string) => z.int().meta({ description, ...ID });

/** Describes an id in a request body. An id that matches nothing (0, negative, too large) gives 404 later. */
export const bodyId = (description: string) =>
	z
		.number()
		.refine(Number.isInteger, { params: { item: 'invalid_type' }, error: 'Use an integer.' })
		.meta({ type: 'integer', description, ...ID });

export const idParams = (description: string, example: number) =>
	z.strictObject({
		id: z
			.string()
			.regex(/^-?\d+$/, 'Use an integer.')
			.transform(Number)
			.openapi({ type: 'integer', ...ID, param: { description, example } })
	});

/** RFC 8259, section 6. A `+` in a query that is not percent-encoded arrives as a space. */
const JSON_NUMBER = /^(?!.{65})-?(0|[1-9]\d*)(\.\d+)?([eE][+ -]?\d+)?$/;

/** Parses any number of JSON, also with 17 decimals or an exponent. One beyond the doubles is out of each range. */
const jsonNumber = (hint: string) =>
	z
		.string()
		.regex(JSON_NUMBER, { error: hint, abort: true })
		.transform((text) => {
			const value = Number(text.replace(' ', '+'));
			if (!Number.isFinite(value)) return Math.sign(value) * Number.MAX_VALUE;
			// -0 is 0.
			return value + 0;
		});

export const ANY_JSON_NUMBER =
	'any number of JSON in up to 64 characters, such as 0.34760000000001096 or 5e-7';

export const queryNumber = (range: z.ZodNumber, hint: string) => jsonNumber(hint).pipe(range);

const wholeNumberHint = (minimum: number, maximum: number) =>
	`Use a whole number from ${minimum} to ${maximum}.`;

export const queryInteger = ([minimum, maximum]: [number, number], byDefault: number, description: string) =>
	jsonNumber(wholeNumberHint(minimum, maximum))
		.refine(Number.isInteger, { error: wholeNumberHint(minimum, maximum), abort: true })
		.pipe(z.number().min(minimum).max(maximum))
		.default(byDefault)
		.openapi({ type: 'integer', minimum, maximum, default: byDefault, param: { description } });

const queryInstant = (description: string) =>
	z.iso
		.datetime({ offset: true, error: 'Use a time, e.g. "2026-11-21T09:15:00Z".' })
		.transform(Date.parse)
		.optional()
		.openapi({ type: 'string', format: 'date-time', param: { description } });

export const textOrNull = (description: string) => z.string().nullable().describe(description);

export const EXAMPLE_CURSOR = 'eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ';

/** An optional parameter. */
export const parameter = <S extends z.ZodType>(value: S, description: string) =>
	value.optional().openapi({ param: { description } });

/** Of a change that an administrator makes at a router of another account. */
export const reason = z
	.string()
	.max(MAX_REASON, `Use at most ${MAX_REASON} characters.`)
	.optional()
	.describe(
		"Why an administrator changes a router of another account. Its owner sees it, with the administrator's email address. Not kept for an own router."
	);

export const paging = {
	limit: queryInteger([1, 100], 20, 'Maximum number of entries on a page.'),
	cursor: parameter(
		z.string().meta({ maxLength: 512, pattern: '^[A-Za-z0-9_-]+$' }),
		'`next_cursor` of the previous page, with the same filters. Its content is opaque.'
	)
};

export const newestFirst = {
	created_after: queryInstant(
		'Only entries created at this time or later, RFC 3339 with `Z` or an offset, whose `+` is written `%2B`.'
	),
	created_before: queryInstant(
		'Only entries created before this time, RFC 3339 with `Z` or an offset, whose `+` is written `%2B`.'
	),
	...paging
};

/** A page of a list. `more` are members beside the list. */
export const list = <Entry extends z.ZodType, More extends z.ZodRawShape = Record<never, never>>(
	name: string,
	description: string,
	entry: Entry,
	entries: string,
	more?: More
) =>
	z
		.object({
			data: z.array(entry).describe(entries),
			has_more: z.boolean().describe('Whether there is a next page.'),
			next_cursor: textOrNull('`cursor` of the next page, with the same filters; null on the last page.'),
			...(more as More)
		})
		.openapi(name, { description });

/** RFC 3339 in UTC with milliseconds. */
export const timestamp = z.iso
	.datetime({ precision: 3 })
	.meta({ pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$` });

export const timeOrNull = (description: string) => timestamp.nullable().describe(description);

export const changes = {
	created_at: timestamp.describe('Time of creation, RFC 3339 in UTC with milliseconds.'),
	updated_at: timestamp.describe('Time of the last change, RFC 3339 in UTC with milliseconds.')
};

export const currency = z
	.string()
	.regex(/^[A-Z]{3}$/)
	.describe('ISO 4217 code of the currency of every amount in this object.');

/** Major units. */
const AMOUNTS = { exclusiveMinimum: 0, maximum: MAX_AMOUNT_MINOR };

export const amount = (description: string) => z.number().meta({ description, ...AMOUNTS });

export const bodyAmount = (description: string, error: string) =>
	z
		.number()
		.refine((value) => value > 0, { params: { item: 'out_of_range' }, error })
		.meta({ description, ...AMOUNTS });

export const count = (description: string) => z.int().meta({ description, minimum: 0 });

export const countOrNull = (description: string) => z.int().nullable().meta({ description, minimum: 0 });

export const positive = (description: string) => z.int().meta({ description, minimum: 1 });

const DURATION = {
	description:
		'Time bought: a number and a unit, `m` minutes, `h` hours, `d` days of 24 hours, `w` weeks of 7 days.',
	pattern: '^[1-9][0-9]{0,4}[mhdw]$'
};

export const duration = (description = DURATION.description) => z.string().meta({ ...DURATION, description });

export const bodyDuration = z
	.string()
	.regex(
		new RegExp(DURATION.pattern),
		`Use a count and a unit without a space: minutes "30m", hours "2h", days "1d" or weeks "1w", from ${MIN_DURATION} to ${MAX_DURATION}.`
	)
	.describe(
		`${DURATION.description} From \`min_duration\` to \`max_duration\` of the router, or the duration of one of its offers.`
	);

export const phone = (description: string) =>
	z.string().meta({ description, pattern: String.raw`^\+[1-9][0-9]{6,14}$` });

export const bodyPhone = (description: string) =>
	z
		.string()
		.regex(/^.{1,64}$/s, 'Use a mobile number, e.g. "+256772123456".')
		.meta({ description, pattern: '^.{1,64}$', minLength: 1, maxLength: 64 });

export const constant = <const T extends string>(value: T, description: string) =>
	z.literal(value).meta({ type: 'string', const: value, description });

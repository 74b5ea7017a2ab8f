import { pascalCase } from '#lib/server/contract/events.ts';
import { router } from '#lib/server/contract/examples.ts';
import { PROBLEMS, type ProblemCode } from '#lib/server/contract/problems.ts';
import { SCOPES, type Scope } from '#lib/server/contract/scopes.ts';
import type { ProblemItem } from '#lib/server/contract/schemas.ts';
import { EXAMPLE_ORIGIN, EXAMPLE_REQUEST_ID, headersOf, type RouteHeaders } from './headers.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

type Member = readonly [JsonSchema, example: unknown];

const text = (description: string, example: string, pattern: string): Member => [
	{ type: 'string', pattern, description },
	example
];
const list = (description: string, example: readonly string[], more: JsonSchema = {}): Member => [
	{ type: 'array', items: { type: 'string' }, description, ...more },
	example
];

const DURATION = '^[1-9][0-9]{0,4}[mhdw]$';
const SESSION_STATUS: Member = [{ $ref: '#/components/schemas/SessionStatus' }, 'expired'];

const seconds = (maximum: number, description: string, example: number): Member => [
	{ type: 'integer', minimum: 1, maximum, description },
	example
];
const NEXT_TRY = seconds(900, 'Seconds until the next try.', 420);

/** Members beyond the common ones: schema and example. */
const MEMBERS: Partial<Record<ProblemCode, Record<string, Member>>> = {
	validation_failed: {
		errors: list('Every invalid value of the request.', [], {
			items: { $ref: '#/components/schemas/ProblemItem' },
			minItems: 1
		})
	},
	insufficient_scope: {
		required_scope: [
			{ type: 'string', enum: SCOPES, description: 'The scope that the API key lacks.' },
			SCOPES[0]
		]
	},
	duration_not_allowed: {
		min_duration: text('Shortest time that the router sells.', '15m', DURATION),
		max_duration: text('Longest time that the router sells.', '30d', DURATION)
	},
	duration_not_offered: {
		offers: [
			{
				type: 'array',
				items: { $ref: '#/components/schemas/Offer' },
				description: 'All offers of the router. Those with `available` are on sale now.'
			},
			router.offers
		]
	},
	payment_method_not_supported: {
		payment_methods: list('Payment methods that the router accepts.', [
			'mobile_money',
			'mtn_momo',
			'airtel_money'
		])
	},
	session_not_active: { session_status: SESSION_STATUS },
	session_not_extendable: { session_status: SESSION_STATUS },
	session_not_payable: { session_status: SESSION_STATUS },
	amount_mismatch: {
		expected_amount: [
			{ type: 'number', description: 'The amount to pay, in major units of `currency`.' },
			1000
		],
		currency: text('ISO 4217 code.', 'UGX', '^[A-Z]{3}$')
	},
	payer_prompt_limit: { retry_after: NEXT_TRY },
	unpaid_prompt_limit: {
		retry_after: NEXT_TRY,
		'violated-policies': list('The exceeded limit: `account`, `network` or `total`.', ['account'], {
			minItems: 1
		})
	},
	payment_in_progress: { payment_id: [{ type: 'integer', description: 'Id of the pending payment.' }, 7001] },
	rate_limit_exceeded: {
		retry_after: seconds(60, 'Seconds until the next request is admitted.', 23),
		'violated-policies': list('Names of the exceeded rate-limit policies.', ['default'], { minItems: 1 })
	}
};

export const problemName = (code: ProblemCode) => `${pascalCase(code)}Problem`;

const reference = (code: ProblemCode) => `#/components/schemas/${problemName(code)}`;

const constant = <T extends 'string' | 'integer'>(type: T, value: string | number) => ({
	type,
	const: value
});

export function problemSchema(code: ProblemCode) {
	const { status, title, type, meaning, advice } = PROBLEMS[code];
	const properties = {
		type:
			type === undefined
				? { type: 'string' as const, pattern: String.raw`\/problems\/${code}$` }
				: constant('string', type),
		title: constant('string', title),
		status: constant('integer', status),
		code: constant('string', code),
		...Object.fromEntries(Object.entries(MEMBERS[code] ?? {}).map(([name, [schema]]) => [name, schema]))
	};
	return {
		allOf: [
			{ $ref: '#/components/schemas/Problem' },
			{ type: 'object' as const, properties, required: Object.keys(properties) }
		],
		description: `${meaning}\n\n**What to do:** ${advice}`
	};
}

interface RouteExample extends RouteHeaders {
	scope: Scope;
	invalid: ProblemItem;
}

export function problemExample(code: ProblemCode, route?: RouteExample) {
	const { status, title, type, detail } = PROBLEMS[code];
	const members = Object.entries(MEMBERS[code] ?? {}).map(([name, [, example]]) => [name, example]);
	return {
		type: type ?? `${EXAMPLE_ORIGIN}/problems/${code}`,
		title,
		status,
		detail,
		code,
		request_id: EXAMPLE_REQUEST_ID,
		...Object.fromEntries(members),
		...(code === 'validation_failed' && route ? { errors: [route.invalid] } : {}),
		...(code === 'insufficient_scope' && route
			? { detail: `The API key lacks the scope ${route.scope}.`, required_scope: route.scope }
			: {})
	};
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
	400: 'The request is invalid, or a rule forbids it; `code` gives the reason.',
	401: 'The API key is missing or not valid.',
	403: 'The API key may not do this.',
	404: 'The object does not exist, or the caller may not see it.',
	429: 'Too many requests; try again after `Retry-After` seconds.',
	500: 'The server failed to process the request; try again later.'
};

/** All codes must have the same status. */
function problemResponse(status: number, codes: readonly ProblemCode[], route?: RouteExample) {
	const mapping = Object.fromEntries(codes.map((code) => [code, reference(code)]));
	const oneOf = Object.values(mapping).map(($ref) => ({ $ref }));
	const examples = codes.map((code) => [
		code,
		{ summary: PROBLEMS[code].title, value: problemExample(code, route) }
	]);
	return {
		description: DESCRIPTIONS[status] ?? '',
		headers: headersOf(status, route),
		content: {
			'application/problem+json': {
				schema: oneOf[1] ? { oneOf, discriminator: { propertyName: 'code', mapping } } : { ...oneOf[0] },
				examples: Object.fromEntries(examples)
			}
		}
	};
}

const byStatus = (codes: readonly ProblemCode[]) => [...Map.groupBy(codes, (code) => PROBLEMS[code].status)];

export const sharedResponses = {
	Unauthorized: problemResponse(401, ['missing_api_key', 'invalid_api_key']),
	RateLimitExceeded: problemResponse(429, ['rate_limit_exceeded']),
	InternalError: problemResponse(500, ['internal_error'])
};

const SHARED: Readonly<Record<number, keyof typeof sharedResponses>> = {
	401: 'Unauthorized',
	429: 'RateLimitExceeded',
	500: 'InternalError'
};

export const problemResponses = (codes: readonly ProblemCode[], route: RouteExample) =>
	Object.fromEntries(
		byStatus(codes).map(([status, those]) => [
			status,
			sharedResponse(status, those, route) ?? problemResponse(status, those, route)
		])
	);

/** Returns null for a response of the route's own: of a deprecated one, or with more codes of the status. */
function sharedResponse(status: number, codes: readonly ProblemCode[], { deprecation }: RouteExample) {
	const name = SHARED[status];
	if (name === undefined || deprecation || codes.includes('unpaid_prompt_limit')) return null;
	return { $ref: `#/components/responses/${name}` };
}

import { type RouteConfig, createRoute, type z } from '@hono/zod-openapi';
import {
	PROBLEMS,
	PROBLEM_CODES,
	type ProblemCode,
	type ProblemItem,
	problem
} from '../contract/problems.ts';
import { SCOPES, type Scope, findLeastRole } from '../contract/scopes.ts';
import { router } from '#lib/server/contract/examples.ts';

/**
 * A route of the API: one definition (`defineRoute`) gives Hono its checks, the handler its types, and the OpenAPI document
 * its text. call.ts runs it.
 */

export type Route = ReturnType<typeof defineRoute>;

type Documented = 'path' | 'operationId' | 'tags' | 'summary' | 'description';

interface RouteDefinition extends Required<Pick<RouteConfig, Documented>> {
	method: 'get' | 'post' | 'put' | 'delete';
	scope: Scope;
	/** Errors of this route only; `listErrorCodes` adds the others. */
	errors?: readonly ProblemCode[];
	/** Repeated requests with the same Idempotency-Key have one effect. */
	idempotent?: true;
	/** `Location` of the created object, with its id in braces. */
	location?: string;
	deprecation?: Deprecation;
	request: {
		params?: z.ZodObject;
		query?: z.ZodObject;
		body?: ReturnType<typeof describeJsonBody>;
	};
	/** Both if the object may already exist; they share a schema. */
	responses: { 200?: Success; 201?: Success };
}

type Success = ReturnType<typeof describeJson>;

/** ISO dates; `since` is earlier. From the sunset on, the endpoint is unknown. */
export interface Deprecation {
	since: string;
	sunset: string;
	/** Path or address of the replacement. */
	successor: string | null;
}

/** Summary and value by name. */
type Examples = Readonly<Record<string, readonly [summary: string, value: unknown]>>;

const content = <S extends z.ZodType>(schema: S, examples: Examples) => ({
	'application/json': {
		schema,
		examples: Object.fromEntries(
			Object.entries(examples).map(([name, [summary, value]]) => [name, { summary, value }])
		)
	}
});

export const describeJson = <S extends z.ZodType>(schema: S, description: string, examples: Examples) => ({
	description,
	content: content(schema, examples)
});

export const describeJsonBody = <S extends z.ZodType>(schema: S, ...request: Examples[string]) => ({
	required: true,
	content: content(schema, { request })
});

export const COMMON_ERRORS: readonly ProblemCode[] = [
	'validation_failed',
	'missing_api_key',
	'invalid_api_key',
	'account_suspended',
	'insufficient_scope',
	'route_not_found',
	'rate_limit_exceeded',
	'internal_error'
];

const BODY_ERRORS: readonly ProblemCode[] = ['invalid_json', 'unsupported_media_type', 'body_too_large'];
const IDEMPOTENCY_ERRORS: readonly ProblemCode[] = ['idempotency_key_reused', 'idempotency_key_in_use'];

export function listErrorCodes({ scope, request, idempotent, errors = [] }: RouteDefinition): ProblemCode[] {
	const codes = new Set<ProblemCode>([
		...COMMON_ERRORS,
		...(request.body ? BODY_ERRORS : []),
		...(isList(request) ? (['invalid_cursor'] as const) : []),
		...(findLeastRole(scope) === 'owner' ? (['owner_role_required'] as const) : []),
		...(idempotent ? IDEMPOTENCY_ERRORS : []),
		...errors
	]);
	return PROBLEM_CODES.filter((code) => codes.has(code));
}

const isList = ({ query }: RouteDefinition['request']) => query !== undefined && 'cursor' in query.shape;

export const IDEMPOTENCY_KEY = {
	name: 'Idempotency-Key',
	in: 'header' as const,
	description:
		'Makes the request safe to repeat for 24 hours: the same key and body return the first response again, with `Idempotent-Replayed: true`. 1 to 255 letters, digits and `_-:.`, bare or in double quotes. Only successes are stored.',
	schema: { type: 'string' as const, pattern: '^("[A-Za-z0-9_:.-]{1,255}"|[A-Za-z0-9_:.-]{1,255})$' }
};

/** `openapi` describes the route for Hono and the document, with errors and security. */
export function defineRoute<R extends RouteDefinition>(definition: R) {
	const { method, path, operationId, tags, summary, description, request }: RouteDefinition = definition;
	const { scope, idempotent, location, deprecation }: RouteDefinition = definition;
	const role = findLeastRole(scope);
	const successes = Object.entries(definition.responses).map(([status, response]) => [
		status,
		status === '201' && location !== undefined ? { ...response, headers: locationHeader(location) } : response
	]);
	const key = `Needs an API key with the scope \`${scope}\`${role === 'app' ? '' : `, of role \`${role}\``}.`;
	return {
		...definition,
		role,
		openapi: createRoute({
			...{ method, path, operationId, tags, summary, request },
			description: `${description}\n\n${key}`,
			'x-role': role,
			'x-scope': scope,
			...(deprecation ? { deprecated: true, 'x-deprecation': deprecation } : {}),
			...(idempotent ? { parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }] } : {}),
			responses: { ...Object.fromEntries(successes), ...problemResponses(listErrorCodes(definition)) }
		}) as RouteConfig
	};
}

const locationHeader = (location: string) => ({
	Location: {
		description: 'Path of the created object.',
		required: true,
		schema: { type: 'string' as const, pattern: `^${location.replace('{id}', '[0-9]+')}$` },
		example: location.replace('{id}', '9001')
	}
});

/** Replaced by the installation's address when the document is served. */
export const EXAMPLE_ORIGIN = 'https://airtill.example';
const EXAMPLE_REQUEST_ID = 'req_01KAJ5Z8Q4T1V9X2M6N7P8R3SD';

const INVALID: ProblemItem = {
	...{ in: 'body', pointer: '/router_id', code: 'required', detail: 'This field is required.' }
};

/** The members of a code beyond those that every problem has. */
const MEMBERS: Partial<Record<ProblemCode, Readonly<Record<string, unknown>>>> = {
	validation_failed: { errors: [INVALID] },
	insufficient_scope: { required_scope: SCOPES[0] },
	duration_not_allowed: { min_duration: '15m', max_duration: '30d' },
	duration_not_offered: { offers: router.offers },
	payment_method_not_supported: { payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money'] },
	session_not_active: { session_status: 'expired' },
	session_not_extendable: { session_status: 'expired' },
	session_not_payable: { session_status: 'expired' },
	amount_mismatch: { expected_amount: 1000, currency: 'UGX' },
	payer_prompt_limit: { retry_after: 420 },
	unpaid_prompt_limit: { retry_after: 420, 'violated-policies': ['account'] },
	payment_in_progress: { payment_id: 7001 },
	rate_limit_exceeded: { retry_after: 23, 'violated-policies': ['default'] }
};

function buildProblemExample(code: ProblemCode) {
	const { status, title, type, detail } = PROBLEMS[code];
	return {
		type: type ?? `${EXAMPLE_ORIGIN}/problems/${code}`,
		...{ title, status, detail, code, request_id: EXAMPLE_REQUEST_ID },
		...MEMBERS[code]
	};
}

/** One example for each code, to which the responses refer. */
export const PROBLEM_EXAMPLES = Object.fromEntries(
	PROBLEM_CODES.map((code) => [code, { summary: PROBLEMS[code].title, value: buildProblemExample(code) }])
);

const DESCRIPTIONS: Readonly<Record<number, string>> = {
	400: 'The request is invalid, or a rule forbids it.',
	401: 'The API key is missing or not valid.',
	403: 'The API key may not do this.',
	404: 'The object does not exist, or the caller may not see it.',
	429: 'Too many requests; try again after `Retry-After` seconds.',
	500: 'The server failed to process the request; try again later.'
};

/** A response for each status of the codes. It names them, because all problems have one schema. */
const problemResponses = (codes: readonly ProblemCode[]) =>
	Object.fromEntries(
		[...Map.groupBy(codes, (code) => PROBLEMS[code].status)].map(([status, those]) => [
			status,
			{
				description: `${DESCRIPTIONS[status]} Codes: ${those.map((code) => `\`${code}\``).join(', ')}.`,
				content: {
					'application/problem+json': {
						schema: problem,
						examples: Object.fromEntries(
							those.map((code) => [code, { $ref: `#/components/examples/${code}` }])
						)
					}
				}
			}
		])
	);

import type {
	oas31,
	ZodOpenApiOperationObject,
	ZodOpenApiPathsObject,
	ZodOpenApiResponseObject,
	ZodOpenApiResponsesObject
} from 'zod-openapi';
import { z } from 'zod';
import { OPERATION_TEXTS, type OperationText } from './describe-operations.ts';
import { REQUEST_EXAMPLES, RESPONSE_EXAMPLES } from './examples.ts';
import { headersOf } from './headers.ts';
import { problemName } from './problems.ts';
import { problemExample } from './problem-examples.ts';
import { PROBLEMS, type ProblemCode } from '../problems.ts';
import { COMMON_ERRORS, type Route } from '../routes.ts';

/** From the route table to the `paths` of the OpenAPI document. */

/** What the statuses of refusals say, whatever the route. */
const ERROR_TEXTS: Readonly<Record<number, string>> = {
	400: 'The request is wrong, or a rule forbids it; `code` says which.',
	401: 'The API key is missing or not valid.',
	403: 'The API key may not do this.',
	404: 'There is no such thing, or the caller may not see it.',
	429: 'Too many requests; try again after `Retry-After` seconds.',
	500: 'The server failed to process the request; try again later.'
};

/** Answers that are the same on every route. */
const SHARED: Readonly<Record<number, string>> = {
	401: 'Unauthorized',
	429: 'RateLimitExceeded',
	500: 'InternalError'
};

/** Errors that only a request with a body can meet. */
const BODY_ERRORS: readonly ProblemCode[] = ['invalid_json', 'unsupported_media_type', 'body_too_large'];

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

/** Every code that a route can answer with, in the order of the catalogue. */
export function codesOf(route: Route): ProblemCode[] {
	const common = COMMON_ERRORS.filter((code) => route.body || !BODY_ERRORS.includes(code));
	const all: readonly ProblemCode[] = [...common, ...route.errors];
	return CODES.filter((code) => all.includes(code));
}

const reference = (code: ProblemCode) => ({ $ref: `#/components/schemas/${problemName(code)}` as const });

function schemaOf(codes: readonly ProblemCode[]): oas31.SchemaObject | oas31.ReferenceObject {
	const [only, ...others] = codes;
	if (only === undefined) throw new Error('An error status without a code');
	if (others.length === 0) return reference(only);
	return {
		oneOf: codes.map(reference),
		discriminator: {
			propertyName: 'code',
			mapping: Object.fromEntries(codes.map((code) => [code, reference(code).$ref]))
		}
	};
}

/** An answer with one of these codes, all of one status. */
function refusal(
	status: number,
	codes: readonly ProblemCode[],
	route: Route | null
): ZodOpenApiResponseObject {
	return {
		description: ERROR_TEXTS[status] ?? `Status ${status}.`,
		headers: headersOf(status, route),
		content: {
			'application/problem+json': {
				schema: schemaOf(codes),
				examples: Object.fromEntries(codes.map((code) => [code, problemExample(code, route)]))
			}
		}
	};
}

function refusals(route: Route): ZodOpenApiResponsesObject {
	const byStatus = Map.groupBy(codesOf(route), (code) => PROBLEMS[code].status);
	return Object.fromEntries(
		[...byStatus].map(([status, codes]) => [
			String(status),
			SHARED[status] && !route.deprecation
				? { $ref: `#/components/responses/${SHARED[status]}` }
				: refusal(status, codes, route)
		])
	);
}

/** Components for the answers that are the same on every route. */
export const sharedResponses = (): Record<string, ZodOpenApiResponseObject> =>
	Object.fromEntries(
		Object.entries(SHARED).map(([status, name]) => {
			const codes = COMMON_ERRORS.filter((code) => PROBLEMS[code].status === Number(status));
			return [name, refusal(Number(status), codes, null)];
		})
	);

function success(route: Route, status: 200 | 201, description: string): ZodOpenApiResponseObject {
	const examples = RESPONSE_EXAMPLES[route.operationId]?.[status];
	if (!examples) throw new Error(`contract/examples.ts has no ${status} of ${route.operationId}`);
	return {
		description,
		headers: headersOf(status, route),
		content: { 'application/json': { schema: route.response, examples: { ...examples } } }
	};
}

function successes(route: Route, text: OperationText): ZodOpenApiResponsesObject {
	return {
		[String(route.status)]: success(route, route.status, text.success),
		...(route.repeated === undefined
			? {}
			: { [String(route.repeated)]: success(route, route.repeated, text.repeated ?? text.success) })
	};
}

const byStatus = (responses: ZodOpenApiResponsesObject): ZodOpenApiResponsesObject =>
	Object.fromEntries(Object.entries(responses).sort(([one], [other]) => one.localeCompare(other)));

function description(route: Route, text: OperationText): string {
	const role = route.role === 'app' ? '' : `, of role \`${route.role}\``;
	return `${text.description}\n\nNeeds an API key with the scope \`${route.scope}\`${role}.`;
}

export const IDEMPOTENCY_KEY: oas31.ParameterObject = {
	name: 'Idempotency-Key',
	in: 'header',
	description:
		'Makes the request safe to repeat for 24 hours: with the same key and body the first answer comes again, with `Idempotent-Replayed: true`. 1 to 255 letters, digits and `_-:.`, bare or in double quotes. Only successes are remembered.',
	schema: { type: 'string', pattern: '^("[A-Za-z0-9_:.-]{1,255}"|[A-Za-z0-9_:.-]{1,255})$' },
	example: 'order-7f3a91c2'
};

function operation(route: Route): ZodOpenApiOperationObject {
	const text = OPERATION_TEXTS[route.operationId];
	if (!text) throw new Error(`contract/describe-operations.ts does not describe ${route.operationId}`);
	const path = route.params instanceof z.ZodObject ? route.params : null;
	const query = route.query instanceof z.ZodObject ? route.query : null;
	return {
		operationId: route.operationId,
		summary: route.summary,
		description: description(route, text),
		tags: [text.tag],
		'x-role': route.role,
		'x-scope': route.scope,
		...(route.deprecation ? { deprecated: true, 'x-deprecation': route.deprecation } : {}),
		...(path || query ? { requestParams: { ...(path ? { path } : {}), ...(query ? { query } : {}) } } : {}),
		...(route.idempotent ? { parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }] } : {}),
		...(route.body
			? {
					requestBody: {
						required: true,
						content: {
							'application/json': {
								schema: route.body,
								examples: { ...REQUEST_EXAMPLES[route.operationId] }
							}
						}
					}
				}
			: {}),
		responses: byStatus({ ...successes(route, text), ...refusals(route) })
	};
}

/** The `paths` section. */
export function pathsOf(routes: readonly Route[]): ZodOpenApiPathsObject {
	const paths: ZodOpenApiPathsObject = {};
	for (const route of routes) {
		paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) };
	}
	return paths;
}

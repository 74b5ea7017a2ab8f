import { createRoute, type RouteConfig, type z } from '@hono/zod-openapi';
import { PROBLEM_CODES, type ProblemCode } from '../contract/problems.ts';
import { findLeastRole, type Scope } from '../contract/scopes.ts';
import { problemResponses } from './document/problem-responses.ts';

/** ISO dates; `since` is earlier. From the sunset on, the endpoint is unknown. */
export interface Deprecation {
	since: string;
	sunset: string;
	/** Path or address of the replacement. */
	successor: string | null;
}

type Documented = 'path' | 'operationId' | 'tags' | 'summary' | 'description';

export interface RouteDefinition extends Required<Pick<RouteConfig, Documented>> {
	method: 'get' | 'post' | 'put' | 'delete';
	scope: Scope;
	/** Errors of this route only; `codesOf` adds the others. */
	errors?: readonly ProblemCode[];
	/** Repeated requests with the same Idempotency-Key have one effect. */
	idempotent?: true;
	/** `Location` of the created object, with its id in braces. */
	location?: string;
	deprecation?: Deprecation;
	request: {
		params?: z.ZodObject;
		query?: z.ZodObject;
		body?: ReturnType<typeof jsonBodyOf>;
	};
	/** Both if the object may already exist; they share a schema. */
	responses: { 200?: Success; 201?: Success };
}

type Success = ReturnType<typeof json>;

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

export const json = <S extends z.ZodType>(schema: S, description: string, examples: Examples) => ({
	description,
	content: content(schema, examples)
});

export const jsonBodyOf = <S extends z.ZodType>(schema: S, ...request: Examples[string]) => ({
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

export function codesOf({ scope, request, idempotent, errors = [] }: RouteDefinition): ProblemCode[] {
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
			responses: { ...Object.fromEntries(successes), ...problemResponses(codesOf(definition)) }
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

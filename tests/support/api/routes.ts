/** The routes of the API as tests read them. */
import type { z } from 'zod';
import type { ProblemCode } from '#lib/server/contract/problems.ts';
import { listErrorCodes } from '#lib/server/api/route.ts';
import { ROUTES as DEFINITIONS } from '#lib/server/api/api.ts';

const schemaOf = (part: { content: { 'application/json': { schema: z.ZodType } } } | undefined) =>
	part?.content['application/json'].schema;

export interface TestRoute {
	method: string;
	path: string;
	operationId: string;
	role: string;
	scope: string;
	query: z.ZodType | undefined;
	body: z.ZodType | undefined;
	response: z.ZodType | undefined;
	status: number;
	/** A second success: the object existed already. */
	repeated: number | null;
	/** Every code that the route can respond with. */
	codes: ProblemCode[];
}

export const ROUTES: readonly TestRoute[] = DEFINITIONS.map((route) => {
	const [status = 0, repeated = null] = Object.keys(route.responses)
		.map(Number)
		.sort((one, other) => other - one);
	return {
		method: route.method.toUpperCase(),
		path: route.path,
		operationId: route.operationId,
		role: route.role,
		scope: route.scope,
		query: route.request.query,
		body: schemaOf(route.request.body),
		response: schemaOf(route.responses[200] ?? route.responses[201]),
		status,
		repeated,
		codes: listErrorCodes(route)
	};
});

import { expect } from 'vitest';
import { COMMON_ERRORS, ROUTES, type Route } from '../../src/lib/server/contract/routes.ts';
import { PROBLEMS } from '../../src/lib/server/contract/problems.ts';
import { problem as problemSchema } from '../../src/lib/server/contract/schemas.ts';
import { BODY_OF, EXTENSIONS, FIELDS, REQUEST_ID, STATUSES } from './wire.ts';

export interface Judged {
	method: string;
	/** As it was sent, with or without a query. */
	path: string;
	status: number;
	headers: Headers;
	/** What came, parsed; null for HEAD. */
	body: unknown;
}

/** The contract's route for a request as it was sent; null where the contract has none. */
export function routeOf(method: string, path: string): Route | null {
	const plain = path
		.replace(/[?#].*$/s, '')
		.replace(/\/{2,}/g, '/')
		.replace(/\/$/, '');
	const wanted = method === 'HEAD' ? 'GET' : method;
	const pattern = (route: Route) => new RegExp(`^/v1${route.path.replace(/\{\w+\}/g, '[^/]+')}$`);
	return ROUTES.find((route) => route.method === wanted && pattern(route).test(plain)) ?? null;
}

/**
 * Holds an answer of /v1 against the page's global rules and the route's own entry in the contract. Every call
 * of the test client passes through here, so no answer of the whole suite escapes.
 */
export function judge(answer: Judged): void {
	const route = routeOf(answer.method, answer.path);
	const { status, headers } = answer;
	const what = `${answer.method} ${answer.path} -> ${status} ${JSON.stringify(answer.body)?.slice(0, 300)}`;
	expect(STATUSES, what).toContain(status);
	judgeHeaders(headers, status, what);
	if (answer.method === 'HEAD') return expect(answer.body, what).toBe('');
	if (status < 400) judgeSuccess(answer, route, what);
	else judgeProblem(answer, route, what);
}

function judgeHeaders(headers: Headers, status: number, what: string): void {
	const type = status < 400 ? 'application/json' : 'application/problem+json';
	expect(headers.get('content-type'), what).toBe(`${type}; charset=utf-8`);
	expect(headers.get('cache-control'), what).toBe('no-store');
	expect(headers.get('x-content-type-options'), what).toBe('nosniff');
	expect(headers.get('x-request-id'), what).toMatch(REQUEST_ID);
	for (const [name] of headers) expect(name, what).not.toMatch(/^access-control-|^set-cookie$/);
	expect(headers.has('www-authenticate'), what).toBe(status === 401);
	expect(headers.has('location'), what).toBe(status === 201);
	if (headers.has('allow')) expect(status, what).toBe(404);
}

function judgeSuccess({ status, headers, body }: Judged, route: Route | null, what: string): void {
	if (!route) throw new Error(`No route of the contract allows ${what}`);
	expect(status, what).toBe(route.status);
	route.response.parse(body);
	const shape = BODY_OF[route.operationId];
	if (!shape) throw new Error(`tests/support/wire.ts does not know ${route.operationId}`);
	exactFields(body, FIELDS[shape], what);
	if (shape === 'listRouters' && isList(body))
		for (const row of body.data) exactFields(row, FIELDS.router, what);
	if (status === 201 && isNumbered(body)) {
		const place = shape === 'payment' ? `/v1/payments/${body.id}/status` : `/v1/sessions/${body.id}`;
		expect(headers.get('location'), what).toBe(place);
	}
}

function judgeProblem({ status, headers, body }: Judged, route: Route | null, what: string): void {
	const problem = problemSchema.parse(body);
	const { code } = problem;
	exactFields(body, [...FIELDS.problem, ...(EXTENSIONS[code] ?? [])], what);
	for (const item of problem.errors ?? []) exactFields(item, FIELDS.problemItem, what);
	expect(problem.errors === undefined, what).toBe(code !== 'validation_failed');
	expect(problem.errors, what).not.toEqual([]);

	const allowed: readonly string[] = [...COMMON_ERRORS, ...(route?.errors ?? [])];
	expect(allowed, what).toContain(code);
	expect(problem, what).toMatchObject({ status, request_id: headers.get('x-request-id') });
	expect(Object.entries(PROBLEMS), what).toContainEqual([code, { status, title: problem.title }]);
	expect(problem.type, what).toMatch(new RegExp(`^https?://[^/]+/problems/${code}$`));
	if (status === 401) {
		const sent = code === 'invalid_api_key' ? ', error="invalid_token"' : '';
		expect(headers.get('www-authenticate'), what).toBe(`Bearer realm="airtill"${sent}`);
	}
}

function exactFields(value: unknown, fields: readonly string[], what: string): void {
	expect(Object.keys(Object(value)).sort(), what).toEqual([...fields].sort());
}

const isList = (body: unknown): body is { data: unknown[] } =>
	typeof body === 'object' && body !== null && 'data' in body && Array.isArray(body.data);

const isNumbered = (body: unknown): body is { id: number } =>
	typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'number';

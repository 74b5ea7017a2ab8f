import { expect } from 'vitest';
import { PROBLEMS, problem as problemSchema } from '#lib/server/contract/problems.ts';
import { COMMON_ERRORS } from '#lib/server/api/route.ts';
import { apiDocument } from './document.ts';
import { ROUTES, type TestRoute } from './routes.ts';
import {
	BODY_OF,
	EXTENSIONS,
	FIELDS,
	IDEMPOTENT,
	INSIDE,
	LOCATIONS,
	REPEATED,
	REQUEST_ID,
	STATUSES,
	TYPES,
	WEBHOOK_SECRET
} from './wire.ts';

export interface ReceivedResponse {
	method: string;
	/** As it was sent, with or without a query. */
	path: string;
	status: number;
	headers: Headers;
	/** Parsed body; null for HEAD. */
	body: unknown;
}

/** Finds the contract's route for a request; null if there is none. */
function routeOf(method: string, path: string): TestRoute | null {
	const plain = path
		.replace(/[?#].*$/s, '')
		.replace(/\/{2,}/g, '/')
		.replace(/\/$/, '');
	const wanted = method === 'HEAD' ? 'GET' : method;
	const pattern = (route: TestRoute) => new RegExp(`^/v1${route.path.replace(/\{\w+\}/g, '[^/]+')}$`);
	return ROUTES.find((route) => route.method === wanted && pattern(route).test(plain)) ?? null;
}

/**
 * Holds an answer of /v1 against the page's global rules, the route's own entry in the contract and the OpenAPI
 * document. Every call of the test client passes through here, so no answer of the whole suite escapes.
 */
export function assertContract(answer: ReceivedResponse): void {
	const route = routeOf(answer.method, answer.path);
	const { status, headers } = answer;
	const what = `${answer.method} ${answer.path} -> ${status} ${JSON.stringify(answer.body)?.slice(0, 300)}`;
	expect(STATUSES, what).toContain(status);
	assertHeaders(headers, status, what);
	assertLimits(answer, what);
	assertReplay(answer, route, what);
	expect(apiDocument().faults({ operation: route, status, headers, body: answer.body }), what).toEqual([]);
	assertLocation(answer, route, what);
	if (answer.method === 'HEAD') return expect(answer.body, what).toBe('');
	if (status < 400) assertSuccess(answer, route, what);
	else assertProblem(answer, route, what);
}

function assertHeaders(headers: Headers, status: number, what: string): void {
	const type = status < 400 ? 'application/json' : 'application/problem+json';
	expect(headers.get('content-type'), what).toBe(status < 400 ? `${type}; charset=utf-8` : type);
	expect(headers.get('cache-control'), what).toBe('no-store');
	expect(headers.get('x-content-type-options'), what).toBe('nosniff');
	expect(headers.get('x-request-id'), what).toMatch(REQUEST_ID);
	for (const [name] of headers) expect(name, what).not.toMatch(/^access-control-|^set-cookie$/);
	expect(headers.has('www-authenticate'), what).toBe(status === 401);
	if (headers.has('allow')) expect(status, what).toBe(404);
}

export const LIMIT_HEADERS = [
	...['ratelimit-policy', 'ratelimit'],
	...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
];

/** Every response to a valid key has consistent rate-limit headers. */
function assertLimits({ status, headers, body }: ReceivedResponse, what: string): void {
	const [policy, state, limit, remaining, reset] = LIMIT_HEADERS.map((name) => headers.get(name));
	const of = (Object(body) as { 'violated-policies'?: unknown })['violated-policies'];
	// The limit of unpaid prompts (400) is none of requests.
	const violated = status === 429 && Array.isArray(of) ? String(of) : null;
	const retryAfter = headers.get('retry-after');
	// 500: before the key was known, or after.
	const isAnonymous = status === 401 || violated === 'failed-keys' || (status === 500 && policy === null);
	if (isAnonymous) {
		for (const name of LIMIT_HEADERS) expect(headers.has(name), `${name} of ${what}`).toBe(false);
	} else {
		const [, plan, q] = /^"(default|enterprise|account)";q=(\d+);w=60$/.exec(policy ?? '') ?? [];
		const [, same, r, t] = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(state ?? '') ?? [];
		expect([plan, q, r], `${policy} ${state} of ${what}`).toEqual([same, limit, remaining]);
		expect(reset, what).toMatch(/^\d{10}$/);
		expect(Number(t), what).toBeLessThanOrEqual(60);
		// Nothing is counted only where counting failed: this request itself is.
		if (t === '0') expect(r, what).toBe(q);
		else expect(Number(r), what).toBeLessThan(Number(q));
		if (violated !== null) expect([violated, r, retryAfter], what).toEqual([plan, '0', t]);
	}
	expect(violated !== null, what).toBe(status === 429);
	if (violated === null) return;
	expect(retryAfter, what).toMatch(/^([1-9]|[1-5]\d|60)$/);
	expect(body, what).toMatchObject({ retry_after: Number(retryAfter) });
}

function assertReplay(
	{ status, headers, body }: ReceivedResponse,
	route: TestRoute | null,
	what: string
): void {
	const { code } = Object(body) as { code?: unknown };
	if (headers.has('idempotent-replayed')) {
		expect(headers.get('idempotent-replayed'), what).toBe('true');
		expect(status === 201 || isRepeated(status, route), what).toBe(true);
		expect(IDEMPOTENT, what).toContain(route?.operationId);
	}
	if (code === 'idempotency_key_in_use') expect(headers.get('retry-after'), what).toBe('1');
	else if (status !== 429) expect(headers.has('retry-after'), what).toBe(false);
}

/** 200 instead of 201, for what was there already. */
const isRepeated = (status: number, route: TestRoute | null) =>
	status === 200 && route?.repeated === 200 && REPEATED.includes(route.operationId);

/** Says where the created thing is, if it has a place of its own. */
function assertLocation(
	{ status, headers, body }: ReceivedResponse,
	route: TestRoute | null,
	what: string
): void {
	const place = status === 201 ? LOCATIONS[route?.operationId ?? ''] : undefined;
	expect(headers.get('location'), what).toBe(place && isNumbered(body) ? place(body.id) : null);
}

function assertSuccess(
	{ status, headers, body }: ReceivedResponse,
	route: TestRoute | null,
	what: string
): void {
	if (!route) throw new Error(`No route of the contract allows ${what}`);
	if (!isRepeated(status, route)) expect(status, what).toBe(route.status);
	route.response?.parse(body);
	const shape = BODY_OF[route.operationId];
	if (!shape) throw new Error(`tests/support/api/wire.ts does not know ${route.operationId}`);
	exactFields(body, FIELDS[shape], what);
	for (const [name, inside] of Object.entries(INSIDE[route.operationId] ?? INSIDE[shape] ?? {})) {
		const value = (Object(body) as Record<string, unknown>)[name];
		for (const object of Array.isArray(value) ? value : [value]) exactFields(object, FIELDS[inside], what);
	}
	expect(headers.has('link'), what).toBe(isPage(body) && body.next_cursor !== null);
	// Shown once, in the response that creates it.
	if (shape === 'webhook') {
		const { secret } = Object(body) as { secret: unknown };
		if (status === 201) expect(secret, what).toMatch(WEBHOOK_SECRET);
		else expect(secret, what).toBeNull();
	}
}

function assertProblem(
	{ status, headers, body }: ReceivedResponse,
	route: TestRoute | null,
	what: string
): void {
	const problem = problemSchema.parse(body);
	const { code } = problem;
	exactFields(body, [...FIELDS.problem, ...(EXTENSIONS[code] ?? [])], what);
	for (const item of problem.errors ?? []) exactFields(item, FIELDS.problemItem, what);
	expect(problem.errors === undefined, what).toBe(code !== 'validation_failed');
	expect(problem.errors, what).not.toEqual([]);

	const allowed: readonly string[] = route?.codes ?? COMMON_ERRORS;
	expect(allowed, what).toContain(code);
	expect(problem, what).toMatchObject({ status, request_id: headers.get('x-request-id') });
	const known: Readonly<Record<string, { status: number; title: string }>> = PROBLEMS;
	expect(known[code], what).toMatchObject({ status, title: problem.title });
	const type = TYPES[code];
	if (type) expect(problem.type, what).toBe(type);
	else expect(problem.type, what).toMatch(new RegExp(`^https?://[^/]+/problems/${code}$`));
	if (status === 401) {
		const sent = code === 'invalid_api_key' ? ', error="invalid_token"' : '';
		expect(headers.get('www-authenticate'), what).toBe(`Bearer realm="airtill"${sent}`);
	}
}

function exactFields(value: unknown, fields: readonly string[], what: string): void {
	expect(Object.keys(Object(value)).sort(), what).toEqual([...fields].sort());
}

const isPage = (body: unknown): body is { next_cursor: string | null } =>
	typeof body === 'object' && body !== null && 'next_cursor' in body;

const isNumbered = (body: unknown): body is { id: number } =>
	typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'number';

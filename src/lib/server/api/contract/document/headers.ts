import type { oas31 } from 'zod-openapi';
import { EXAMPLE_REQUEST_ID } from './problem-examples.ts';
import type { Route } from '../routes.ts';

/** Headers of the answers of /v1, for the OpenAPI document. */

type Header = oas31.HeaderObject;

const text = (description: string, example: string, pattern?: string): Header => ({
	description,
	required: true,
	schema: pattern === undefined ? { type: 'string' } : { type: 'string', pattern },
	example
});

const number = (description: string, example: number, minimum = 0): Header => ({
	description,
	required: true,
	schema: { type: 'integer', minimum },
	example
});

/** Every header as a component; all are promised where the document names them, unless it says "optional". */
const HEADERS = {
	'X-Request-Id': text(
		'Id of this request, as in `request_id` of a problem. Name it when you ask for help.',
		EXAMPLE_REQUEST_ID,
		'^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$'
	),
	'Cache-Control': text('Answers are never cached.', 'no-store'),
	'RateLimit-Policy': text(
		'The limit of the key: name of the plan, `q` requests in any window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
		'"default";q=100;w=60'
	),
	RateLimit: text(
		'What is left: `r` requests; `t` seconds until the oldest counted request leaves the window.',
		'"default";r=57;t=23'
	),
	'X-RateLimit-Limit': number('Requests in any 60 seconds, as `q` of RateLimit-Policy.', 100, 1),
	'X-RateLimit-Remaining': number('Requests left, as `r` of RateLimit.', 57),
	'X-RateLimit-Reset': number(
		'When the oldest counted request leaves the window, in epoch seconds.',
		1_795_252_543
	),
	'Retry-After': number('Seconds after which to try again.', 23, 1),
	'WWW-Authenticate': text(
		'How to authenticate (RFC 6750).',
		'Bearer realm="airtill", error="invalid_token"',
		'^Bearer realm="airtill"'
	),
	Location: text('Path of what was created.', '/v1/sessions/9001'),
	Link: text(
		'`rel="next"`: the next page, relative to the request (RFC 8288); only when there is one.',
		'<?lat=0.3354&lon=32.5884&cursor=eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ>; rel="next"'
	),
	'Idempotent-Replayed': text(
		'`true` when the answer is that of an earlier request with the same Idempotency-Key.',
		'true',
		'^true$'
	),
	Allow: text('Methods that the path knows, when it knows others.', 'GET, HEAD'),
	Deprecation: text('Since when the operation is deprecated (RFC 9745).', '@1798761600', '^@[0-9]+$'),
	Sunset: text('When the operation goes away (RFC 8594).', 'Sat, 01 Jan 2028 00:00:00 GMT')
} satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

type HeaderMap = Record<string, Header | oas31.ReferenceObject>;

/** A header that always comes. */
const always = (name: HeaderName): HeaderMap => ({
	[name]: { $ref: `#/components/headers/${name}` }
});

/** One that may come. */
function sometimes(name: HeaderName): HeaderMap {
	return { [name]: { ...HEADERS[name], required: false } };
}

const LIMITS = [
	...(['RateLimit-Policy', 'RateLimit'] as const),
	...(['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const)
];

const merge = (parts: readonly HeaderMap[]): HeaderMap => Object.assign({}, ...parts);

/** The headers of an answer of a route; of any route when it is null. */
export function headersOf(status: number, route: Route | null): HeaderMap {
	// 401: there is no key to count for. 429 may count for an address, 500 may come before the key is known.
	const isCounted = status === 429 || status === 500 ? sometimes : always;
	const limits = status === 401 ? [] : LIMITS.map((name) => isCounted(name));
	const isSuccess = status < 300;
	return merge([
		always('X-Request-Id'),
		always('Cache-Control'),
		...limits,
		...(status === 429 ? [always('Retry-After')] : []),
		...(status === 401 ? [always('WWW-Authenticate')] : []),
		...(status === 404 ? [sometimes('Allow')] : []),
		...(status === 201 && route?.location ? [locationOf(route.location)] : []),
		...(isSuccess && route && isList(route) ? [sometimes('Link')] : []),
		...(isSuccess && route?.idempotent ? [sometimes('Idempotent-Replayed')] : []),
		...(status === 400 && route?.idempotent ? [sometimes('Retry-After')] : []),
		...(route?.deprecation ? deprecation(isSuccess) : [])
	]);
}

/** A refusal may come before the operation is known to be one that goes away. */
const deprecation = (isSuccess: boolean): HeaderMap[] => [
	...(['Deprecation', 'Sunset'] as const).map((name) => (isSuccess ? always(name) : sometimes(name))),
	{
		Link: {
			...HEADERS.Link,
			required: false,
			description:
				'`rel="deprecation"`: what is deprecated and why; `rel="successor-version"`: what to use instead; `rel="next"`: the next page of a list.',
			example: '</docs/deprecations>; rel="deprecation"'
		}
	}
];

const isList = (route: Route) => route.errors.includes('invalid_cursor');

const locationOf = (location: string): HeaderMap => ({
	Location: {
		...HEADERS.Location,
		schema: { type: 'string', pattern: `^${location.replace('{id}', '[0-9]+')}$` },
		example: location.replace('{id}', location.includes('payments') ? '7001' : '9001')
	}
});

/** Components for the headers that the document refers to. */
export const headerComponents = (names: ReadonlySet<string>): Record<string, Header> =>
	Object.fromEntries(Object.entries(HEADERS).filter(([name]) => names.has(name)));

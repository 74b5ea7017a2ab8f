import type { Deprecation } from '../route.ts';

/** Replaced by the installation's address when the document is served. */
export const EXAMPLE_ORIGIN = 'https://airtill.example';
export const EXAMPLE_REQUEST_ID = 'req_01KAJ5Z8Q4T1V9X2M6N7P8R3SD';

const text = (description: string, example: string, pattern?: string) => ({
	description,
	required: true,
	schema: { type: 'string' as const, ...(pattern === undefined ? {} : { pattern }) },
	example
});

const integer = (description: string, example: number, minimum = 0) => ({
	description,
	required: true,
	schema: { type: 'integer' as const, minimum },
	example
});

export const HEADERS = {
	'X-Request-Id': text(
		'Id of this request, as in `request_id` of a problem. Name it when you ask for help.',
		EXAMPLE_REQUEST_ID,
		'^req_[0-7][0-9A-HJKMNP-TV-Z]{25}$'
	),
	'Cache-Control': text('Responses are never cached.', 'no-store'),
	'RateLimit-Policy': text(
		'The limit of the key: name of the rate plan, `q` requests in any window of `w` seconds (draft-ietf-httpapi-ratelimit-headers).',
		'"default";q=100;w=60'
	),
	RateLimit: text(
		'Requests left (`r`) and seconds until the oldest counted request leaves the window (`t`).',
		'"default";r=57;t=23'
	),
	'X-RateLimit-Limit': integer('Requests in any 60 seconds, as `q` of RateLimit-Policy.', 100, 1),
	'X-RateLimit-Remaining': integer('Requests left, as `r` of RateLimit.', 57),
	'X-RateLimit-Reset': integer(
		'Time at which the oldest counted request leaves the window, in epoch seconds.',
		1_795_252_543
	),
	'Retry-After': integer('Seconds until the next attempt.', 23, 1),
	'WWW-Authenticate': text(
		'How to authenticate (RFC 6750).',
		'Bearer realm="airtill", error="invalid_token"',
		'^Bearer realm="airtill"'
	),
	Location: text('Path of the created object.', '/v1/sessions/9001'),
	Link: text(
		'`rel="next"`: the next page, relative to the request (RFC 8288), if there is one. For deprecated endpoints also `rel="deprecation"` (the reason) and `rel="successor-version"` (the replacement).',
		'<?lat=0.3354&lon=32.5884&cursor=eyJ2IjoxLCJrIjpbMTg0LDQyXSwiZiI6IjNmYTkifQ>; rel="next"'
	),
	'Idempotent-Replayed': text(
		'`true` if this is the response of an earlier request with the same Idempotency-Key.',
		'true',
		'^true$'
	),
	Allow: text('Methods that the path supports, if it exists.', 'GET, HEAD'),
	Deprecation: text('Time from which the endpoint is deprecated (RFC 9745).', '@1798761600', '^@[0-9]+$'),
	Sunset: text('Time from which the endpoint is gone (RFC 8594).', 'Sat, 01 Jan 2028 00:00:00 GMT')
};

type HeaderName = keyof typeof HEADERS;

export interface RouteHeaders {
	location?: string | undefined;
	idempotent?: true | undefined;
	isList: boolean;
	deprecation?: Deprecation | undefined;
}

const always = (...names: HeaderName[]) =>
	Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const sometimes = (...names: HeaderName[]) =>
	Object.fromEntries(names.map((name) => [name, { ...HEADERS[name], required: false }]));

const LIMITS = [
	'RateLimit-Policy',
	'RateLimit',
	'X-RateLimit-Limit',
	'X-RateLimit-Remaining',
	'X-RateLimit-Reset'
] as const;

export function headersOf(status: number, route?: RouteHeaders) {
	const { location, idempotent, isList, deprecation } = route ?? {};
	const isSuccess = status < 300;
	// 429 may count for an address, and 500 may come before the key is known.
	const limits = status === 429 || status === 500 ? sometimes(...LIMITS) : always(...LIMITS);
	return {
		...always('X-Request-Id', 'Cache-Control'),
		...(status === 401 ? always('WWW-Authenticate') : limits),
		...(status === 429 ? always('Retry-After') : {}),
		...(status === 404 ? sometimes('Allow') : {}),
		...(status === 201 && location ? locationOf(location) : {}),
		...(isSuccess && idempotent ? sometimes('Idempotent-Replayed') : {}),
		...(status === 400 && idempotent ? sometimes('Retry-After') : {}),
		...((isSuccess && isList) || deprecation ? sometimes('Link') : {}),
		// An error may come before the route is known.
		...(deprecation ? (isSuccess ? always : sometimes)('Deprecation', 'Sunset') : {})
	};
}

const locationOf = (location: string) => ({
	Location: {
		...HEADERS.Location,
		schema: { type: 'string' as const, pattern: `^${location.replace('{id}', '[0-9]+')}$` },
		example: location.replace('{id}', location.includes('payments') ? '7001' : '9001')
	}
});

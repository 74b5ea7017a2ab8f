import fc from 'fast-check';
import type { z } from 'zod';
import { ROUTES, type TestRoute } from '../support/api/routes.ts';
import { FIELDS, nastyJson, nastyText, PARAMETERS, percentEncoded, placeholder, weighted } from './values.ts';

/**
 * Requests to every endpoint, from valid ones to hostile ones. They are plain data: what depends on the server
 * (existing ids, keys) is a placeholder that `resolve` fills in when the request is sent.
 */
export interface WildRequest {
	/** null: a path or method that the contract does not know. */
	operationId: string | null;
	method: string;
	/** As it goes into the request line, with `{placeholders}`. */
	path: string;
	headers: Record<string, string>;
	/** Bytes as latin-1 text, with `{placeholders}`; null: no body. */
	body: string | null;
}

const keysOf = (schema: unknown): string[] =>
	typeof schema === 'object' && schema !== null && 'shape' in schema ? Object.keys(Object(schema.shape)) : [];

/** Fields that most requests leave out, where their route does not need them. */
const OPTIONAL: ReadonlySet<string> = new Set(
	'extends_session_id offer_id router_id version max_duration reason seller commission_percent'.split(' ')
);
const isOptional = (schema: unknown, name: string): boolean =>
	OPTIONAL.has(name) && (Object(schema) as z.ZodObject).shape[name]?.safeParse(undefined).success === true;

/** The body of a route: mostly its own fields with good values, some wrong, missing, strange or too many. */
function bodyOf(route: TestRoute): fc.Arbitrary<string | null> {
	const names = keysOf(route.body);
	const field = (name: string) => {
		const good = FIELDS[name];
		if (!good) throw new Error(`tests/fuzz/requests.ts knows no values for the field ${name}`);
		return weighted([30, good], [2, nastyJson], [isOptional(route.body, name) ? 120 : 1, fc.constant(null)]);
	};
	const object = fc
		.tuple(
			fc.tuple(...names.map((name) => field(name).map((value) => [name, value] as const))),
			weighted([10, fc.constant([])], [1, fc.array(fc.tuple(nastyText, nastyJson), { maxLength: 2 })])
		)
		.map(([own, extra]) => {
			const members = [...own, ...extra].filter((member) => member[1] !== null);
			return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
		});
	if (names.length === 0) return weighted([8, fc.constant(null)], [1, nastyJson]);
	return weighted(
		[12, object],
		[1, nastyJson],
		[1, nastyText],
		[1, fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1'))],
		[1, fc.constant(`{"duration":"${'x'.repeat(17_000)}"}`)],
		[1, fc.constant(null)]
	);
}

/** Query parameters that are refused when they are missing. */
const REQUIRED: ReadonlySet<string> = new Set(['lat', 'lon']);

function queryOf(route: TestRoute): fc.Arbitrary<string> {
	const parameter = (name: string) => {
		const good = PARAMETERS[name];
		if (!good) throw new Error(`tests/fuzz/requests.ts knows no values for the parameter ${name}`);
		return weighted(
			[REQUIRED.has(name) ? 20 : 3, good],
			[1, nastyText.map(percentEncoded)],
			[REQUIRED.has(name) ? 1 : 10, fc.constant(null)]
		);
	};
	const own = keysOf(route.query).map((name) =>
		parameter(name).map((value) => (value === null ? [] : [`${name}=${value}`]))
	);
	const noise = weighted(
		[12, fc.constant([])],
		[
			1,
			fc.array(
				fc.oneof(
					nastyText.map((text) => `${percentEncoded(text)}=1`),
					fc.constantFrom('lat=1', 'lat[]=1', 'limit=2', '%', '%zz=%zz', '&&', '=', 'cursor=a=b')
				),
				{ maxLength: 3 }
			)
		]
	);
	return fc.tuple(...own, noise).map((parts) => {
		const text = parts.flat().join('&');
		return text === '' ? '' : `?${text}`;
	});
}

function pathOf(route: TestRoute): fc.Arbitrary<string> {
	if (!route.path.includes('{id}')) return fc.constant(`/v1${route.path}`);
	const good = route.path.startsWith('/payments')
		? placeholder('ownPayment', 'foreignPayment')
		: route.path.startsWith('/sessions')
			? placeholder('ownSession', 'foreignSession')
			: route.path.startsWith('/owner/voucher-batches')
				? placeholder('ownBatch')
				: placeholder('ownRouter', 'foreignRouter');
	const id = weighted(
		[8, good],
		[1, fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String)],
		[1, nastyText.filter((text) => text !== '').map(percentEncoded)]
	);
	return id.map((value) => `/v1${route.path.replace('{id}', value)}`);
}

const headers = (route: TestRoute | null): fc.Arbitrary<Record<string, string>> =>
	fc
		.record({
			'content-type': weighted(
				[12, fc.constant(route?.body ? 'application/json' : null)],
				[
					1,
					fc.constantFrom(
						'text/plain',
						'application/x-www-form-urlencoded',
						'multipart/form-data; boundary=x',
						'a'
					)
				],
				[
					1,
					fc.constantFrom(
						'application/json; charset=utf-16',
						'application/merge-patch+json',
						'APPLICATION/JSON',
						';'
					)
				]
			),
			'idempotency-key': weighted(
				[8, fc.constant(null)],
				[1, fc.constantFrom('a', '"b"', '', '"', 'c d', 'ä', 'k'.repeat(256), 'k'.repeat(255))],
				[2, fc.uuid()]
			),
			accept: fc.constantFrom(null, '*/*', 'text/html', 'application/xml', 'nothing'),
			'x-forwarded-for': fc.constantFrom(null, null, '1.2.3.4', "'", '::1, junk'),
			'x-http-method-override': fc.constantFrom(null, null, 'DELETE'),
			'content-encoding': fc.constantFrom(null, null, null, null, 'gzip'),
			range: fc.constantFrom(null, null, 'bytes=0-1'),
			origin: fc.constantFrom(null, null, 'https://evil.example')
		})
		.map((all) => {
			const present: Record<string, string> = {};
			for (const [name, value] of Object.entries(all)) if (value !== null) present[name] = value;
			return present;
		});

const toRoute = (route: TestRoute): fc.Arbitrary<WildRequest> =>
	fc
		.record({ path: pathOf(route), query: queryOf(route), headers: headers(route), body: bodyOf(route) })
		.map(({ path, query, ...rest }) => ({
			operationId: route.operationId,
			method: route.method,
			path: path + query,
			...rest
		}));

/** Paths and methods that the contract does not know. */
const toNowhere: fc.Arbitrary<WildRequest> = fc.record({
	operationId: fc.constant(null),
	method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND'),
	path: fc.oneof(
		nastyText.map((text) => `/v1/${percentEncoded(text)}`),
		fc.constantFrom(
			...'/v1 /v1/ //v1//routers //v1//routers//1 /v1/routers/ /v1/routers/1/ /v1/routers/../sessions'.split(
				' '
			),
			...'/v1/./routers /v1/routers/1/__data.json /v1/routers/__data.json /v1/x/__route.js /v1/%'.split(' '),
			...'/v1/%zz /v1/%ff /v1/routers%2f1 /v1/sessions/1/ /v1/Routers /v1/routers;x=1 /v1/routers?'.split(' ')
		)
	),
	headers: headers(null),
	body: fc.constantFrom(null, null, '{}', 'a=b')
});

/** Each endpoint as often as the others, and some that do not exist. */
export const wildRequest: fc.Arbitrary<WildRequest> = fc.oneof(...ROUTES.map(toRoute), toNowhere);

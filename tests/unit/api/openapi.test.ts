import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { PROBLEMS } from '#lib/server/contract/problems.ts';
import { buildDocument } from '#lib/server/api/document.ts';
import { eventExample } from '#lib/server/contract/examples.ts';
import { EVENT_NAMES } from '#lib/server/contract/webhooks.ts';
import { defineRoute } from '#lib/server/api/route.ts';
import { listRouters } from '#lib/server/api/routers.ts';
import { ROUTES } from '../../support/api/routes.ts';
import { asJson, at, createAjv, pointer, resolved } from '../../support/api/document.ts';

const document = asJson(buildDocument());
const ajv = createAjv().addSchema(document, 'document');

interface Found {
	where: string;
	value: unknown;
}

/** Every place below `value` that has this member. */
function having(
	member: string,
	value: unknown,
	where = ''
): { where: string; object: Record<string, unknown> }[] {
	if (typeof value !== 'object' || value === null) return [];
	const inner = Object.entries(value)
		// Data, not description.
		.filter(([name]) => !['example', 'examples', 'value', 'default', 'enum'].includes(name))
		.flatMap(([name, part]) => having(member, part, where + pointer(name)));
	return member in value ? [{ where, object: value as Record<string, unknown> }, ...inner] : inner;
}

function invalid(schemaAt: string, { where, value }: Found): string[] {
	const validate = ajv.getSchema(`document#${schemaAt}`) ?? ajv.compile({ $ref: `document#${schemaAt}` });
	return validate(value) ? [] : [`${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`];
}

const operations = ROUTES.map(({ method, path, operationId }) => ({
	operationId,
	where: pointer('paths', path, method.toLowerCase()),
	operation: asJson(at(document, 'paths', path, method.toLowerCase()))
}));

describe('the document', () => {
	it('is a valid OpenAPI 3.1 document', async () => {
		const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(document)));
		expect(errors ?? []).toEqual([]);
		expect(valid).toBe(true);
	});

	it('has every route of the table, and no other', () => {
		const there = Object.entries(asJson(document['paths'])).flatMap(([path, item]) =>
			Object.keys(asJson(item)).map((method) => `${method.toUpperCase()} ${path}`)
		);
		expect(there.sort()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
	});

	it('describes every operation, parameter, field, header and answer', () => {
		const missing = [
			...operations.flatMap(({ where, operation }) =>
				['summary', 'description', 'operationId', 'tags']
					.filter((name) => !operation[name])
					.map((name) => where + name)
			),
			...having('in', document)
				.filter(({ object }) => typeof object['in'] === 'string' && !object['description'])
				.map(({ where }) => where),
			...having('properties', document).flatMap(({ where, object }) =>
				Object.entries(asJson(object['properties']))
					.filter(([, schema]) => !resolved(document, schema)['description'])
					.map(([name]) => `${where} ${name}`)
			),
			...having('headers', document).flatMap(({ where, object }) =>
				Object.entries(asJson(object['headers']))
					.filter(([, header]) => !resolved(document, header)['description'])
					.map(([name]) => `${where} ${name}`)
			)
		];
		expect(missing).toEqual([]);
	});

	it('allows fields that are added to answers, and refuses unknown ones in requests', () => {
		for (const name of ['Router', 'Session', 'Payment', 'Problem', 'SessionEventData']) {
			expect(at(document, 'components', 'schemas', name, 'additionalProperties'), name).toBeUndefined();
		}
		for (const name of ['SessionCreation', 'PaymentStart', 'PriceUpdate']) {
			expect(at(document, 'components', 'schemas', name, 'additionalProperties'), name).toBe(false);
		}
	});

	it('marks an operation that goes away', () => {
		const deprecation = { since: '2027-01-01', sunset: '2028-01-01', successor: null };
		const marked = buildDocument([defineRoute({ ...listRouters, deprecation })]);
		const operation = asJson(at(marked, 'paths', '/routers', 'get'));
		expect(operation['deprecated']).toBe(true);
		expect(operation['x-deprecation']).toEqual(deprecation);
		expect(JSON.stringify(document)).not.toContain('"deprecated"');
	});
});

describe('examples', () => {
	it('stand at every answer, one for each error code that an operation can give', () => {
		for (const route of ROUTES) {
			const responses = asJson(at(document, 'paths', route.path, route.method.toLowerCase(), 'responses'));
			const statuses = [
				route.status,
				...(route.repeated ? [route.repeated] : []),
				...route.codes.map((code) => PROBLEMS[code].status)
			];
			expect(Object.keys(responses), route.operationId).toEqual([...new Set(statuses.map(String))].sort());
			const named = Object.values(responses).flatMap((response) =>
				Object.values(asJson(resolved(document, response)['content'])).map((media) =>
					Object.keys(asJson(asJson(media)['examples']))
				)
			);
			for (const names of named) expect(names.length, route.operationId).toBeGreaterThan(0);
			expect(named.flat()).toEqual(expect.arrayContaining(route.codes));
		}
	});

	it('stand at every request body, required parameter and event, and at no optional parameter', () => {
		const bodies = [...having('requestBody', document)].flatMap(({ where, object }) =>
			Object.values(asJson(at(object, 'requestBody', 'content')))
				.filter((media) => Object.keys(asJson(asJson(media)['examples'])).length === 0)
				.map(() => where)
		);
		const all = having('in', document).filter(({ object }) => typeof object['in'] === 'string');
		const required = all.filter(({ object }) => object['required'] === true && !('example' in object));
		expect([...bodies, ...required.map(({ where }) => where)]).toEqual([]);
		// A console fills in what it finds: an invented cursor or filter would spoil the first call.
		const optional = all.filter(({ object }) => object['required'] !== true && 'example' in object);
		expect(optional.map(({ where }) => where)).toEqual([]);
	});

	it('are valid', () => {
		const media = having('examples', { ...document, components: null }).flatMap(({ where, object }) =>
			Object.entries(asJson(object['examples'])).flatMap(([name, example]) =>
				invalid(`${where}/schema`, {
					where: `${where} ${name}`,
					value: resolved(document, example)['value']
				})
			)
		);
		const single = having('example', document).flatMap(({ where, object }) =>
			invalid(`${where}/schema`, { where, value: object['example'] })
		);
		expect([...media, ...single]).toEqual([]);
		expect(having('examples', document).length).toBeGreaterThan(40);
	});

	it('of an error stand once, and every response refers to them', () => {
		expect(Object.keys(asJson(at(document, 'components', 'examples')))).toEqual(Object.keys(PROBLEMS));
		for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
			const { value } = asJson(at(document, 'components', 'examples', code));
			expect(value, code).toMatchObject({ code, status, title });
			expect(JSON.stringify(document).split(`"code":"${code}"`), code).toHaveLength(2);
		}
	});
});

describe('the examples of the events', () => {
	it.each(EVENT_NAMES.filter((name) => name.startsWith('session.')))(
		'%s tells nobody how to get in',
		(name) => {
			const { data } = eventExample(name);
			expect(data).not.toHaveProperty('password');
			expect(data).toMatchObject({
				access: { username: null, network_password: null, qr: null, qr_joins: null }
			});
		}
	);
});

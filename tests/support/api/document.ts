/**
 * The OpenAPI document as a check of responses: ajv (2020-12) validates bodies and headers against it. The document
 * promises to clients that fields may be added; here it is closed, so that a field it does not know is an error.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiDocument } from '../../../src/lib/server/api/document/document.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Documented {
	/** The operation; null for an answer of no operation (an unknown path or method). */
	operation: { method: string; path: string } | null;
	status: number;
	headers: Headers;
	/** Parsed; the empty string where there is none (HEAD). */
	body: unknown;
}

export const asJson = (value: unknown): Json => Object(value) as Json;

/** A part of a JSON document by its steps. */
export const at = (value: unknown, ...steps: readonly string[]): unknown =>
	steps.reduce((part, step) => asJson(part)[step], value);

/** ajv with the formats of the document; keywords of OpenAPI that are not of JSON Schema are passed over. */
export function createAjv(): Ajv2020 {
	const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true });
	return formats.default(ajv) as unknown as Ajv2020;
}

/** RFC 6901 */
export const pointer = (...steps: readonly string[]) =>
	steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Resolves `$ref`, or returns the value itself. */
export function resolved(document: Json, value: unknown): Json {
	const { $ref } = asJson(value) as { $ref?: string };
	return asJson($ref === undefined ? value : at(document, ...$ref.slice(2).split('/')));
}

/** A copy in which objects have the fields that are written down, and no other. */
function closed(document: Json): Json {
	const copy = structuredClone(document);
	for (const [name, schema] of Object.entries(asJson(at(copy, 'components', 'schemas')))) {
		// The common members are a part of each problem, which is closed as a whole below.
		const isPart = name === 'Problem' || name.endsWith('EventData');
		if ('properties' in asJson(schema) && !isPart)
			Object.assign(asJson(schema), { additionalProperties: false });
	}
	return copy;
}

interface Answer {
	/** By content type. */
	bodies: Map<string, ValidateFunction>;
	/** By lower-case name. */
	headers: Map<string, { required: boolean; type: string; validate: ValidateFunction }>;
}

class ApiDocument {
	readonly #document: Json;
	readonly #ajv = createAjv();
	readonly #answers = new Map<string, Answer>();
	/** Headers that an answer has only where the document says so. */
	readonly #speaking: ReadonlySet<string>;

	constructor(document: Json) {
		this.#document = closed(document);
		this.#ajv.addSchema(this.#document, 'document');
		const names = JSON.stringify(document).matchAll(
			/"([A-Z][\w-]+)":\{("description"|"\$ref":"#\/components\/headers)/g
		);
		this.#speaking = new Set([...names].map(([, name = '']) => name.toLowerCase()));
	}

	/** Violations of the document by a response; empty if it is valid. */
	faults({ operation, status, headers, body }: Documented): string[] {
		const answer = this.#answer(operation, status);
		if (!answer) return [`status ${status} is not documented`];
		const faults = [...headers.keys()]
			.filter((name) => this.#speaking.has(name) && !answer.headers.has(name))
			.map((name) => `header ${name} is not documented`);
		for (const [name, { required, type, validate }] of answer.headers) {
			const value = headers.get(name);
			if (value === null) {
				if (required) faults.push(`header ${name} is missing`);
			} else if (!validate(type === 'integer' ? Number(value) : value)) {
				faults.push(`header ${name}: ${value}`);
			}
		}
		const contentType = headers.get('content-type')?.replace(/;.*$/, '') ?? '';
		const validate = answer.bodies.get(contentType);
		if (!validate) faults.push(`content type ${contentType} is not documented`);
		else if (body !== '' && !validate(body)) faults.push(this.#bodyFault(validate, body));
		return faults;
	}

	/** Of a problem what its own code demands: that it has not the other codes' members is no news. */
	#bodyFault({ schema, errors }: ValidateFunction, body: unknown): string {
		const { code } = asJson(body);
		const mapping = asJson(at(schema, 'discriminator', 'mapping'));
		const $ref = typeof code === 'string' ? mapping[code] : undefined;
		if ($ref === undefined) {
			const what = 'discriminator' in asJson(schema) ? `code ${String(code)} is not documented: ` : '';
			return what + this.#ajv.errorsText(errors, { dataVar: 'body' });
		}
		this.#ajv.validate({ $ref: String($ref), unevaluatedProperties: false }, body);
		return this.#ajv.errorsText(this.#ajv.errors, { dataVar: 'body' });
	}

	#answer(operation: Documented['operation'], status: number): Answer | null {
		const name = `${operation?.method} ${operation?.path} ${status}`;
		const known = this.#answers.get(name);
		if (known) return known;
		const made = operation ? this.#ofOperation(operation, status) : this.#ofNone();
		if (made) this.#answers.set(name, made);
		return made;
	}

	#ofOperation({ method, path }: { method: string; path: string }, status: number): Answer | null {
		const wanted = at(this.#document, 'paths', path, method.toLowerCase(), 'responses', String(status));
		if (wanted === undefined) return null;
		const response = resolved(this.#document, wanted);
		const bodies = Object.entries(asJson(response['content'])).map(([type, media]) => {
			const { schema } = asJson(media);
			const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
			return [type, this.#ajv.compile({ ...rooted, unevaluatedProperties: false })] as const;
		});
		const headers = Object.entries(asJson(response['headers'])).map(([name, reference]) => {
			const { required, schema } = resolved(this.#document, reference) as {
				required?: boolean;
				schema: Json;
			};
			const type = String(schema['type']);
			const header = { required: required === true, type, validate: this.#ajv.compile(schema) };
			return [name.toLowerCase(), header] as const;
		});
		return { bodies: new Map(bodies), headers: new Map(headers) };
	}

	/** Unknown paths and methods answer with some problem of the document. */
	#ofNone(): Answer {
		const names = Object.keys(asJson(at(this.#document, 'components', 'schemas')));
		const problems = names.filter((name) => /.Problem$/.test(name));
		const oneOf = problems.map((name) => ({ $ref: `document#${pointer('components', 'schemas', name)}` }));
		const validate = this.#ajv.compile({ oneOf, unevaluatedProperties: false });
		const free = { required: false, type: 'string', validate: this.#ajv.compile(true) };
		return {
			bodies: new Map([['application/problem+json', validate]]),
			headers: new Map([...this.#speaking].map((name) => [name, free]))
		};
	}
}

let shared: ApiDocument | null = null;

/** The document of this source tree; built when it is first asked for. */
export const apiDocument = (): ApiDocument =>
	(shared ??= new ApiDocument(openApiDocument() as unknown as Json));

/**
 * The OpenAPI document as a check of responses: ajv (2020-12) validates bodies against it. The document
 * promises to clients that fields may be added; here it is closed, so that a field it does not know is an error.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { buildDocument } from '#lib/server/api/document.ts';

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
		if ('properties' in asJson(schema) && !name.endsWith('EventData'))
			Object.assign(asJson(schema), { additionalProperties: false });
	}
	return copy;
}

interface Answer {
	/** By content type. */
	bodies: Map<string, ValidateFunction>;
	/** Codes of its problems. */
	codes: readonly string[];
}

class ApiDocument {
	readonly #document: Json;
	readonly #ajv = createAjv();
	readonly #answers = new Map<string, Answer>();

	constructor(document: Json) {
		this.#document = closed(document);
		this.#ajv.addSchema(this.#document, 'document');
	}

	/** Violations of the document by a response; empty if it is valid. contract-assertions.ts holds the headers. */
	faults({ operation, status, headers, body }: Documented): string[] {
		const answer = this.#answer(operation, status);
		if (!answer) return [`status ${status} is not documented`];
		const faults: string[] = [];
		const contentType = headers.get('content-type')?.replace(/;.*$/, '') ?? '';
		const validate = answer.bodies.get(contentType);
		if (!validate) faults.push(`content type ${contentType} is not documented`);
		else if (body !== '' && !validate(body)) {
			faults.push(this.#ajv.errorsText(validate.errors, { dataVar: 'body' }));
		}
		const { code } = asJson(body);
		if (status >= 400 && body !== '' && !answer.codes.includes(String(code))) {
			faults.push(`code ${String(code)} is not documented`);
		}
		return faults;
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
		const contents = Object.entries(asJson(resolved(this.#document, wanted)['content']));
		const bodies = contents.map(([type, media]) => {
			const { schema } = asJson(media);
			const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object;
			return [type, this.#ajv.compile({ ...rooted, unevaluatedProperties: false })] as const;
		});
		const codes = contents.flatMap(([, media]) => Object.keys(asJson(asJson(media)['examples'])));
		return { bodies: new Map(bodies), codes };
	}

	/** Unknown paths and methods answer with some problem of the document. */
	#ofNone(): Answer {
		const $ref = `document#${pointer('components', 'schemas', 'Problem')}`;
		return {
			bodies: new Map([['application/problem+json', this.#ajv.compile({ $ref })]]),
			codes: Object.keys(asJson(at(this.#document, 'components', 'examples')))
		};
	}
}

let shared: ApiDocument | null = null;

/** The document of this source tree; built when it is first asked for. */
export const apiDocument = (): ApiDocument =>
	(shared ??= new ApiDocument(buildDocument() as unknown as Json));

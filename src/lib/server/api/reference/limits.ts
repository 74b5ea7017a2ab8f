import type { FieldView, OperationLink } from '#lib/developer/reference.ts';
import { parametersOf } from './code.ts';
import { operationsOf, resolved, type ApiDocument, type Parameter } from './document.ts';
import { parameterOf } from './fields.ts';
import { placesOf } from './objects.ts';
import { operationLinks } from './operations.ts';

/** Limits that stand in the document itself. */
export interface LimitsView {
	/** Of the rate limit, with an example each. */
	headers: { name: string; description: string; example: string }[];
	/** What the lists know: limit, cursor. */
	paging: FieldView[];
	lists: OperationLink[];
	idempotencyKey: FieldView | null;
	idempotent: OperationLink[];
}

export function limitsView(document: ApiDocument): LimitsView {
	const links = operationLinks(document);
	const all = operationsOf(document).map((located, index) => ({
		link: links[index],
		parameters: parametersOf(document, located)
	}));
	const having = (name: string) =>
		all
			.filter(({ parameters }) => parameters.some((parameter) => parameter.name === name))
			.flatMap(({ link }) => (link ? [link] : []));
	const view = (name: string): FieldView | null => {
		const found: Parameter | undefined = all
			.flatMap(({ parameters }) => parameters)
			.find((parameter) => parameter.name === name);
		return found ? parameterOf(found, { document, places: placesOf(document) }) : null;
	};
	return {
		headers: Object.entries(document.components.headers)
			.filter(([name]) => /^(RateLimit|X-RateLimit)/.test(name))
			.map(([name, reference]) => {
				const { description, example } = resolved(document, reference);
				return { name, description, example: String(example) };
			}),
		paging: [view('limit'), view('cursor')].filter((field) => field !== null),
		lists: having('cursor'),
		idempotencyKey: view('Idempotency-Key'),
		idempotent: having('Idempotency-Key')
	};
}

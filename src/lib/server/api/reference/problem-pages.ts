import {
	endpointsOf,
	firstMedia,
	resolve,
	toJson,
	type ApiDocument,
	type Response
} from '#lib/developer/openapi.ts';
import { propertiesOf } from '#lib/developer/schema.ts';
import { PROBLEM_CODES, PROBLEMS } from '#lib/server/contract/problems.ts';
import { problemName } from '../document/problem-responses.ts';

const COMMON = ['type', 'title', 'status', 'detail', 'code', 'request_id'];

/** `description`: meaning and advice as Markdown; `members`: those that not every error has. */
export const problemsOf = (document: ApiDocument) =>
	PROBLEM_CODES.map((code) => {
		const schema = document.components.schemas[problemName(code)] ?? {};
		const members = propertiesOf(document, schema).filter(({ name }) => !COMMON.includes(name));
		const { status, title } = PROBLEMS[code];
		return { code, status, title, description: schema.description ?? '', members };
	});

export const occurrencesOf = (document: ApiDocument, code: string) =>
	endpointsOf(document).flatMap((endpoint) => {
		for (const response of Object.values(endpoint.operation.responses)) {
			const example = firstMedia(resolve<Response>(document, response).content)?.examples?.[code];
			if (example) return [{ endpoint, example: toJson(example.value) }];
		}
		return [];
	});

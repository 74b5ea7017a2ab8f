import {
	endpointsOf,
	firstMedia,
	resolve,
	toJson,
	type ApiDocument,
	type Endpoint,
	type Response
} from '#lib/developer/openapi.ts';
import { propertiesOf, type Property } from '#lib/developer/schema.ts';
import { PROBLEM_CODES, PROBLEMS } from '../contract/problems.ts';
import { problemName } from '../document/problem-responses.ts';

export interface Problem {
	code: string;
	status: number;
	title: string;
	/** Meaning and advice as Markdown. */
	description: string;
	/** Members that not every error has. */
	members: Property[];
}

const COMMON = ['type', 'title', 'status', 'detail', 'code', 'request_id'];

export const problemsOf = (document: ApiDocument): Problem[] =>
	PROBLEM_CODES.map((code) => {
		const schema = document.components.schemas[problemName(code)] ?? {};
		const members = propertiesOf(document, schema).filter(({ name }) => !COMMON.includes(name));
		const { status, title } = PROBLEMS[code];
		return { code, status, title, description: schema.description ?? '', members };
	});

export const occurrencesOf = (
	document: ApiDocument,
	code: string
): { endpoint: Endpoint; example: string }[] =>
	endpointsOf(document).flatMap((endpoint) => {
		for (const response of Object.values(endpoint.operation.responses)) {
			const example = firstMedia(resolve<Response>(document, response).content)?.examples?.[code];
			if (example) return [{ endpoint, example: toJson(example.value) }];
		}
		return [];
	});

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

/** An error of the API, as the OpenAPI document describes it. */
export interface Problem {
	code: string;
	status: number;
	title: string;
	/** Markdown: the meaning, and what a client does about it. */
	description: string;
	/** Members that not every error has. */
	members: Property[];
}

const COMMON = ['type', 'title', 'status', 'detail', 'code', 'request_id'];

/** Lists the errors by status. */
export function problemsOf(document: ApiDocument): Problem[] {
	return Object.values(document.components.schemas)
		.flatMap((schema) => {
			const properties = propertiesOf(document, schema);
			const constant = (name: string) => properties.find((one) => one.name === name)?.schema.const;
			if (typeof constant('code') !== 'string') return [];
			return {
				code: String(constant('code')),
				status: Number(constant('status')),
				title: String(constant('title')),
				description: schema.description ?? '',
				members: properties.filter(({ name }) => !COMMON.includes(name))
			};
		})
		.sort((one, other) => one.status - other.status);
}

/** Lists the endpoints that respond with an error, each with its example as JSON. */
export function occurrencesOf(
	document: ApiDocument,
	code: string
): { endpoint: Endpoint; example: string }[] {
	return endpointsOf(document).flatMap((endpoint) => {
		const examples = Object.values(endpoint.operation.responses).flatMap((response) => {
			const media = firstMedia(resolve<Response>(document, response).content);
			const example = media?.examples?.[code];
			return example ? [toJson(example.value)] : [];
		});
		return examples[0] === undefined ? [] : [{ endpoint, example: examples[0] }];
	});
}

import { error } from '@sveltejs/kit';
import {
	endpointsOf,
	firstMedia,
	resolve,
	slug,
	type Media,
	type Response,
	type Schema
} from '#lib/developer/openapi.ts';
import { schemaName, schemasBelow } from '#lib/developer/schema.ts';
import { documentFor } from '#lib/server/api/document/document.ts';
import type { PageServerLoad } from './$types';

const schemasOf = (content: Record<string, Media> | undefined): Schema[] => {
	const media = firstMedia(content);
	return media ? [media.schema] : [];
};

export const load: PageServerLoad = ({ params, locals }) => {
	const document = documentFor(locals.origin);
	const tag = document.tags.find(({ name }) => slug(name) === params.tag);
	if (!tag) error(404, 'Not found');
	const endpoints = endpointsOf(document).filter(({ operation }) => operation.tags.includes(tag.name));
	const responses = endpoints.flatMap(({ operation }) =>
		Object.entries(operation.responses)
			.filter(([status]) => status.startsWith('2'))
			.flatMap(([, response]) => schemasOf(resolve<Response>(document, response).content))
	);
	const bodies = endpoints.flatMap(({ operation }) => schemasOf(operation.requestBody?.content));
	const namesBelow = (schemas: Schema[]) => schemas.flatMap((schema) => [...schemasBelow(document, schema)]);
	const names = new Set(namesBelow(bodies));
	// The operations show the fields of their own bodies.
	for (const body of bodies) names.delete(schemaName(body) ?? '');
	for (const name of namesBelow(responses)) names.add(name);
	return { document, tag, endpoints, schemas: [...names].sort() };
};

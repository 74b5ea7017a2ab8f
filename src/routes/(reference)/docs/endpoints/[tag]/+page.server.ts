import { error } from '@sveltejs/kit';
import { endpointsOf, firstMedia, slug } from '#lib/developer/openapi.ts';
import { schemaName, schemasBelow } from '#lib/developer/schema.ts';
import { documentFor } from '#lib/server/api/document/document.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ params, locals }) => {
	const document = documentFor(locals.origin);
	const tag = document.tags.find(({ name }) => slug(name) === params.tag);
	if (!tag) error(404, 'Not found');
	const endpoints = endpointsOf(document).filter(({ operation }) => operation.tags.includes(tag.name));
	const bodies = endpoints.map(({ operation }) => firstMedia(operation.requestBody?.content)?.schema ?? {});
	const successes = endpoints.flatMap(({ operation }) =>
		Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
	);
	const names = schemasBelow(document, bodies);
	// The operations show the fields of their own bodies.
	for (const body of bodies) names.delete(schemaName(body) ?? '');
	for (const name of schemasBelow(document, successes)) names.add(name);
	return { document, tag, endpoints, schemas: [...names].sort() };
};

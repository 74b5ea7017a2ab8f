import { endpointsOf } from '#lib/developer/openapi.ts';
import { documentFor } from '#lib/server/api/document/document.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ locals }) => {
	const document = documentFor(locals.origin);
	const endpoints = endpointsOf(document);
	return {
		groups: document.tags.map(({ name, description }) => ({
			name,
			description,
			endpoints: endpoints.filter(({ operation }) => operation.tags.includes(name))
		}))
	};
};

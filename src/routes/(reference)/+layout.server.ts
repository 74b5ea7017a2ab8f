import { documentFor } from '#lib/server/api/document/document.ts';
import { guideLinks } from '#lib/server/api/reference/guides.ts';
import { slug } from '#lib/developer/openapi.ts';
import type { LayoutServerLoad } from './$types';

const TOOLS = [
	{ href: '/docs/try', title: 'Try it', description: 'Call the API from your browser with a key.' },
	{
		href: '/developer',
		title: 'API keys',
		description: 'Create keys, register webhooks and see your requests.'
	},
	{
		href: '/openapi.json',
		title: 'openapi.json',
		description: 'The OpenAPI 3.1 document of this installation.'
	}
];

export const load: LayoutServerLoad = ({ locals }) => {
	const { guides, topics } = guideLinks();
	const endpoints = documentFor(locals.origin).tags.map(({ name, description }) => ({
		href: `/docs/endpoints/${slug(name)}`,
		title: name,
		description
	}));
	return {
		navigation: [
			{ id: 'run', title: 'Run Airtill', links: guides },
			{ id: 'build', title: 'Build on the API', links: topics },
			{ id: 'endpoints', title: 'Endpoints', links: endpoints },
			{ id: 'tools', title: 'Tools', links: TOOLS }
		]
	};
};

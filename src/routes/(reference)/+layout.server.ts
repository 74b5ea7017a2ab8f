import { readGuides } from '#lib/server/api/guides.ts';
import type { LayoutServerLoad } from './$types';

const API = {
	href: '/docs/api',
	title: 'API reference and console',
	description: 'All endpoints, with forms that call them from your browser.'
};
const TOOLS = [
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

/** What developers need comes first. */
export const load: LayoutServerLoad = ({ locals }) => {
	const guides = readGuides(locals.app.config).map(({ href, title, description, isTopic }) => ({
		isTopic,
		link: { href, title, description }
	}));
	const [quickstart, ...topics] = guides.filter(({ isTopic }) => isTopic).map(({ link }) => link);
	return {
		navigation: [
			{
				id: 'build',
				title: 'Build on the API',
				links: [...(quickstart ? [quickstart] : []), API, ...topics]
			},
			{ id: 'tools', title: 'Tools', links: TOOLS },
			{
				id: 'run',
				title: 'Run Airtill',
				links: guides.filter(({ isTopic }) => !isTopic).map(({ link }) => link)
			}
		]
	};
};

import { error, redirect } from '@sveltejs/kit';
import { withRealRouter } from '#lib/server/api/example-router.ts';
import { readGuides } from '#lib/server/api/guides.ts';
import type { PageServerLoad } from './$types';

/** Earlier addresses, and the target of the `Link` header of deprecated endpoints. */
const MOVED: [pattern: RegExp, to: string][] = [
	[/^deprecations$/, '/docs/versioning#deprecations'],
	[/^(try|endpoints)(\/|$)/, '/docs/api'],
	[/^errors$/, '/problems']
];

export const load: PageServerLoad = async ({ params: { path }, locals }) => {
	for (const [pattern, to] of MOVED) if (pattern.test(path)) redirect(308, to);
	const guide = readGuides(locals.app.config).find(({ href }) => href === `/docs/${path}`);
	if (!guide) error(404, 'Not found');
	if (path !== 'quickstart') return { guide };
	return { guide: { ...guide, text: await withRealRouter(guide.text, locals.app) } };
};

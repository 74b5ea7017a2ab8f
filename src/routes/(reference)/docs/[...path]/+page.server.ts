import { error, redirect } from '@sveltejs/kit';
import { withRealRouter } from '#lib/server/api/reference/example-router.ts';
import { readGuide } from '#lib/server/api/reference/guides.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async ({ params: { path }, locals }) => {
	// Target of the `Link` header of deprecated endpoints.
	if (path === 'deprecations') redirect(308, '/docs/versioning#deprecations');
	const guide = readGuide(path, locals.origin, locals.app.config);
	if (!guide) error(404, 'Not found');
	if (path !== 'quickstart') return { guide };
	return { guide: { ...guide, text: await withRealRouter(guide.text, locals.app) } };
};

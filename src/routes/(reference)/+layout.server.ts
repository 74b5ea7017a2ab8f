import { documentFor } from '#lib/server/api/document/document.ts';
import { guideLinks } from '#lib/server/api/reference/guides.ts';
import { slug } from '#lib/developer/openapi.ts';
import type { LayoutServerLoad } from './$types';

/** Loads the links of the documentation's navigation. */
export const load: LayoutServerLoad = ({ locals }) => ({
	navigation: {
		...guideLinks(),
		endpoints: documentFor(locals.origin).tags.map(({ name, description }) => ({
			href: `/docs/endpoints/${slug(name)}`,
			title: name,
			description
		}))
	}
});

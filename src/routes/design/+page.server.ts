import { readFile } from 'node:fs/promises';
import { error } from '@sveltejs/kit';
import { dev } from '$app/environment';
import type { PageServerLoad } from './$types';

const TOKENS = 'src/lib/styles/tokens.css';

/** GET /design?theme=light|dark: every component in every state, for those who build. No page of an installation. */
export const load: PageServerLoad = async ({ url, locals }) => {
	if (!dev) error(404, 'Not found');
	const asked = url.searchParams.get('theme');
	const theme = asked === 'dark' || asked === 'light' ? asked : null;
	// The tokens stand there for both themes; the chosen ones are said again, for every device.
	const [light = '', dark = ''] = (await readFile(TOKENS, 'utf8')).match(/:root \{[^}]*\}/g) ?? [];
	// Twice the name: in development the sheets come after this element.
	if (theme !== null) locals.pageRules = (theme === 'dark' ? dark : light).replace(':root', ':root:root');
	return { theme };
};

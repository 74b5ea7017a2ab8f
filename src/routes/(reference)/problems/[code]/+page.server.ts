import { error, redirect } from '@sveltejs/kit';
import { PROBLEMS } from '#lib/server/contract/problems.ts';
import type { PageServerLoad } from './$types';

/** GET /problems/{code}: the `type` of an error leads to its section. */
export const load: PageServerLoad = ({ params: { code } }) => {
	if (!Object.hasOwn(PROBLEMS, code)) error(404, 'Not found');
	redirect(308, `/problems#${code}`);
};

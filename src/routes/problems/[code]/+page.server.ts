import { error } from '@sveltejs/kit';
import { PROBLEMS } from '#lib/server/contract/problems.ts';
import type { PageServerLoad } from './$types';

/** GET /problems/{code}: where the `type` of an API error leads; the whole catalogue, the code first. */
export const load: PageServerLoad = ({ params }) => {
	const problems = Object.entries(PROBLEMS).map(([code, { status, title }]) => ({ code, status, title }));
	const problem = problems.find(({ code }) => code === params.code);
	if (!problem) error(404, 'Not found');
	return { problem, others: problems.filter(({ code }) => code !== problem.code) };
};

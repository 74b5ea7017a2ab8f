import type { ParamMatcher } from '@sveltejs/kit';

/** The pages that people sign in to. Administrators sign in on the developers' pages. */
export const match = ((name: string): name is 'owner' | 'developer' =>
	name === 'owner' || name === 'developer') satisfies ParamMatcher;

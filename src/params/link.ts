import type { ParamMatcher } from '@sveltejs/kit';

/** The forms that send a link to choose a password. */
export const match = ((name: string): name is 'forgot' | 'sign-up' =>
	name === 'forgot' || name === 'sign-up') satisfies ParamMatcher;

import type { ParamMatcher } from '@sveltejs/kit';

/** Pages about this installation, linked at the foot of every page. */
export const match = ((name: string): name is 'help' | 'terms' | 'privacy' =>
	['help', 'terms', 'privacy'].includes(name)) satisfies ParamMatcher;

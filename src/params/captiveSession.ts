import type { ParamMatcher } from '@sveltejs/kit';

export const match: ParamMatcher = (id) => /^[\w-]{24}$/.test(id);

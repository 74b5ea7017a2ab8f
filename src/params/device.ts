import type { ParamMatcher } from '@sveltejs/kit';

/** `deviceName` in captive-sessions/record.ts. */
export const match: ParamMatcher = (name) => /^[0-9a-f]{24}$/.test(name);

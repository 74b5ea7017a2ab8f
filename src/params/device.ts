import type { ParamMatcher } from '@sveltejs/kit';

/** The name of a device behind a gateway (captive-sessions.ts), or the word for a kiosk (portal/pages.ts). */
export const match: ParamMatcher = (name) => /^([0-9a-f]{24}|kiosk)$/.test(name);

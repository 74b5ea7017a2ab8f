import { createKey, newKeyPage } from '#lib/server/web/developer/new-key.ts';

export const load = newKeyPage;

export const actions = { default: createKey };

import type { ClientInit } from '@sveltejs/kit';
import { loadSentences } from '#lib/i18n/browser.ts';

/** Before anything of the page comes alive its sentences are there, in its language alone. */
export const init: ClientInit = loadSentences;

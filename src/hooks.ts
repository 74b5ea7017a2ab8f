import type { Reroute } from '@sveltejs/kit';
import { deLocalizeUrl } from '#lib/i18n/generated/runtime.js';

/** The language prefix of an address is not part of its route. */
export const reroute: Reroute = ({ url }) => deLocalizeUrl(url).pathname;

import { page } from '$app/state';
import { link } from '#lib/i18n/current.ts';
import { apart } from '#lib/i18n/intl.ts';

/** Returns the address at which buyers type their code, without `http://`. */
export const resumeAt = (): string => apart(page.url.host + link('/resume'));

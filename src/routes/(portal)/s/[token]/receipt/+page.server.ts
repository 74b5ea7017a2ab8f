import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { findReceipt } from '../receipt.ts';
import type { PageServerLoad } from './$types';

/** The receipt of a purchase, to print, copy or show. `?text` redirects to the plain text. */
export const load: PageServerLoad = async (event) => {
	if (event.url.searchParams.has('text')) redirect(303, link(`/s/${event.params.token}/receipt.txt`));
	return findReceipt(event);
};

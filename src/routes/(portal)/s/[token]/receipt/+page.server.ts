import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { findPurchase } from '../purchase.ts';
import { pageAddress, receiptOf, receiptText } from '../receipt.ts';
import type { PageServerLoad } from './$types';

/** The receipt of a purchase, to print, copy or show. `?text` redirects to the plain text. */
export const load: PageServerLoad = async (event) => {
	const { token } = event.params;
	if (event.url.searchParams.has('text')) redirect(303, link(`/s/${token}/receipt.txt`));
	const purchase = await findPurchase(event);
	if (purchase.successor !== null) redirect(303, link(`/s/${purchase.successor}/receipt`));
	const { clock, config } = event.locals.app;
	const receipt = receiptOf(purchase, new Date(clock.now()), config.reportTimezone);
	const address = pageAddress(event.locals.origin, token);
	return { receipt, address, text: receiptText(receipt, address) };
};

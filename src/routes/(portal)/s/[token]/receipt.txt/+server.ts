import { findPurchase } from '../purchase.ts';
import { pageAddress, receiptOf, receiptText } from '../receipt.ts';
import type { RequestHandler } from './$types';

/** Plain text, which the browser shows instead of downloading. */
export const GET: RequestHandler = async (event) => {
	const purchase = await findPurchase(event);
	const { clock, config } = event.locals.app;
	const receipt = receiptOf(purchase, new Date(clock.now()), config.reportTimezone);
	const text = receiptText(receipt, pageAddress(event.locals.origin, event.params.token));
	return new Response(`${text}\n`, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
};

import { findReceipt } from '../receipt.ts';
import type { RequestHandler } from './$types';

/** Plain text, which the browser shows instead of downloading. */
export const GET: RequestHandler = async (event) => {
	const { text } = await findReceipt(event);
	return new Response(`${text}\n`, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
};

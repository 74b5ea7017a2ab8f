import { findReceipt } from '#lib/server/portal/receipt.ts';
import type { PageServerLoad } from './$types';

/** The receipt of a purchase, to print or show. */
export const load: PageServerLoad = findReceipt;

import { paymentsFile } from '#lib/server/web/owner/figures.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';
import type { RequestHandler } from './$types';

/** GET /owner/money/export?period=&day=, and the filter of the page: the payments and refunds behind a sum as CSV. */
export const GET: RequestHandler = ownerPage(paymentsFile);

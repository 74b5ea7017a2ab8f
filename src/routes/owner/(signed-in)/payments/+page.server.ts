import { paymentsPage } from '#lib/server/web/owner/figures.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/payments?period=&day=&router=&offer=&method=&kind=&hour=: the payments and refunds behind a sum. */
export const load = ownerPage(paymentsPage);

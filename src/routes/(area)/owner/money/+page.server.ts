import { moneyPage } from '#lib/server/web/owner/figures.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/money?period=&day=&router=&offer=&method=&kind=&hour=: sums, and the payments and refunds behind them. */
export const load = ownerPage(moneyPage);

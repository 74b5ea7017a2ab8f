import { statementPage } from '#lib/server/web/owner/figures.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/money/statement?day=: the month around a day, by router, to print. */
export const load = ownerPage(statementPage);

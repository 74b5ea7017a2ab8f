import { earningsPage } from '#lib/server/web/owner/figures.ts';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/earnings?period=: the last 30 days, 12 weeks or 12 months, with links to their payments. */
export const load = ownerPage(earningsPage);

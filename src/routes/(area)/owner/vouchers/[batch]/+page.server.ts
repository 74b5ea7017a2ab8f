import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import { batchPage, printBatch, voidUnsold } from '#lib/server/web/owner/vouchers.ts';

/** A batch of vouchers: their states, and the print. */
export const load = ownerPage(batchPage);

export const actions = { print: ownerForm(printBatch), void: ownerForm(voidUnsold) };

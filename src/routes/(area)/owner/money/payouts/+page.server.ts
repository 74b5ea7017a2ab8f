import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import { payoutsPage, saveDestination } from '#lib/server/web/owner/payouts.ts';

/** /owner/money/payouts: the balance, where payouts go, and those so far. */
export const load = ownerPage(payoutsPage);

export const actions = { default: ownerForm(saveDestination) };

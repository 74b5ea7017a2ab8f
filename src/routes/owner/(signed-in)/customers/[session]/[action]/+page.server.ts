import { act, actionPage } from '#lib/server/web/owner/help.ts';
import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';

/** /owner/customers/{session}/{action}: says what happens, asks for the reason, then does it. */
export const load = ownerPage(actionPage);

export const actions = { default: ownerForm(act) };

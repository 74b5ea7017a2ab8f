import { ownerForm, ownerPage } from '#lib/server/web/owner/owner.ts';
import { addRouter, newRouterForm } from '#lib/server/web/owner/router.ts';

export const load = ownerPage(newRouterForm);

export const actions = { default: ownerForm(addRouter) };

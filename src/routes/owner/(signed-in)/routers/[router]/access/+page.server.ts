import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';
import { accessForm, saveAccess } from '#lib/server/web/owner/router.ts';

export const load = routerPage(accessForm);

export const actions = { default: routerForm(saveAccess) };

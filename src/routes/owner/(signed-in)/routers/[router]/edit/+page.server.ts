import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';
import { changeRouter, editForm } from '#lib/server/web/owner/router.ts';

export const load = routerPage(editForm);

export const actions = { default: routerForm(changeRouter) };

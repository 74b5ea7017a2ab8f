import { offersAction, offersPage } from '#lib/server/web/owner/offer-form.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';

export const load = routerPage(offersPage);

export const actions = { default: routerForm(offersAction) };

import { offersAction, offersPage } from '#lib/server/web/owner/offers.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';

export const load = routerPage(offersPage);

export const actions = { default: routerForm(offersAction) };

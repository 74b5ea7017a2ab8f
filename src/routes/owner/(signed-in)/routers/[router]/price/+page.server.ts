import { pricePage, setPrice } from '#lib/server/web/owner/offers.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';

export const load = routerPage(pricePage);

export const actions = { default: routerForm(setPrice) };

import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';
import { changeSales, salesPage } from '#lib/server/web/owner/router.ts';

export const load = routerPage(salesPage);

export const actions = { default: routerForm(changeSales) };

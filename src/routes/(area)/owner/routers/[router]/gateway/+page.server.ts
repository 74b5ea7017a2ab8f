import { addGateway, connectForm } from '#lib/server/web/owner/gateway.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';

export const load = routerPage(connectForm);

export const actions = { default: routerForm(addGateway) };

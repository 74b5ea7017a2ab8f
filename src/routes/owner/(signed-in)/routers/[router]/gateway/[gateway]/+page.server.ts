import {
	changeGateway,
	gatewayPage,
	removeGateway,
	rotateGateway,
	showConfig,
	testGateway
} from '#lib/server/web/owner/gateway/gateway-page.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';

export const load = routerPage(gatewayPage);

export const actions = {
	config: routerForm(showConfig),
	test: routerForm(testGateway),
	change: routerForm(changeGateway),
	rotate: routerForm(rotateGateway),
	remove: routerForm(removeGateway)
};

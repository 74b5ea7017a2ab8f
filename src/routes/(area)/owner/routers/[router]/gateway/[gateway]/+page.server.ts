import {
	changeGateway,
	gatewayForm,
	gatewayPage,
	removeGateway,
	rotateGateway,
	showConfig,
	showLine,
	testGateway
} from '#lib/server/web/owner/gateway.ts';
import { routerForm, routerPage } from '#lib/server/web/owner/owner.ts';

export const load = routerPage(gatewayPage);

export const actions = {
	config: gatewayForm(showConfig),
	line: gatewayForm(showLine),
	test: gatewayForm(testGateway),
	change: gatewayForm(changeGateway),
	rotate: gatewayForm(rotateGateway),
	remove: routerForm(removeGateway)
};

import {
	changeGateway,
	configParts,
	gatewayPage,
	removeGateway,
	rotateGateway,
	testGateway
} from '#lib/server/web/owner/gateway/gateway-page.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = gatewayPage;

export const actions: Actions = {
	/** Not a part of the page: it holds secrets, and the audit log names who saw them. */
	config: async (event) => ({ parts: await configParts(event) }),
	test: testGateway,
	change: changeGateway,
	rotate: rotateGateway,
	remove: removeGateway
};

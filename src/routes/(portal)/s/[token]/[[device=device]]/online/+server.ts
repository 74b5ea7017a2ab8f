import { loginUser } from '#lib/domain/wifi.ts';
import { Refused, Unavailable } from '#lib/server/platform/errors.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { continuePurchase } from '#lib/server/portal/ordering.ts';
import { findSignInAddress } from '#lib/server/portal/go-online.ts';
import { ownPath } from '#lib/server/portal/pages.ts';
import { describePurchase } from '#lib/server/portal/purchase-page.ts';
import type { RequestHandler } from './$types';

const goTo = (location: string) => new Response(null, { status: 303, headers: { location } });

/**
 * 303 to the gateway's sign-in. A link, because the CSP forbids forms to other hosts. A full navigation,
 * because mini-browsers check for internet access only after one.
 */
export const GET: RequestHandler = async (event) => {
	const { app } = event.locals;
	const page = ownPath(event);
	// A HEAD request must not sign a device in.
	if (event.request.method !== 'GET') return goTo(page);
	try {
		const found = await continuePurchase(app.purchases, apiClient(event), event.params.token);
		const pass = found && describePurchase(app, found).pass;
		if (!pass) return goTo(page);
		const address = await findSignInAddress(event, page, {
			routerId: found.router.id,
			user: loginUser(pass.last.pass_id),
			password: pass.session.password ?? ''
		});
		return goTo(address);
	} catch (problem) {
		if (problem instanceof Unavailable || problem instanceof Refused) return goTo(page);
		throw problem;
	}
};

import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import { link } from '#lib/i18n/current.ts';
import { loginUser } from '#lib/domain/pass-username.ts';
import { signInAddress } from '../go-online.ts';
import { purchaseShown } from '../view.ts';
import type { RequestHandler } from './$types';

const goTo = (location: string) => new Response(null, { status: 303, headers: { location } });

/**
 * GET /s/{token}/online: 303 to the gateway's sign-in, which returns to the purchase's page. It is a link and not a
 * form, because forms may not be sent to other hosts (CSP), and a full page navigation, because mini-browsers look for
 * the internet only after one.
 */
export const GET: RequestHandler = async (event) => {
	const { clock, config, purchases } = event.locals.app;
	const { token } = event.params;
	const page = link(`/s/${token}`);
	// A HEAD request signs no device in.
	if (event.request.method !== 'GET') return goTo(page);
	try {
		const found = await purchases.find(apiClient(event), token);
		const shown = found && purchaseShown(found, new Date(clock.now()), config.reportTimezone);
		if (!found || !shown?.pass) return goTo(page);
		const { pass } = shown;
		const address = await signInAddress(event, page, {
			token,
			routerId: found.router.id,
			user: loginUser(pass.last.pass_id),
			password: pass.session.password ?? ''
		});
		return goTo(address);
	} catch (problem) {
		if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return goTo(page);
		throw problem;
	}
};

import { apiClient, ApiProblem, ApiUnavailable } from '#lib/server/api-client.ts';
import { link } from '#lib/language/current.ts';
import { loginUser } from '#lib/login-user.ts';
import { shownOf } from '../view.ts';
import type { RequestHandler } from './$types';

const goTo = (location: string) => new Response(null, { status: 303, headers: { location } });

/**
 * GET /s/{token}/online: 303 to the gateway's sign-in, which lands on the purchase's page again. It is a link and not a
 * form, because forms may not be sent to other hosts (CSP), and a full page navigation, because mini-browsers look for
 * the internet only after one.
 */
export const GET: RequestHandler = async (event) => {
	const { clock, config, purchases, visits } = event.locals.app;
	const { token } = event.params;
	const page = link(`/s/${token}`);
	// Whoever only looks ahead signs nobody in.
	if (event.request.method !== 'GET') return goTo(page);
	try {
		const found = await purchases.find(apiClient(event), token);
		const shown = found && shownOf(found, new Date(clock.now()), config.reportTimezone);
		if (!found || !shown?.pass) return goTo(page);
		// The sign-in would let more devices in than the pass has room for: first it has to be moved.
		const device = await visits.ofPurchase({ token, routerId: found.router.id });
		if (device?.stands === 'elsewhere') return goTo(page);
		const finish = await visits.finish(
			{ token, routerId: found.router.id },
			{
				user: loginUser(shown.pass.last.pass_id),
				password: shown.pass.session.password ?? '',
				landing: `${event.locals.origin}${page}?online`
			}
		);
		return goTo(finish?.kind === 'navigate' ? finish.url : page);
	} catch (problem) {
		if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return goTo(page);
		throw problem;
	}
};

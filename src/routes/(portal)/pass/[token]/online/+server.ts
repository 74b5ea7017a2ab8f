import { link } from '#lib/language/current.ts';
import type { RequestHandler } from './$types';

const goTo = (location: string) => new Response(null, { status: 303, headers: { location } });

/** GET /pass/{token}/online: 303 to the gateway's sign-in, which lands on the page of the pass again. See /s/{token}/online. */
export const GET: RequestHandler = async (event) => {
	const { guests, visits } = event.locals.app;
	const { token } = event.params;
	const page = link(`/pass/${token}`);
	const pass = event.request.method === 'GET' ? await guests.find(token) : null;
	if (!pass) return goTo(page);
	const { routerId, user, password } = pass;
	// The sign-in would let more devices in than the pass has room for: first it has to be moved.
	const device = await visits.ofPurchase({ token, routerId });
	if (device?.stands === 'elsewhere') return goTo(page);
	const landing = `${event.locals.origin}${page}?online`;
	const finish = await visits.finish({ token, routerId }, { user, password, landing });
	return goTo(finish?.kind === 'navigate' ? finish.url : page);
};

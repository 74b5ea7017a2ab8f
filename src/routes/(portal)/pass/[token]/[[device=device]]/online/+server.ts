import { findApiBuyerPass } from '#lib/server/passes.ts';
import { findSignInAddress } from '#lib/server/portal/go-online.ts';
import { passPath } from '#lib/server/portal/pages.ts';
import type { RequestHandler } from './$types';

/** 303 to the gateway's sign-in, which returns to the pass. See /s/{token}/online. */
export const GET: RequestHandler = async (event) => {
	const { token } = event.params;
	const page = passPath(event);
	// A HEAD request must not sign a device in.
	const pass = event.request.method === 'GET' ? await findApiBuyerPass(event.locals.app, token) : null;
	const location = pass ? await findSignInAddress(event, page, pass) : page;
	return new Response(null, { status: 303, headers: { location } });
};

import { error, redirect } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { readForm } from '#lib/server/portal/pages.ts';
import {
	captiveSessionPath,
	enterCaptiveSession,
	findGateway,
	readSplashPage
} from '#lib/server/portal/splash.ts';
import type { Actions, PageServerLoad } from './$types';

/** GET /splash/{key}: the query has the gateway's parameters. The first response is the page itself. */
export const load: PageServerLoad = async (event) => {
	const gateway = await findGateway(event);
	return readSplashPage(event, gateway, await enterCaptiveSession(event, gateway, event.url.searchParams));
};

export const actions: Actions = {
	/** POST /splash/{key}: a form of a router's own login page. Only creates a captive session. */
	default: async (event) => {
		const gateway = await findGateway(event);
		const fields = new URLSearchParams();
		for (const [name, value] of await readForm(event.request))
			if (typeof value === 'string') fields.append(name, value);
		const captiveSession = await enterCaptiveSession(event, gateway, fields);
		if (!captiveSession) error(400, m.splash_refusal_broken());
		redirect(303, captiveSessionPath(gateway, captiveSession));
	}
};

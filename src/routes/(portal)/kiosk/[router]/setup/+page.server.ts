import { error } from '@sveltejs/kit';
import { readIdleSeconds } from '#lib/kiosk/idle.ts';
import { link } from '#lib/i18n/current.ts';
import { orUnavailable, readRouter } from '#lib/server/portal/pages.ts';
import type { PageServerLoad } from './$types';

/** Sets up a kiosk: a form for its start address, and instructions for the owner. */
export const load: PageServerLoad = async (event) => {
	const router = await orUnavailable(readRouter(event), 'The router cannot be read at the moment.');
	if (!router) error(404, 'There is no Wi-Fi at this address.');
	const idleSeconds = readIdleSeconds(event.url.searchParams);
	return {
		routerName: router.name,
		idleSeconds,
		address: `${event.locals.origin}${link(`/kiosk/${router.id}`)}?idle=${idleSeconds}`
	};
};

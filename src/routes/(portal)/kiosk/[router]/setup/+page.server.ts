import { error } from '@sveltejs/kit';
import { IDLE_SECONDS, kioskOptions, kioskSearch } from '#lib/kiosk/options.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { orUnavailable, readRouter } from '#lib/server/web/portal/pages.ts';
import type { PageServerLoad } from './$types';

/** Sets up a kiosk: a form for its start address, and instructions for the owner. */
export const load: PageServerLoad = async (event) => {
	const router = await orUnavailable(readRouter(event), 'The router cannot be read at the moment.');
	if (!router) error(404, 'There is no Wi-Fi at this address.');
	const options = kioskOptions(event.url.searchParams);
	return {
		words: wordsFor(router.name),
		idle: IDLE_SECONDS,
		idleSeconds: options.idleSeconds,
		address: `${event.locals.origin}${link(`/kiosk/${router.id}`)}${kioskSearch({ ...options, home: null })}`
	};
};

/** Texts are made on the server: every buyer's browser loads the texts of components. */
const wordsFor = (router: string) => ({
	title: m.kiosk_setup_title({ router }),
	text: m.kiosk_setup_text(),
	idle: m.kiosk_setup_idle(),
	idle_hint: m.kiosk_setup_idle_hint({ min: String(IDLE_SECONDS.min), max: String(IDLE_SECONDS.max) }),
	make: m.kiosk_setup_make(),
	address: m.kiosk_setup_address(),
	copy: m.kiosk_setup_copy(),
	open: m.kiosk_setup_open(),
	tablet: m.kiosk_setup_tablet(),
	tablets: [m.kiosk_setup_pin(), m.kiosk_setup_awake(), m.kiosk_setup_network()],
	cleared: m.kiosk_setup_cleared(),
	cleared_text: m.kiosk_setup_cleared_text()
});

import { error } from '@sveltejs/kit';
import { kioskOptions, kioskSearch } from '#lib/kiosk-options.ts';
import { link } from '#lib/language/current.ts';
import { orCalmly } from '../../../calm.ts';
import { kioskRouter } from '../till.ts';
import type { PageServerLoad } from './$types';

/** How a tablet becomes this router's kiosk: a form that makes its start address, and what an owner has to know. */
export const load: PageServerLoad = async (event) => {
	const router = await orCalmly(kioskRouter(event), 'The router cannot be read at the moment.');
	if (!router) error(404, 'This address belongs to no Wi-Fi that is sold here.');
	const options = kioskOptions(event.url.searchParams);
	return {
		name: router.name,
		idleSeconds: options.idleSeconds,
		prints: options.prints,
		address: `${event.locals.origin}${link(`/kiosk/${router.id}`)}${kioskSearch({ ...options, home: null })}`
	};
};

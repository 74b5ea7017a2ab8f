import { requireOwner } from '#lib/server/web/owner.ts';
import type { LayoutServerLoad } from './$types';

/** Pages of owners. Each page's load and every action asks again: a layout does not guard them. */
export const load: LayoutServerLoad = async (event) => {
	const { email, account } = await requireOwner(event);
	const { config, clock } = event.locals.app;
	return {
		email,
		suspended: account.status === 'suspended',
		timeZone: config.reportTimezone,
		now: clock.now()
	};
};

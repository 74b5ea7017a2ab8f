import { requireOwner } from '#lib/server/web/owner/owner.ts';
import type { LayoutServerLoad } from './$types';

/** Does not protect actions or loads: each of them calls requireOwner itself. */
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

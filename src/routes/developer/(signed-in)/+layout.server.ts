import { requireVisitor } from '#lib/server/web/sign-in.ts';
import type { LayoutServerLoad } from './$types';

/** Does not protect actions or loads: each of them calls requireVisitor itself. */
export const load: LayoutServerLoad = async (event) => {
	const { email, account } = await requireVisitor(event);
	const { config } = event.locals.app;
	return {
		email,
		suspended: account.status === 'suspended',
		timeZone: config.reportTimezone,
		now: event.locals.app.clock.now()
	};
};

import { requireVisitor } from '#lib/server/web/sign-in.ts';
import type { LayoutServerLoad } from './$types';

/** Pages for people who are signed in. Their actions ask again: a layout does not guard them. */
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

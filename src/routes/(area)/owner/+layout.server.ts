import { clockText } from '#lib/format/words.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import { mayDo } from '#lib/server/web/owner/roles.ts';
import { ownerVisitor } from '#lib/server/web/owner/owner.ts';
import { areaData } from '#lib/server/web/sign-in/sign-in.ts';
import type { LayoutServerLoad } from './$types';

/** In the order of the navigation. */
const PAGES = ['', 'money', 'vouchers', 'customers', 'routers', 'settings'] as const;

/** Does not protect actions or loads: each of them calls pageVisitor itself. */
export const load: LayoutServerLoad = async (event) => {
	const visitor = await ownerVisitor(event);
	const { owner, role, isSuspended, viewEndsAt } = visitor;
	const { reportTimezone: timeZone } = event.locals.app.config;
	return {
		...areaData(event, visitor),
		suspended: isSuspended,
		// Who sees the money finds the vouchers there.
		pages: PAGES.filter((page) => mayDo(role, page) && !(page === 'vouchers' && mayDo(role, 'money'))),
		/** An administrator looks at the pages of this owner. */
		view:
			viewEndsAt === null
				? null
				: {
						stop: `/admin/accounts/${owner.id}?/stop`,
						text: m.staff_view({ email: apart(owner.email), time: clockText(new Date(viewEndsAt), timeZone) })
					}
	};
};

import { requireVisitor } from '#lib/server/web/developer/visitor.ts';
import { accountActions, accountData } from '#lib/server/web/sign-in/account-page.ts';
import { needsSecondFactor } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const visitor = await requireVisitor(event);
	const { role, plan } = visitor.account;
	return {
		...accountData(event, visitor),
		account: { role, plan, perMinute: event.locals.app.config.rateLimits[plan] },
		needsFactor: needsSecondFactor(event, visitor)
	};
};

export const actions: Actions = accountActions(requireVisitor);

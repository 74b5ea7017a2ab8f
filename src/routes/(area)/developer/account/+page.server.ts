import { requireDeveloper } from '#lib/server/web/developer.ts';
import { accountActions, accountData } from '#lib/server/web/sign-in/account-page.ts';
import { needsSecondFactor } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const developer = await requireDeveloper(event);
	const { role, plan } = developer.account;
	return {
		...accountData(event, developer),
		account: { role, plan, perMinute: event.locals.app.config.rateLimits[plan] },
		needsFactor: needsSecondFactor(event, developer)
	};
};

export const actions: Actions = accountActions(requireDeveloper);

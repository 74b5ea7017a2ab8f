import { error, redirect } from '@sveltejs/kit';
import { requireDeveloper } from '#lib/server/web/developer/developer.ts';
import { keysOf } from '#lib/server/web/developer/keys.ts';
import { logSecurity } from '#lib/server/http/security-log.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import type { Actions, PageServerLoad } from './$types';

const NO_KEY = 'You have no such active key.';

export const load: PageServerLoad = async (event) => {
	const keys = await keysOf(event, await requireDeveloper(event));
	const key = keys.find(({ id, isOwn }) => id === idOf(event.params.id) && !isOwn);
	if (key?.state !== 'active') error(404, NO_KEY);
	return { key };
};

export const actions: Actions = {
	default: async (event) => {
		const { account } = await requireDeveloper(event);
		const id = idOf(event.params.id);
		if (!(await event.locals.app.apiKeys.revokeOwn(account.id, id))) error(404, NO_KEY);
		logSecurity(event, 'API key revoked', { account: account.id, keyId: id });
		redirect(303, `/developer/keys?revoked=${id}`);
	}
};

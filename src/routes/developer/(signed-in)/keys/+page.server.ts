import { error, redirect } from '@sveltejs/kit';
import { requireDeveloper } from '#lib/server/web/developer.ts';
import { readFields } from '#lib/server/web/form.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import type { Actions, PageServerLoad } from './$types';
import {
	revokeOwnKey,
	computeKeyState,
	listKeys,
	readKeyScopes,
	isOwnKey
} from '#lib/server/developer/api-keys.ts';

/** Keys that do not work are listed so that people see why a key is refused. */
const MAX_ENDED = 20;

export const load: PageServerLoad = async (event) => {
	const { account } = await requireDeveloper(event);
	const { config, apiKeys } = event.locals.app;
	const keys = (await listKeys(apiKeys, account.id))
		.filter((key) => !isOwnKey(key))
		.map((key) => ({
			id: key.id,
			name: key.name,
			hint: key.hint,
			role: key.role,
			scopes: readKeyScopes(key),
			state: computeKeyState(apiKeys, key),
			createdAt: key.created_at,
			expiresAt: key.expires_at,
			lastUsedAt: key.last_used_at,
			revokedAt: key.revoked_at
		}))
		.toReversed();
	const revoked = Number(event.url.searchParams.get('revoked'));
	return {
		mode: apiKeys.mode,
		plan: account.plan,
		perMinute: config.rateLimits[account.plan],
		active: keys.filter(({ state }) => state === 'active'),
		ended: keys.filter(({ state }) => state !== 'active').slice(0, MAX_ENDED),
		revoked: keys.find(({ id, state }) => id === revoked && state === 'revoked')?.name ?? null
	};
};

export const actions: Actions = {
	revoke: async (event) => {
		const { account } = await requireDeveloper(event);
		const { field } = await readFields(event.request);
		const id = idOf(field('id'));
		if (!(await revokeOwnKey(event.locals.app.apiKeys, account.id, id)))
			error(404, 'You have no such active key.');
		logSecurity(event, 'API key revoked', { account: account.id, keyId: id });
		redirect(303, `/developer/keys?revoked=${id}`);
	}
};

import { requireDeveloper } from '#lib/server/web/developer/developer.ts';
import { keysOf } from '#lib/server/web/developer/keys.ts';
import type { PageServerLoad } from './$types';

/** Keys that do not work are listed so that people see why a key is refused. */
const MAX_ENDED = 20;

export const load: PageServerLoad = async (event) => {
	const developer = await requireDeveloper(event);
	const { config, requestLog, apiKeys } = event.locals.app;
	const [all, usage] = await Promise.all([keysOf(event, developer), requestLog.usage(developer.account.id)]);
	const keys = all.filter(({ isOwn }) => !isOwn);
	const revoked = Number(event.url.searchParams.get('revoked'));
	return {
		mode: apiKeys.mode,
		plan: developer.account.plan,
		perMinute: config.rateLimits[developer.account.plan],
		active: keys
			.filter(({ state }) => state === 'active')
			.map((key) => ({ ...key, usage: usage.get(key.id) ?? { minute: 0, day: 0 } })),
		ended: keys.filter(({ state }) => state !== 'active').slice(0, MAX_ENDED),
		revoked: keys.find(({ id, state }) => id === revoked && state === 'revoked')?.name ?? null
	};
};

import { error, fail, redirect } from '@sveltejs/kit';
import { DAY_MS } from '#lib/domain/time.ts';
import { SCOPE_TEXTS } from '#lib/server/contract/scopes.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import { requireDeveloper } from '#lib/server/web/developer.ts';
import { readFields } from '#lib/server/web/form.ts';
import { idOf } from '#lib/server/web/page-links.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import type { Actions, PageServerLoad } from './$types';
import {
	computeKeyState,
	createFormToken,
	createKey,
	isOwnKey,
	listKeyChoices,
	listKeys,
	readKeyScopes,
	revokeOwnKey
} from '#lib/server/developer/api-keys.ts';

/** Keys that do not work are listed so that people see why a key is refused. */
const MAX_ENDED = 20;

const LIFETIMES = [
	['never', 'Never'],
	['30', 'After 30 days'],
	['90', 'After 90 days'],
	['365', 'After 1 year']
] as const;

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
	const { roles, scopes } = listKeyChoices(account.role);
	const revoked = Number(event.url.searchParams.get('revoked'));
	return {
		mode: apiKeys.mode,
		roles,
		scopes: scopes.map((scope) => [scope, SCOPE_TEXTS[scope]] as const),
		lifetimes: LIFETIMES,
		formToken: createFormToken(),
		origin: event.locals.origin,
		centre: config.centre,
		plan: account.plan,
		perMinute: config.rateLimits[account.plan],
		active: keys.filter(({ state }) => state === 'active'),
		ended: keys.filter(({ state }) => state !== 'active').slice(0, MAX_ENDED),
		revoked: keys.find(({ id, state }) => id === revoked && state === 'revoked')?.name ?? null
	};
};

const SUSPENDED = 'This account is suspended. New keys cannot be created.';

export const actions: Actions = {
	/** Creates a key and shows it once. */
	create: async (event) => {
		const { account } = await requireDeveloper(event);
		const { apiKeys, clock } = event.locals.app;
		const { field, all } = await readFields(event.request);
		const entry = {
			name: field('name').trim(),
			role: field('role'),
			scopes: all('scope'),
			lifetime: field('lifetime'),
			formToken: field('form')
		};
		const refused = (status: number, at: string, problem: string) =>
			fail(status, { entry, field: at, problem });
		if (account.status === 'suspended') return refused(403, 'form', SUSPENDED);
		if (!LIFETIMES.some(([days]) => days === entry.lifetime)) {
			return refused(400, 'expiry', 'Choose when the key expires.');
		}
		const choices = listKeyChoices(account.role);
		const role = choices.roles.find((one) => one === entry.role);
		if (!role) return refused(400, 'role', 'Choose one of the roles of your account.');
		const scopes = choices.scopes.filter((scope) => entry.scopes.includes(scope));
		if (scopes.length < new Set(entry.scopes).size) {
			return refused(400, 'scopes', 'Choose scopes that your account allows.');
		}
		const { name, lifetime, formToken } = entry;
		const expiresAt = lifetime === 'never' ? null : clock.now() + Number(lifetime) * DAY_MS;
		try {
			const key = await createKey(apiKeys, {
				accountId: account.id,
				name,
				role,
				scopes,
				expiresAt,
				formToken
			});
			logSecurity(event, 'API key created', { account: account.id });
			return { key, name };
		} catch (error) {
			if (!(error instanceof Refused)) throw error;
			const at = ['too_many', 'already_created'].includes(error.reason) ? 'form' : error.reason;
			return refused(error.reason === 'already_created' ? 409 : 400, at, error.message);
		}
	},
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

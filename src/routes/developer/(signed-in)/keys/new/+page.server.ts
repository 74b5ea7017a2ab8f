import { fail } from '@sveltejs/kit';
import { DAY_MS } from '#lib/domain/time.ts';
import { SCOPE_TEXTS } from '#lib/server/contract/scopes.ts';
import { createKey, createFormToken, listKeyChoices } from '#lib/server/developer/api-keys.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import { requireDeveloper } from '#lib/server/web/developer.ts';
import { readFields } from '#lib/server/web/form.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import type { Actions, PageServerLoad } from './$types';

const LIFETIMES = [
	['never', 'Never'],
	['30', 'After 30 days'],
	['90', 'After 90 days'],
	['365', 'After 1 year']
] as const;

export const load: PageServerLoad = async (event) => {
	const { account } = await requireDeveloper(event);
	const { apiKeys, config } = event.locals.app;
	const { roles, scopes } = listKeyChoices(account.role);
	return {
		roles,
		scopes: scopes.map((scope) => [scope, SCOPE_TEXTS[scope]] as const),
		mode: apiKeys.mode,
		lifetimes: LIFETIMES,
		formToken: createFormToken(),
		origin: event.locals.origin,
		centre: config.centre
	};
};

const SUSPENDED = 'This account is suspended. New keys cannot be created.';

export const actions: Actions = {
	/** Creates a key and shows it once. */
	default: async (event) => {
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
	}
};

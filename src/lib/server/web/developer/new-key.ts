import { fail, type RequestEvent } from '@sveltejs/kit';
import { DAY_MS } from '#lib/format/time.ts';
import { SCOPE_TEXTS } from '#lib/server/contract/scopes.ts';
import { KeyRefused } from '#lib/server/developer/api-keys/api-keys.ts';
import { readFields } from '../form.ts';
import { logSecurity } from '#lib/server/http/security-log.ts';
import { requireDeveloper, type Developer } from './developer.ts';

const LIFETIMES = [
	['never', 'Never'],
	['30', 'After 30 days'],
	['90', 'After 90 days'],
	['365', 'After 1 year']
] as const;

/** /developer/keys/new: creates a key and shows it once. */
export async function newKeyPage(event: RequestEvent) {
	const { account } = await requireDeveloper(event);
	const { apiKeys, config } = event.locals.app;
	const { roles, scopes } = apiKeys.choices(account.role);
	return {
		roles,
		scopes: scopes.map((scope) => [scope, SCOPE_TEXTS[scope]] as const),
		mode: apiKeys.mode,
		lifetimes: LIFETIMES,
		formToken: apiKeys.formToken(),
		origin: event.locals.origin,
		centre: config.centre
	};
}

const SUSPENDED = 'This account is suspended. New keys cannot be created.';

export async function createKey(event: RequestEvent) {
	const developer = await requireDeveloper(event);
	const entry = await readEntry(event);
	const refused = (status: number, field: string, problem: string) => fail(status, { entry, field, problem });
	if (developer.account.status === 'suspended') return refused(403, 'form', SUSPENDED);
	try {
		const key = await make(event, developer, entry);
		return { key, name: entry.name };
	} catch (error) {
		if (!(error instanceof KeyRefused)) throw error;
		const field = ['too_many', 'already_created'].includes(error.reason) ? 'form' : error.reason;
		return refused(error.reason === 'already_created' ? 409 : 400, field, error.message);
	}
}

type Entry = Awaited<ReturnType<typeof readEntry>>;

async function readEntry({ request }: RequestEvent) {
	const { field, all } = await readFields(request);
	return {
		name: field('name').trim(),
		role: field('role'),
		scopes: all('scope'),
		lifetime: field('lifetime'),
		formToken: field('form')
	};
}

/** @throws KeyRefused */
async function make(event: RequestEvent, { account }: Developer, entry: Entry): Promise<string> {
	const { apiKeys, clock } = event.locals.app;
	if (!LIFETIMES.some(([days]) => days === entry.lifetime)) {
		throw new KeyRefused('expiry', 'Choose when the key expires.');
	}
	const expiresAt = entry.lifetime === 'never' ? null : clock.now() + Number(entry.lifetime) * DAY_MS;
	const choices = apiKeys.choices(account.role);
	const role = choices.roles.find((one) => one === entry.role);
	if (!role) throw new KeyRefused('role', 'Choose one of the roles of your account.');
	const scopes = choices.scopes.filter((scope) => entry.scopes.includes(scope));
	if (scopes.length < new Set(entry.scopes).size) {
		throw new KeyRefused('scopes', 'Choose scopes that your account allows.');
	}
	const key = await apiKeys.create({
		accountId: account.id,
		name: entry.name,
		role,
		scopes,
		expiresAt,
		formToken: entry.formToken
	});
	logSecurity(event, 'API key created', { account: account.id });
	return key;
}

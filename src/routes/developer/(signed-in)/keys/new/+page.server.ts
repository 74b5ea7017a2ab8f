import { fail, type RequestEvent } from '@sveltejs/kit';
import { DAY_MS } from '#lib/format/time.ts';
import { buckets, dateAt, isDate } from '#lib/format/calendar.ts';
import { SCOPE_TEXTS } from '#lib/server/api/contract/scopes.ts';
import { KeyRefused } from '#lib/server/developer/api-keys/api-keys.ts';
import { readFields } from '#lib/server/web/form.ts';
import { logSecurity } from '#lib/server/web/security-log.ts';
import { requireVisitor, type Developer } from '#lib/server/web/developer/visitor.ts';
import type { Actions, PageServerLoad } from './$types';

const LIFETIMES = [
	['never', 'Never'],
	['30', 'After 30 days'],
	['90', 'After 90 days'],
	['365', 'After 1 year'],
	['date', 'On a date']
] as const;

/** /developer/keys/new: creates a key and shows it once. */
export const load: PageServerLoad = async (event) => {
	const { account } = await requireVisitor(event);
	const { apiKeys, clock, config } = event.locals.app;
	const { roles, scopes } = apiKeys.choices(account.role);
	return {
		roles,
		scopes: scopes.map((scope) => [scope, SCOPE_TEXTS[scope]] as const),
		mode: apiKeys.mode,
		lifetimes: LIFETIMES,
		today: dateAt(clock.now(), config.reportTimezone),
		formToken: apiKeys.formToken(),
		origin: event.locals.origin,
		centre: config.centre
	};
};

const SUSPENDED = 'This account is suspended. New keys cannot be created.';

export const actions: Actions = {
	default: async (event) => {
		const visitor = await requireVisitor(event);
		const entry = await readEntry(event);
		const refused = (status: number, field: string, problem: string) =>
			fail(status, { entry, field, problem });
		if (visitor.account.status === 'suspended') return refused(403, 'form', SUSPENDED);
		try {
			const key = await make(event, visitor, entry);
			return key === null
				? refused(400, 'expiry', 'Choose when the key expires.')
				: { key, name: entry.name };
		} catch (error) {
			if (!(error instanceof KeyRefused)) throw error;
			const field = ['too_many', 'already_created'].includes(error.reason) ? 'form' : error.reason;
			return refused(error.reason === 'already_created' ? 409 : 400, field, error.message);
		}
	}
};

type Entry = Awaited<ReturnType<typeof readEntry>>;

async function readEntry({ request }: RequestEvent) {
	const { field, all } = await readFields(request);
	return {
		name: field('name').trim(),
		role: field('role'),
		scopes: all('scope'),
		lifetime: field('lifetime'),
		date: field('date'),
		formToken: field('form')
	};
}

/** Creates the key. Returns null if the expiry is missing. @throws KeyRefused */
async function make(event: RequestEvent, { account }: Developer, entry: Entry): Promise<string | null> {
	const { apiKeys, clock, config } = event.locals.app;
	if (entry.date !== '' && entry.lifetime !== 'date') {
		throw new KeyRefused(
			'expiry',
			'You entered a date but chose another expiry. Choose “On a date”, or clear the date.'
		);
	}
	const expiresAt = expiryOf(entry, clock.now(), config.reportTimezone);
	if (expiresAt === undefined) return null;
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

/** Returns the expiry in ms since the epoch: null for never, undefined if invalid. A date ends the day. */
function expiryOf({ lifetime, date }: Entry, now: number, timeZone: string): number | null | undefined {
	if (lifetime === 'never') return null;
	if (/^(30|90|365)$/.test(lifetime)) return now + Number(lifetime) * DAY_MS;
	if (lifetime !== 'date' || !isDate(date) || date.startsWith('9')) return undefined;
	return buckets('daily', { from: date, to: date }, date, timeZone)?.[0]?.until;
}

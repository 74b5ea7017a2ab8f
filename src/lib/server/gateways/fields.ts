import { normaliseMac } from '#lib/domain/address.ts';
import { type EntryProblem, EntryRefused, type EntryRequest } from './gateway.ts';

/** Characters. No real redirect is longer. */
const MAX_ENTRY_LENGTH = 8_192;
const MAX_URL_LENGTH = 2_048;

/** @throws EntryRefused if the redirect is too long or empty */
export function checkSize({ address, fields }: EntryRequest): void {
	if (address.length > MAX_ENTRY_LENGTH || String(fields).length > MAX_ENTRY_LENGTH) {
		throw new EntryRefused('too-long', `A redirect has at most ${MAX_ENTRY_LENGTH} characters`);
	}
	if (fields.size === 0) throw new EntryRefused('missing', 'The redirect has no fields');
}

/** Matches a missing value: RouterOS leaves `$(name)` in place, openNDS prints `(null)`. */
const EMPTY = /^(\(null\)|\$\([\w-]+\))?$/;

/** Returns the first value of a field; '' if it is missing. */
export function field(fields: URLSearchParams, name: string): string {
	const value = (fields.get(name) ?? '').trim();
	return EMPTY.test(value) ? '' : value;
}

/** Returns null for ''. @throws EntryRefused if the address is invalid */
export function clientMacOf(text: string): string | null {
	if (text === '') return null;
	const mac = normaliseMac(text);
	if (mac === null) throw new EntryRefused('broken', 'The MAC address of the client is invalid');
	return mac;
}

export function webAddressOf(text: string): string | null {
	if (text === '' || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
	const { protocol, href } = new URL(text);
	return protocol === 'http:' || protocol === 'https:' ? href : null;
}

export function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Messages of RouterOS, FreeRADIUS and CoovaChilli. The first match counts. */
const PROBLEMS: readonly [RegExp, EntryProblem][] = [
	[/simultaneous|no more sessions|multiple logins|device/i, 'too-many-devices'],
	[/uptime limit|time limit|expired|session limit|no (more )?(time|data)|quota|traffic limit/i, 'time-over'],
	[/not responding|timeout|timed out|not ready|unavailable|internal|try again/i, 'not-ready'],
	[/invalid|password|reject|unknown user|not found|incorrect|denied/i, 'wrong-password']
];

export const problemOf = (message: string): EntryProblem =>
	PROBLEMS.find(([pattern]) => pattern.test(message))?.[1] ?? 'unknown';

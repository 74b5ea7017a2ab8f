import { isIP } from 'node:net';
import { normaliseMac } from '#lib/domain/mac.ts';
import { EntryRefused, type EntryProblem, type EntryRequest } from '../gateway.ts';

/** Reading of what gateways hand over: everything has a limit, and a value that is none is left out. */

/** Longer than any honest address with its parameters. */
export const MAX_ENTRY_LENGTH = 8_192;
const MAX_URL_LENGTH = 2_048;

/** @throws EntryRefused when there is too much, or nothing at all */
export function checkSize({ address, fields }: EntryRequest): void {
	if (address.length > MAX_ENTRY_LENGTH || String(fields).length > MAX_ENTRY_LENGTH) {
		throw new EntryRefused('too-long', `An entry has at most ${MAX_ENTRY_LENGTH} characters`);
	}
	if (fields.size === 0) throw new EntryRefused('missing', 'The gateway handed nothing over');
}

/** What RouterOS leaves where it knows no value, and what openNDS prints for a missing one. */
const EMPTY = /^(\(null\)|\$\([\w-]+\))?$/;

/** The first value of that name; '' when there is none. */
export function field(fields: URLSearchParams, name: string): string {
	const value = (fields.get(name) ?? '').trim();
	return EMPTY.test(value) ? '' : value;
}

/** @throws EntryRefused when it is there and is no MAC address */
export function clientMacOf(text: string): string | null {
	if (text === '') return null;
	const mac = normaliseMac(text);
	if (mac === null) throw new EntryRefused('broken', 'The client’s MAC address is none');
	return mac;
}

export const clientIpOf = (text: string): string | null => (isIP(text) === 0 ? null : text);

/** An address of the web, or null. */
export function webAddressOf(text: string): string | null {
	if (text === '' || text.length > MAX_URL_LENGTH || !URL.canParse(text)) return null;
	const { protocol, href } = new URL(text);
	return protocol === 'http:' || protocol === 'https:' ? href : null;
}

/** Percent-decoding that leaves a broken text as it is. */
export function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

/** Words of RouterOS, FreeRADIUS and CoovaChilli for why a sign-in was refused; the first that fits counts. */
const PROBLEMS: readonly [RegExp, EntryProblem][] = [
	[/simultaneous|no more sessions|multiple logins|device/i, 'too-many-devices'],
	[/uptime limit|time limit|expired|session limit|no (more )?time|quota|traffic limit/i, 'time-over'],
	[/not responding|timeout|timed out|not ready|unavailable|internal|try again/i, 'not-ready'],
	[/invalid|password|reject|unknown user|not found|incorrect|denied/i, 'wrong-password']
];

export const problemOf = (words: string): EntryProblem =>
	PROBLEMS.find(([pattern]) => pattern.test(words))?.[1] ?? 'unknown';

/** Redirects of gateways, and what is made of them. */
import { createHash } from 'node:crypto';
import {
	type Entry,
	type EntryRequest,
	type GatewayAdapter,
	type GatewayFacts
} from '#lib/server/gateways/gateway.ts';
import { Refused } from '#lib/server/platform/errors.ts';

export const SECRET = 'obviouslyFakeSharedSecret0123456';
export const ACCESS = {
	user: 's9001',
	password: 'abcd-efgh-jkmn',
	landing: 'https://portal.example/s/T?online'
};
export const md5 = (...parts: (string | Buffer)[]) => {
	const digest = createHash('md5');
	for (const part of parts) digest.update(part);
	return digest.digest();
};
export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

export const get = (query: string): EntryRequest => ({
	method: 'GET',
	address: `http://portal.example/splash/KEY?${query}`,
	fields: new URLSearchParams(query)
});
export const post = (fields: Record<string, string>): EntryRequest => ({
	method: 'POST',
	address: 'http://portal.example/splash/KEY',
	fields: new URLSearchParams(fields)
});

export function refusal(adapter: GatewayAdapter, request: EntryRequest, facts: GatewayFacts): string {
	try {
		adapter.parseEntry(request, facts);
	} catch (error) {
		if (error instanceof Refused) return error.reason;
		throw error;
	}
	return 'taken';
}

/** The address to which the browser is redirected. */
export function finished(adapter: GatewayAdapter, entry: Entry, facts: GatewayFacts): URL {
	return new URL(adapter.signInUrl?.(entry, ACCESS, facts) ?? '');
}

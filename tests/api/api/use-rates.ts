import { beforeEach } from 'vitest';
import { isAll } from '../../support/all.ts';
import type { Answer } from '../../support/api/api.ts';
import { DEFAULTS } from '../../support/api/rates.ts';
import { useFixture, type NewKey } from '../../support/server/fixture.ts';

export const minute = 60_000;

/** A key's limit. With the default of 100 this file sends ten thousand requests, as `--all` does. */
export const KEY = isAll ? 100 : 20;
export const ENTERPRISE = 10 * KEY;
export const FAILED_KEYS = 300;
const LIMITS = {
	...DEFAULTS,
	RATE_LIMIT_DEFAULT: String(KEY),
	RATE_LIMIT_ENTERPRISE: String(ENTERPRISE)
};

/** The body of a 429. */
export const refusalOf = ({ headers }: Answer, wait: number, policy: string, detail: string) => ({
	type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
	title: 'Rate limit exceeded',
	status: 429,
	detail,
	code: 'rate_limit_exceeded',
	request_id: headers.get('x-request-id'),
	retry_after: wait,
	'violated-policies': [policy]
});

/** Any of the requests of an address. */
export const from = (address: string) => ({ headers: { 'x-client-address': address } });

/** Starts a server with these limits, and makes a key for each test. */
export function useRates(database: string) {
	const fixture = useFixture({ database, env: { ...LIMITS, ADDRESS_HEADER: 'x-client-address' } });
	let caller: NewKey;
	beforeEach(async () => {
		caller = await fixture().newKey({ plan: 'default' });
	});

	/** Lets time pass for the limits: SQLite's count goes by the server's clock, PostgreSQL's by its own. */
	async function pass(ms: number): Promise<void> {
		if (database === 'sqlite') await fixture().server.advance(ms);
		else await fixture().sql.run(`update rate_hits set at = at - make_interval(secs => ${ms / 1000})`);
	}

	return { fixture, caller: () => caller, pass };
}

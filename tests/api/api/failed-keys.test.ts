/** The limit of requests without a valid key (section 4): per address, whoever else is there. */
import { describe, expect, it } from 'vitest';
import { createApi } from '../../support/api/api.ts';
import { remaining } from '../../support/api/rates.ts';
import { BOTH_DATABASES } from '../../support/server/fixture.ts';
import { FAILED_KEYS, from, KEY, minute, refusalOf, useRates } from './use-rates.ts';

describe.each(BOTH_DATABASES)('an address without a good key, on %s', (database) => {
	const { fixture, caller, pass } = useRates(database);

	const failed = (address: string) => fixture().nobody.send('GET', '/v1/routers/1', from(address));
	const failOften = (count: number, addressOf: (index: number) => string) =>
		Promise.all(Array.from({ length: count }, async (_, index) => (await failed(addressOf(index))).status));

	it('that the proxy did not name is refused like any other', async () => {
		await fixture().nobody.refused('401 missing_api_key', 'GET', '/v1/routers/1');
	});

	it('gets 401 as often as the limit, then 429', async () => {
		const statuses = await failOften(FAILED_KEYS + 1, () => '192.0.2.1');
		expect(statuses.filter((status) => status === 401)).toHaveLength(FAILED_KEYS);
		expect(statuses.filter((status) => status === 429)).toHaveLength(1);
		const answer = await failed('192.0.2.1');
		const wait = Number(answer.headers.get('retry-after'));
		expect(answer.body).toEqual(
			refusalOf(answer, wait, 'failed-keys', `Too many requests without a valid API key. Retry in ${wait} s.`)
		);
		// A wrong key counts as a missing one does, on any path.
		const wrong = createApi(fixture().server.url, `${caller().key.slice(0, -1)}!`);
		await wrong.refused('429 rate_limit_exceeded', 'POST', '/v1/nothing', from('192.0.2.1'));
		await pass(minute);
		expect((await failed('192.0.2.1')).status).toBe(401);
	});

	it('does not hold up other addresses, nor a good key at the same one', async () => {
		await failOften(FAILED_KEYS + 1, () => '192.0.2.2');
		expect((await failed('192.0.2.2')).status).toBe(429);
		expect((await failed('192.0.2.3')).status).toBe(401);
		const good = await caller().api.send('GET', '/v1/routers/1', from('192.0.2.2'));
		expect([good.status, remaining(good)]).toEqual([200, KEY - 1]);
	});

	it('is not used up by a good key', async () => {
		const { api } = await fixture().newKey({ plan: 'enterprise' });
		await Promise.all(
			Array.from({ length: FAILED_KEYS + 10 }, () => api.send('GET', '/v1/x', from('192.0.2.4')))
		);
		expect((await failed('192.0.2.4')).status).toBe(401);
	});

	it('is a whole /64 of IPv6, and an IPv4 address however it is written', async () => {
		const statuses = await failOften(FAILED_KEYS + 1, (index) =>
			index % 2 === 0 ? `2001:db8:0:7::${index.toString(16)}` : `"[2001:DB8:0:7::1]:${51_234 + index}"`
		);
		expect(statuses.filter((status) => status === 429)).toHaveLength(1);
		expect((await failed('2001:db8:0:7:ffff::1')).status).toBe(429);
		expect((await failed('2001:db8:0:8::1')).status).toBe(401);
		await failOften(FAILED_KEYS, (index) =>
			index % 2 === 0 ? `192.0.2.5:${51_234 + index}` : '::ffff:192.0.2.5'
		);
		expect((await failed('192.0.2.5')).status).toBe(429);
	});

	it('logs no error', () => {
		expect(fixture().server.stderr()).not.toMatch(/"level":[56]0/);
	});
});

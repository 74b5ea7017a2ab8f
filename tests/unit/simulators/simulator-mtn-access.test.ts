/** Users, keys and tokens of the simulated MTN MoMo. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { useMtn } from './use-mtn.ts';
import { basic, type Headers } from './use-simulator.ts';

const { simulator, call, enter, keyOf } = useMtn();

describe('users and keys', () => {
	it('need a UUID v4, a host name that is no address, and a subscription key', async () => {
		const json = { ...keyOf('collection'), 'Content-Type': 'application/json' };
		const host = { providerCallbackHost: 'shop.example' };
		const make = (headers: Headers, body: unknown) => call('POST', '/v1_0/apiuser', headers, body);
		const id = randomUUID();
		expect((await make(json, host)).status).toBe(400);
		const v1 = 'c72025f5-5cd1-1630-99e4-8ba4722fad56';
		expect((await make({ ...json, 'X-Reference-Id': v1 }, host)).status).toBe(400);
		for (const wrong of [
			'192.0.2.1',
			'https://192.0.2.1',
			'https://shop.example/path',
			'shop.example:80',
			'',
			7
		]) {
			const refused = await make({ ...json, 'X-Reference-Id': id }, { providerCallbackHost: wrong });
			expect(refused.status, String(wrong)).toBe(400);
		}
		expect((await make({ 'X-Reference-Id': id }, host)).status).toBe(401);
		expect((await make({ ...json, 'X-Reference-Id': id }, host)).status).toBe(201);
		const scheme = { providerCallbackHost: 'https://shop.example' };
		expect((await make({ ...json, 'X-Reference-Id': randomUUID() }, scheme)).status).toBe(201);
		expect(await make({ ...json, 'X-Reference-Id': id }, host)).toMatchObject({
			status: 409,
			body: { code: 'RESOURCE_ALREADY_EXIST' }
		});
		expect((await call('GET', `/v1_0/apiuser/${randomUUID()}`, json)).status).toBe(404);
	});
});

describe('tokens', () => {
	it('need the slash, no JSON, the right key and the right user', async () => {
		const { api_user = '', api_key = '' } = simulator().credentials;
		const right = { ...keyOf('collection'), Authorization: basic(api_user, api_key) };
		expect((await call('POST', '/collection/token/', right)).status).toBe(200);
		expect((await call('POST', '/collection/token', right)).status).toBe(404);
		expect((await call('POST', '/collection/token/', right, '{}')).status).toBe(400);
		const form = { ...right, 'Content-Type': 'application/x-www-form-urlencoded' };
		const grant = 'grant_type=client_credentials';
		expect((await call('POST', '/collection/token/', form, grant)).status).toBe(200);
		const wrongUser = { ...right, Authorization: basic(api_user, 'x') };
		expect((await call('POST', '/collection/token/', wrongUser)).status).toBe(401);
		const { Authorization } = right;
		const noKey = await call('POST', '/collection/token/', { Authorization });
		expect(noKey).toMatchObject({ status: 401, body: { statusCode: 401 } });
		expect(noKey.text).toContain('missing subscription key');
		// Each product has keys of its own.
		const otherKey = await call('POST', '/collection/token/', { Authorization, ...keyOf('disbursement') });
		expect(otherKey.text).toContain('invalid subscription key');
		const secondary = {
			Authorization,
			'Ocp-Apim-Subscription-Key': simulator().credentials['collection_secondary_key'] ?? ''
		};
		expect((await call('POST', '/collection/token/', secondary)).status).toBe(200);
	});

	it('live an hour, for one product, and not longer than they are let', async () => {
		const headers = await enter();
		const read = () => call('GET', '/collection/v1_0/account/balance', headers);
		expect((await read()).status).toBe(200);
		simulator().advance(3_599_000);
		expect((await read()).status).toBe(200);
		simulator().advance(2_000);
		expect((await read()).status).toBe(401);
		const other = { ...(await enter('disbursement')), ...keyOf('collection') };
		expect((await call('GET', '/collection/v1_0/account/balance', other)).status).toBe(401);
		const fresh = await enter();
		simulator().expireTokens();
		expect((await call('GET', '/collection/v1_0/account/balance', fresh)).status).toBe(401);
	});
});

it('a user is of the product that made it: another one gives it a token, and refuses its calls', async () => {
	const { api_user = '', api_key = '' } = simulator().credentials;
	const { body } = await call('POST', '/disbursement/token/', {
		...keyOf('disbursement'),
		Authorization: basic(api_user, api_key)
	});
	const headers = {
		...(await enter('disbursement')),
		Authorization: `Bearer ${String(body['access_token'])}`
	};
	expect(await call('GET', '/disbursement/v1_0/account/balance', headers)).toMatchObject({
		status: 500,
		body: { code: 'NOT_ALLOWED' }
	});
});

/** The simulated Airtel Money as any client of Airtel sees it: by plain HTTP, without the adapter. */
import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { airtelProtocol } from '../../simulators/airtel/airtel.ts';
import { startReceiver } from '../../support/api/receiver.ts';
import { useSimulator, type Headers } from './use-simulator.ts';

const { simulator, call: send } = useSimulator(airtelProtocol);

interface Answer {
	status: number;
	body: Record<string, never> & {
		access_token?: string;
		error?: string;
		status_code?: string;
		status?: Record<string, unknown>;
		data?: { transaction?: Record<string, unknown>; [name: string]: unknown };
	};
}

const call = async (method: string, path: string, headers: Headers, body?: unknown) =>
	(await send(method, path, headers, body)) as unknown as Answer;

const JSON_TYPE = { 'content-type': 'application/json' };

const askToken = (changes: object = {}, headers: Headers = JSON_TYPE) =>
	call('POST', '/auth/oauth2/token', headers, {
		client_id: simulator().credentials['client_id'],
		client_secret: simulator().credentials['client_secret'],
		grant_type: 'client_credentials',
		...changes
	});

const headersWith = async (changes: Headers = {}): Promise<Headers> => {
	const headers = {
		...JSON_TYPE,
		'X-Country': 'UG',
		'X-Currency': 'UGX',
		Authorization: `Bearer ${(await askToken()).body.access_token}`,
		...changes
	};
	return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
};

const payment = (changes: { reference?: unknown; subscriber?: object; transaction?: object } = {}) => ({
	reference: 'reference' in changes ? changes.reference : 'Testing transaction',
	subscriber: { country: 'UG', currency: 'UGX', msisdn: '700000001', ...changes.subscriber },
	transaction: {
		amount: 1000,
		country: 'UG',
		currency: 'UGX',
		id: 'random-unique-id',
		...changes.transaction
	}
});

const push = async (body: unknown, headers: Headers = {}, path = '/merchant/v1/payments/') =>
	call('POST', path, await headersWith(headers), body);
const enquire = async (id: string) => call('GET', `/standard/v1/payments/${id}`, await headersWith());
const codeOf = ({ body }: Answer) =>
	body.status_code ?? body.status?.['response_code'] ?? body.status?.['result_code'] ?? body.error;

describe('a token', () => {
	it('has a life of 180 seconds, as a text', async () => {
		const { status, body } = await askToken();
		expect(status).toBe(200);
		expect(body).toEqual({ access_token: expect.any(String), expires_in: '180', token_type: 'bearer' });
		simulator().portal({ expires_in: 'number', token_seconds: '3600' });
		expect((await askToken()).body).toMatchObject({ expires_in: 3600 });
	});

	it('ends, and does not end an earlier one', async () => {
		const headers = await headersWith();
		await askToken();
		expect((await call('GET', '/standard/v1/payments/x', headers)).status).not.toBe(401);
		simulator().advance(180_000);
		const ended = await call('GET', '/standard/v1/payments/x', headers);
		expect([ended.status, ended.body.error]).toEqual([401, 'invalid_token']);
	});

	it.each([
		[{ client_id: 'x' }, 'invalid_client'],
		[{ client_secret: 'x' }, 'invalid_client'],
		[{ grant_type: 'password' }, 'unsupported_grant_type']
	])('is refused for %j', async (changes, error) => {
		expect((await askToken(changes)).body.error).toBe(error);
	});

	it('is asked for in JSON', async () => {
		expect((await askToken({}, { 'content-type': 'text/plain' })).status).toBe(400);
	});
});

describe('a payment', () => {
	it.each(['/merchant/v1/payments/', '/merchant/v2/payments/'])(
		'is taken at %s, and enquired',
		async (path) => {
			expect(await push(payment(), {}, path)).toEqual({
				status: 200,
				body: {
					data: { transaction: { id: 'random-unique-id', status: 'SUCCESS' } },
					status: {
						code: '200',
						message: 'SUCCESS',
						result_code: 'ESB000010',
						response_code: 'DP00800001006',
						success: true
					}
				}
			});
			expect((await enquire('random-unique-id')).body.data?.transaction).toMatchObject({ status: 'TIP' });
			expect(simulator().ledger().payments).toBe(0);
			simulator().advance(1_000);
			const { body } = await enquire('random-unique-id');
			expect(body.data?.transaction).toEqual({
				airtel_money_id: simulator().books.payments[0]?.operatorReference,
				id: 'random-unique-id',
				message: 'success',
				status: 'TS'
			});
			expect(body.status).toMatchObject({ response_code: 'DP00800001006', success: false });
			expect(simulator().ledger()).toEqual({ debited: 1_000, payments: 1, refunded: 0, refunds: 0 });
		}
	);

	it.each([
		[{ Authorization: '' }, 401, 'invalid_token'],
		[{ Authorization: 'Bearer x' }, 401, 'invalid_token'],
		[{ 'X-Country': '' }, 400, 'ROUTER003'],
		[{ 'X-Country': 'XX' }, 400, 'ROUTER006'],
		[{ 'X-Country': 'ZM' }, 403, 'ROUTER007'],
		[{ 'X-Currency': '' }, 400, 'ROUTER119'],
		[{ 'X-Currency': 'ZMW' }, 400, 'ROUTER112'],
		[{ 'content-type': 'text/plain' }, 400, 'ROUTER003']
	])('with the headers %j is refused: %s %s', async (headers, status, code) => {
		const answer = await push(payment(), headers as unknown as Headers);
		expect([answer.status, codeOf(answer)]).toEqual([status, code]);
		expect(simulator().books.payments).toHaveLength(0);
	});

	it.each([
		[payment({ reference: '' }), 'ROUTER003'],
		[payment({ subscriber: { msisdn: undefined } }), 'ROUTER003'],
		[payment({ subscriber: { msisdn: '256700000001' } }), 'ESB000033'],
		[payment({ subscriber: { msisdn: '0700000001' } }), 'ESB000033'],
		[payment({ subscriber: { country: 'ZM' } }), 'ESB000034'],
		[payment({ transaction: { currency: 'ZMW' } }), 'ESB000035'],
		[payment({ transaction: { amount: '1000' } }), 'ESB000008'],
		[payment({ transaction: { id: 'two words' } }), 'ESB000008'],
		['[]', 'ROUTER003']
	])('with the body %j is refused: %s', async (body, code) => {
		const answer = await push(body);
		expect([answer.status, codeOf(answer)]).toEqual([400, code]);
		expect(simulator().books.payments).toHaveLength(0);
	});

	it('needs neither country nor currency in its body', async () => {
		const { status } = await push({
			reference: 'x',
			subscriber: { msisdn: '700000001' },
			transaction: { amount: 1, id: 'x' }
		});
		expect(status).toBe(200);
	});

	it('uses the number and id formats of the market', async () => {
		simulator().portal({ leading_zero: 'on', short_ids: 'on' });
		expect(codeOf(await push(payment({ transaction: { id: 'short1' } })))).toBe('ESB000036');
		const number = { msisdn: '0700000001' };
		expect(codeOf(await push(payment({ subscriber: number })))).toBe('ESB000008');
		expect((await push(payment({ subscriber: number, transaction: { id: 'short1' } }))).status).toBe(200);
		expect(simulator().books.payments[0]?.phone).toBe('256700000001');
	});

	it.each([
		['700991007', 'TF', 'DP00800001007'],
		['700991029', 'TE', 'DP00800001029'],
		['700991000', 'TA', 'DP00800001000']
	])('from %s ends as %s with %s', async (msisdn, state, code) => {
		await push(payment({ subscriber: { msisdn } }));
		simulator().advance(1_000);
		const { body } = await enquire('random-unique-id');
		expect([body.data?.transaction?.['status'], body.status?.['response_code']]).toEqual([state, code]);
		expect(body.data?.transaction).not.toHaveProperty('airtel_money_id');
		expect(simulator().ledger().debited).toBe(0);
	});

	it('that does not exist is not found; nor are other paths and methods', async () => {
		expect(codeOf(await enquire('nothing'))).toBe('ESB000045');
		const headers = await headersWith();
		expect((await call('POST', '/merchant/v1/payments', headers, payment())).status).toBe(404);
		expect((await call('GET', '/merchant/v1/payments/', headers)).status).toBe(405);
	});
});

describe('message signing', () => {
	async function signed(body: string, sign = body): Promise<Headers> {
		const { body: keys } = await call('GET', '/v1/rsa/encryption-keys', await headersWith());
		expect(keys.data).toMatchObject({
			key_id: expect.any(Number),
			valid_upto: expect.stringMatching(/^\d\d-\d\d-\d{4} \d\d:\d\d:\d\d$/)
		});
		const der = Buffer.from(String(keys.data?.['key']), 'base64');
		const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
		expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(1024);
		const [key, iv] = [randomBytes(32), randomBytes(16)];
		const cipher = createCipheriv('aes-256-cbc', key, iv);
		const wrapped = publicEncrypt(
			{ key: publicKey, padding: constants.RSA_PKCS1_PADDING },
			Buffer.from(`${key.toString('base64')}:${iv.toString('base64')}`)
		);
		return {
			'x-signature': cipher.update(sign, 'utf8', 'base64') + cipher.final('base64'),
			'x-key': wrapped.toString('base64')
		};
	}

	it('is checked if it is on, and for every request with a signature', async () => {
		const body = JSON.stringify(payment());
		const other = JSON.stringify(payment({ transaction: { amount: 1 } }));
		expect(codeOf(await push(body, await signed(body, other)))).toBe('DP00800001026');
		simulator().portal({ message_signing: 'on' });
		expect(codeOf(await push(body))).toBe('DP00800001026');
		expect(codeOf(await push(body, { 'x-signature': 'x', 'x-key': 'x' }))).toBe('DP00800001026');
		expect(simulator().books.payments).toHaveLength(0);
		expect((await push(body, await signed(body))).status).toBe(200);
		// Reading needs none.
		expect((await enquire('random-unique-id')).status).toBe(200);
	});
});

describe('a refund', () => {
	const sendBack = async (id: unknown) =>
		call('POST', '/standard/v1/payments/refund', await headersWith(), {
			transaction: { airtel_money_id: id }
		});

	it('of anything else is refused', async () => {
		expect(codeOf(await sendBack('random-unique-id'))).toBe('DP00800001025');
		expect(codeOf(await sendBack(undefined))).toBe('ROUTER003');
	});
});

it('a user is known by a national number', async () => {
	const ask = async (msisdn: string) => call('GET', `/standard/v1/users/${msisdn}`, await headersWith());
	expect(await ask('700000001')).toMatchObject({
		status: 200,
		body: { status: { response_code: 'DP02200000001' }, data: { msisdn: '700000001', is_barred: false } }
	});
	expect(codeOf(await ask('256700000001'))).toBe('DP02200000002');
});

describe('a callback', () => {
	it('has no hash without callback authentication, and is not sent without an address', async () => {
		const receiver = await startReceiver();
		try {
			await push(payment());
			const [first] = simulator().books.payments;
			if (!first) throw new Error('no payment');
			expect(await simulator().callBack(first)).toBeNull();
			simulator().portal({ callback_url: `${receiver.url}/callback`, callback_authentication: 'off' });
			expect(await simulator().callBack(first)).toBe(200);
			expect(JSON.parse(receiver.at('/callback')[0]?.raw ?? '')).not.toHaveProperty('hash');
		} finally {
			await receiver.stop();
		}
	});
});

it('the portal can be set from outside, and knows its settings', async () => {
	const set = (settings: object) =>
		fetch(`${simulator().url}/_simulator/portal`, { method: 'POST', body: JSON.stringify(settings) });
	expect((await set({ message_signing: 'on' })).status).toBe(200);
	expect(simulator().environment).toMatchObject({ AIRTEL_MESSAGE_SIGNING: 'on' });
	expect(() => simulator().portal({ colour: 'red' })).toThrow('no colour');
});

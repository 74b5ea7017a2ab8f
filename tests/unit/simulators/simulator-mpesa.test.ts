/** The simulated Daraja, as any client meets it: by plain HTTP. */
import { constants, publicEncrypt, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulators/frame.ts';
import { mpesa } from '../../simulators/mpesa/mpesa.ts';
import { startReceiver, type Received, type Receiver } from '../../support/api/receiver.ts';

let simulator: Simulator;
let receiver: Receiver;
let calls = 0;

beforeAll(async () => {
	receiver = await startReceiver();
});
afterAll(() => receiver.stop());
beforeEach(async () => {
	simulator = await startSimulator(mpesa());
});
afterEach(() => simulator.stop());

type Json = Record<string, unknown>;

const basic = (key: string, secret: string) => `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;

async function token(): Promise<string> {
	const { consumer_key, consumer_secret } = simulator.credentials;
	const response = await fetch(`${simulator.url}/oauth/v1/generate?grant_type=client_credentials`, {
		headers: { authorization: basic(consumer_key ?? '', consumer_secret ?? '') }
	});
	return ((await response.json()) as { access_token: string }).access_token;
}

async function post(
	path: string,
	body: object | string,
	headers: Record<string, string> = {}
): Promise<{ status: number; body: Json }> {
	const response = await fetch(simulator.url + path, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...headers },
		body: typeof body === 'string' ? body : JSON.stringify(body)
	});
	return { status: response.status, body: (await response.json()) as Json };
}

const authorised = async (path: string, body: object) =>
	post(path, body, { authorization: `Bearer ${await token()}` });

const PASSKEY = 'simulated-passkey-of-174379';
const password = (time: string, shortcode = '174379', passkey = PASSKEY) =>
	Buffer.from(shortcode + passkey + time).toString('base64');

const TIME = '20261121101500';
const signed = { BusinessShortCode: 174379, Password: password(TIME), Timestamp: TIME };

/** A push as the operator's page shows it, to a callback path of its own. */
function push(changes: Json = {}): Json {
	return {
		...signed,
		TransactionType: 'CustomerPayBillOnline',
		Amount: '1',
		PartyA: '254708374149',
		PartyB: '174379',
		PhoneNumber: '254708374149',
		CallBackURL: `${receiver.url}/push/${(calls += 1)}`,
		AccountReference: 'accountref',
		TransactionDesc: 'txndesc',
		...changes
	};
}

const PUSH = '/mpesa/stkpush/v1/processrequest';
const QUERY = '/mpesa/stkpushquery/v1/query';

async function came(path: string): Promise<Received[]> {
	return expect
		.poll(() => receiver.at(path), { timeout: 3_000 })
		.toHaveLength(1)
		.then(() => receiver.at(path));
}

const bodyOf = (received: Received | undefined) => JSON.parse(received?.raw ?? '{}') as Json;

describe('the token', () => {
	it('is refused with 400.008.01 for other credentials and 400.008.02 for another grant type', async () => {
		const ask = async (query: string, authorization: string) => {
			const answer = await fetch(`${simulator.url}/oauth/v1/generate${query}`, {
				headers: { authorization }
			});
			return [answer.status, ((await answer.json()) as Json)['errorCode']];
		};
		const { consumer_key = '', consumer_secret = '' } = simulator.credentials;
		const right = basic(consumer_key, consumer_secret);
		expect(await ask('?grant_type=client_credentials', basic('who', 'knows'))).toEqual([400, '400.008.01']);
		expect(await ask('?grant_type=client_credentials', 'Bearer x')).toEqual([400, '400.008.01']);
		expect(await ask('?grant_type=password', right)).toEqual([400, '400.008.02']);
		expect(await ask('', right)).toEqual([400, '400.008.02']);
	});
});

describe('a push', () => {
	it('is accepted with numbers or texts, and with UTC as its timestamp', async () => {
		expect(await authorised(PUSH, push())).toEqual({
			status: 200,
			body: {
				MerchantRequestID: expect.stringMatching(/^\d+-\d+-1$/),
				CheckoutRequestID: expect.stringMatching(/^ws_CO_\d{26}$/),
				ResponseCode: '0',
				ResponseDescription: 'Success. Request accepted for processing',
				CustomerMessage: 'Success. Request accepted for processing'
			}
		});
		const long = { TransactionDesc: 'twenty characters in', PhoneNumber: '254711000001' };
		expect(await authorised(PUSH, push(long))).toMatchObject({ status: 200 });
		const numbers = { Amount: 7, PartyA: 254711000000, PartyB: 174379, PhoneNumber: 254711000000 };
		expect(await authorised(PUSH, push(numbers))).toMatchObject({ status: 200 });
	});

	it.each<[field: string, changes: Json]>([
		['BusinessShortCode', { BusinessShortCode: '17' }],
		['Timestamp', { Timestamp: '20261321101500' }],
		['Password', { Password: '' }],
		['TransactionType', { TransactionType: 'CustomerPayBill' }],
		['Amount', { Amount: '1.5' }],
		['Amount', { Amount: '250001' }],
		['PartyA', { PartyA: '0708374149' }],
		['PhoneNumber', { PhoneNumber: '+254708374149' }],
		['PartyB', { PartyB: 'till' }],
		['CallBackURL', { CallBackURL: 'mydomain.com/path' }],
		['AccountReference', { AccountReference: 'thirteen chars'.slice(0, 13) }],
		['TransactionDesc', { TransactionDesc: 'x'.repeat(183) }]
	])('with a wrong %s is a bad request: %j', async (field, changes) => {
		expect(await authorised(PUSH, push(changes))).toEqual({
			status: 400,
			body: {
				requestId: expect.any(String),
				errorCode: '400.002.02',
				errorMessage: `Bad Request - Invalid ${field}`
			}
		});
		expect(simulator.books.payments).toHaveLength(0);
	});

	it('needs the password of its shortcode and timestamp', async () => {
		const wrong = [
			{ Password: password('20261121101501') },
			{ Password: password(TIME, '174379', 'other') },
			{ Timestamp: '20261121101501' }
		];
		for (const changes of wrong) {
			expect(await authorised(PUSH, push(changes))).toMatchObject({
				status: 500,
				body: { errorCode: '500.001.1001', errorMessage: 'Wrong credentials' }
			});
		}
		const stranger = { BusinessShortCode: '600000', Password: password(TIME, '600000') };
		expect(await authorised(PUSH, push(stranger))).toMatchObject({
			status: 500,
			body: { errorCode: '500.001.1001', errorMessage: 'Merchant does not exist' }
		});
	});

	it('is refused as another content type, as no JSON, by another method and at another path', async () => {
		const headers = { authorization: `Bearer ${await token()}` };
		const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
		expect(await post(PUSH, push(), form)).toMatchObject({ status: 400, body: { errorCode: '400.002.02' } });
		expect(await post(PUSH, '{', headers)).toMatchObject({ status: 400, body: { errorCode: '400.002.02' } });
		const got = await fetch(simulator.url + PUSH, { headers });
		expect([got.status, ((await got.json()) as Json)['errorCode']]).toEqual([405, '405.001']);
		expect(await post('/mpesa/stkpush/v1/process', {}, headers)).toMatchObject({
			status: 404,
			body: { errorCode: '404.001.01' }
		});
	});

	it('is refused while the payer has another prompt, for a minute at most', async () => {
		simulator.script({}, { outcome: 'pending' });
		await authorised(PUSH, push());
		expect(await authorised(PUSH, push())).toMatchObject({
			status: 500,
			body: {
				errorCode: '500.001.1001',
				errorMessage: expect.stringMatching(/^Unable to lock subscriber/)
			}
		});
		const other = { PartyA: '254711000001', PhoneNumber: '254711000001' };
		expect((await authorised(PUSH, push(other))).status).toBe(200);
		simulator.advance(60_000);
		expect((await authorised(PUSH, push())).status).toBe(200);
		simulator.script({}, { guards: false });
		expect((await authorised(PUSH, push())).status).toBe(200);
	});

	it('of the same amount within two minutes of a payment ends with 17', async () => {
		const first = push();
		await authorised(PUSH, first);
		simulator.advance(1_000);
		await authorised(PUSH, push());
		const other = await authorised(PUSH, push({ Amount: '2' }));
		expect(other.status).toBe(500);
		simulator.advance(1_000);
		await authorised(PUSH, push({ Amount: '2' }));
		simulator.advance(121_000);
		await authorised(PUSH, push());
		simulator.advance(1_000);
		const { payments } = simulator.books;
		expect(payments.map((payment) => simulator.books.outcomeOf(payment))).toEqual([
			'success',
			'17',
			'success',
			'success'
		]);
	});

	it('to another party than the merchant ends with 2028; to its till it is paid', async () => {
		await authorised(PUSH, push({ PartyB: '600000' }));
		const till = { TransactionType: 'CustomerBuyGoodsOnline', PartyB: '5174379' };
		await authorised(PUSH, push({ ...till, PartyA: 254711000002, PhoneNumber: 254711000002 }));
		simulator.advance(1_000);
		const { payments } = simulator.books;
		expect(payments.map((payment) => simulator.books.outcomeOf(payment))).toEqual(['2028', 'success']);
		expect(simulator.ledger()).toEqual({ debited: 1, payments: 1, refunded: 0, refunds: 0 });
	});

	it('in production must have an https address without unwanted words', async () => {
		await simulator.stop();
		simulator = await startSimulator(mpesa({ production: 'on' }));
		const wrong = ['http://shop.example/c', 'https://shop.example/mpesa/c', 'https://x.ngrok.io/c'];
		for (const url of wrong) {
			expect((await authorised(PUSH, push({ CallBackURL: url }))).status).toBe(400);
		}
		expect((await authorised(PUSH, push({ CallBackURL: 'https://shop.example/c' }))).status).toBe(200);
	});
});

describe('the query', () => {
	async function pushed(script: Parameters<Simulator['script']>[1] = {}): Promise<string> {
		simulator.script({}, script);
		return String((await authorised(PUSH, push())).body['CheckoutRequestID']);
	}
	const query = (id: string) => authorised(QUERY, { ...signed, CheckoutRequestID: id });

	it('is an error 500 while the payer decides, in one of two forms', async () => {
		const id = await pushed();
		expect(await query(id)).toEqual({
			status: 500,
			body: { requestId: id, errorCode: '500.001.1001', errorMessage: 'The transaction is being processed' }
		});
		simulator.advance(60_000);
		const other = await pushed({ otherForm: true, outcome: 'pending' });
		expect(await query(other)).toMatchObject({
			status: 200,
			body: { ResultCode: '4999', ResultDesc: expect.stringContaining('still under processing') }
		});
	});

	it('says the result code as a text, and neither amount nor receipt', async () => {
		const id = await pushed();
		simulator.advance(1_000);
		expect(await query(id)).toEqual({
			status: 200,
			body: {
				ResponseCode: '0',
				ResponseDescription: 'The service request has been accepted successfully',
				MerchantRequestID: expect.any(String),
				CheckoutRequestID: id,
				ResultCode: '0',
				ResultDesc: 'The service request is processed successfully.'
			}
		});
	});
});

describe('the callback of a push', () => {
	it('carries amount and receipt in an unordered list, the balance without a value', async () => {
		const body = push({ Amount: '25' });
		const { body: answer } = await authorised(PUSH, body);
		simulator.advance(1_000);
		const [received] = await came(new URL(String(body['CallBackURL'])).pathname);
		expect(received?.method).toBe('POST');
		expect(received?.headers['content-type']).toBe('application/json');
		expect(bodyOf(received)).toEqual({
			Body: {
				stkCallback: {
					MerchantRequestID: answer['MerchantRequestID'],
					CheckoutRequestID: answer['CheckoutRequestID'],
					ResultCode: 0,
					ResultDesc: 'The service request is processed successfully.',
					CallbackMetadata: {
						Item: [
							{ Name: 'Amount', Value: 25 },
							{ Name: 'MpesaReceiptNumber', Value: expect.stringMatching(/^[A-Z0-9]{10}$/) },
							{ Name: 'Balance' },
							{ Name: 'TransactionDate', Value: expect.any(Number) },
							{ Name: 'PhoneNumber', Value: 254708374149 }
						]
					}
				}
			}
		});
	});
});

describe('a reversal', () => {
	async function paid(): Promise<string> {
		const body = push({ Amount: '40' });
		await authorised(PUSH, body);
		simulator.advance(1_000);
		const [received] = await came(new URL(String(body['CallBackURL'])).pathname);
		return /"MpesaReceiptNumber","Value":"([A-Z0-9]+)"/.exec(received?.raw ?? '')?.[1] ?? '';
	}

	const reversal = (changes: Json): Json => ({
		Initiator: simulator.credentials['initiator'],
		SecurityCredential: simulator.credentials['security_credential'],
		CommandID: 'TransactionReversal',
		TransactionID: 'SKA0000001',
		Amount: '40',
		ReceiverParty: '174379',
		RecieverIdentifierType: '11',
		ResultURL: `${receiver.url}/result/${(calls += 1)}`,
		QueueTimeOutURL: `${receiver.url}/timeout/${calls}`,
		Remarks: 'Wrong amount',
		Occasion: '',
		...changes
	});
	const REVERSE = '/mpesa/reversal/v1/request';

	async function reverse(changes: Json): Promise<Json> {
		const body = reversal(changes);
		expect(await authorised(REVERSE, body)).toEqual({
			status: 200,
			body: {
				OriginatorConversationID: expect.any(String),
				ConversationID: expect.stringMatching(/^AG_/),
				ResponseCode: '0',
				ResponseDescription: 'Accept the service request successfully.'
			}
		});
		simulator.advance(1_000);
		const [received] = await came(new URL(String(body['ResultURL'])).pathname);
		return (bodyOf(received) as { Result: Json }).Result;
	}

	it('is accepted at once, and its result is sent later; the ledger then contains it', async () => {
		const receipt = await paid();
		const result = await reverse({ TransactionID: receipt });
		expect(result).toMatchObject({ ResultType: 0, ResultCode: 0, TransactionID: expect.any(String) });
		expect(JSON.stringify(result)).toContain(`{"Key":"OriginalTransactionID","Value":"${receipt}"}`);
		expect(simulator.ledger()).toEqual({ debited: 40, payments: 1, refunded: 40, refunds: 1 });
		expect(await reverse({ TransactionID: receipt })).toMatchObject({ ResultCode: 'R000001' });
		expect(simulator.ledger()).toMatchObject({ refunded: 40 });
	});

	it('needs an existing receipt and the right initiator, and reports that in its result', async () => {
		const receipt = await paid();
		expect(await reverse({ TransactionID: 'SKA0000009' })).toMatchObject({ ResultCode: 'R000002' });
		expect(await reverse({ TransactionID: receipt, Initiator: 'somebody' })).toMatchObject({
			ResultCode: 2001
		});
		const { publicKey } = new X509Certificate(readFileSync(simulator.credentials['certificate_file'] ?? ''));
		const seal = (text: string) =>
			publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(text)).toString(
				'base64'
			);
		const wrong = { TransactionID: receipt, SecurityCredential: seal('wrong') };
		expect(await reverse(wrong)).toMatchObject({ ResultCode: 2001 });
		const right = seal(simulator.credentials['initiator_password'] ?? '');
		expect(await reverse({ TransactionID: receipt, SecurityCredential: right })).toMatchObject({
			ResultCode: 0
		});
	});

	it.each(['CommandID', 'QueueTimeOutURL'])('without %s is a bad request', async (name) => {
		const answer = await authorised(REVERSE, reversal({ [name]: '' }));
		expect(answer).toMatchObject({
			status: 400,
			body: { errorMessage: `Bad Request - Invalid ${name}` }
		});
	});
});

describe('Pull Transactions', () => {
	it('lists the payments of a period within the last 48 hours', async () => {
		const register = {
			ShortCode: '174379',
			RequestType: 'Pull',
			NominatedNumber: '254700000000',
			CallBackURL: `${receiver.url}/pull`
		};
		expect((await authorised('/pulltransactions/v1/register', register)).body).toMatchObject({
			'Response Status': '1000'
		});
		await authorised(PUSH, push({ Amount: '25', AccountReference: 'A1B2C3D4E5F6' }));
		simulator.script({}, { outcome: '1032' });
		await authorised(PUSH, push({ PartyA: 254711000003, PhoneNumber: 254711000003 }));
		simulator.advance(1_000);
		const at = (ms: number) =>
			new Date(simulator.books.now() + 10_800_000 + ms).toISOString().slice(0, 19).replace('T', ' ');
		const list = async () =>
			(
				await authorised('/pulltransactions/v1/query', {
					ShortCode: 174379,
					StartDate: at(-3_600_000),
					EndDate: at(3_600_000),
					OffSetValue: '0'
				})
			).body;
		expect(await list()).toMatchObject({
			ResponseCode: '1000',
			Response: [[{ billreference: 'A1B2C3D4E5F6', amount: '25.00', msisdn: 254708374149 }]]
		});
		simulator.advance(49 * 3_600_000);
		expect(await list()).toMatchObject({ ResponseCode: '1001', Response: [] });
	});
});

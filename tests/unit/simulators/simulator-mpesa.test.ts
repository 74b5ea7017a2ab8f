/** The simulated Daraja, as any client meets it: tokens and pushes, by plain HTTP. */
import { describe, expect, it } from 'vitest';
import { mpesa } from '../../simulators/mpesa/mpesa.ts';
import type { Simulator } from '../../simulators/frame/simulator.ts';
import { bodyOf, password, PUSH, QUERY, signed, TIME, useMpesa } from './use-mpesa.ts';
import { basic, type Json } from './use-simulator.ts';

const { simulator, call, restart, token, post, authorised, push, came } = useMpesa();

describe('the token', () => {
	it('is refused with 400.008.01 for other credentials and 400.008.02 for another grant type', async () => {
		const ask = async (query: string, authorization: string) => {
			const { status, body } = await call('GET', `/oauth/v1/generate${query}`, { authorization });
			return [status, body['errorCode']];
		};
		const { consumer_key = '', consumer_secret = '' } = simulator().credentials;
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
		expect(simulator().books.payments).toHaveLength(0);
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
		expect(await call('GET', PUSH, headers)).toMatchObject({ status: 405, body: { errorCode: '405.001' } });
		expect(await post('/mpesa/stkpush/v1/process', {}, headers)).toMatchObject({
			status: 404,
			body: { errorCode: '404.001.01' }
		});
	});

	it('is refused while the payer has another prompt, for a minute at most', async () => {
		simulator().script({}, { outcome: 'pending' });
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
		simulator().advance(60_000);
		expect((await authorised(PUSH, push())).status).toBe(200);
		simulator().script({}, { guards: false });
		expect((await authorised(PUSH, push())).status).toBe(200);
	});

	it('of the same amount within two minutes of a payment ends with 17', async () => {
		const first = push();
		await authorised(PUSH, first);
		simulator().advance(1_000);
		await authorised(PUSH, push());
		const other = await authorised(PUSH, push({ Amount: '2' }));
		expect(other.status).toBe(500);
		simulator().advance(1_000);
		await authorised(PUSH, push({ Amount: '2' }));
		simulator().advance(121_000);
		await authorised(PUSH, push());
		simulator().advance(1_000);
		const { payments } = simulator().books;
		expect(payments.map((payment) => simulator().books.outcomeOf(payment))).toEqual([
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
		simulator().advance(1_000);
		const { payments } = simulator().books;
		expect(payments.map((payment) => simulator().books.outcomeOf(payment))).toEqual(['2028', 'success']);
		expect(simulator().ledger()).toEqual({ debited: 1, payments: 1, refunded: 0, refunds: 0 });
	});

	it('in production must have an https address without unwanted words', async () => {
		await restart(mpesa({ production: 'on' }));
		const wrong = ['http://shop.example/c', 'https://shop.example/mpesa/c', 'https://x.ngrok.io/c'];
		for (const url of wrong) {
			expect((await authorised(PUSH, push({ CallBackURL: url }))).status).toBe(400);
		}
		expect((await authorised(PUSH, push({ CallBackURL: 'https://shop.example/c' }))).status).toBe(200);
	});
});

describe('the query', () => {
	async function pushed(script: Parameters<Simulator['script']>[1] = {}): Promise<string> {
		simulator().script({}, script);
		return String((await authorised(PUSH, push())).body['CheckoutRequestID']);
	}
	const query = (id: string) => authorised(QUERY, { ...signed, CheckoutRequestID: id });

	it('is an error 500 while the payer decides, in one of two forms', async () => {
		const id = await pushed();
		expect(await query(id)).toEqual({
			status: 500,
			body: { requestId: id, errorCode: '500.001.1001', errorMessage: 'The transaction is being processed' }
		});
		simulator().advance(60_000);
		const other = await pushed({ otherForm: true, outcome: 'pending' });
		expect(await query(other)).toMatchObject({
			status: 200,
			body: { ResultCode: '4999', ResultDesc: expect.stringContaining('still under processing') }
		});
	});

	it('says the result code as a text, and neither amount nor receipt', async () => {
		const id = await pushed();
		simulator().advance(1_000);
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
		simulator().advance(1_000);
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

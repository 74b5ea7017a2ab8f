/** Reversals and the list of payments (Pull Transactions) of the simulated Daraja. */
import { constants, publicEncrypt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bodyOf, PUSH, useMpesa } from './use-mpesa.ts';
import type { Json } from './use-simulator.ts';

const { simulator, receiver, authorised, push, came, paid, newCall } = useMpesa();

describe('a reversal', () => {
	const reversal = (changes: Json, number = newCall()): Json => ({
		Initiator: simulator().credentials['initiator'],
		SecurityCredential: simulator().credentials['security_credential'],
		CommandID: 'TransactionReversal',
		TransactionID: 'SKA0000001',
		Amount: '40',
		ReceiverParty: '174379',
		RecieverIdentifierType: '11',
		ResultURL: `${receiver().url}/result/${number}`,
		QueueTimeOutURL: `${receiver().url}/timeout/${number}`,
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
		simulator().advance(1_000);
		const [received] = await came(new URL(String(body['ResultURL'])).pathname);
		return (bodyOf(received) as { Result: Json }).Result;
	}

	it('is accepted at once, and its result is sent later; the ledger then contains it', async () => {
		const receipt = await paid();
		const result = await reverse({ TransactionID: receipt });
		expect(result).toMatchObject({ ResultType: 0, ResultCode: 0, TransactionID: expect.any(String) });
		expect(JSON.stringify(result)).toContain(`{"Key":"OriginalTransactionID","Value":"${receipt}"}`);
		expect(simulator().ledger()).toEqual({ debited: 40, payments: 1, refunded: 40, refunds: 1 });
		expect(await reverse({ TransactionID: receipt })).toMatchObject({ ResultCode: 'R000001' });
		expect(simulator().ledger()).toMatchObject({ refunded: 40 });
	});

	it('needs an existing receipt and the right initiator, and reports that in its result', async () => {
		const receipt = await paid();
		expect(await reverse({ TransactionID: 'SKA0000009' })).toMatchObject({ ResultCode: 'R000002' });
		expect(await reverse({ TransactionID: receipt, Initiator: 'somebody' })).toMatchObject({
			ResultCode: 2001
		});
		const key = simulator().credentials['public_key'] ?? '';
		const seal = (text: string) =>
			publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(text)).toString('base64');
		const wrong = { TransactionID: receipt, SecurityCredential: seal('wrong') };
		expect(await reverse(wrong)).toMatchObject({ ResultCode: 2001 });
		const right = seal(simulator().credentials['initiator_password'] ?? '');
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
			CallBackURL: `${receiver().url}/pull`
		};
		expect((await authorised('/pulltransactions/v1/register', register)).body).toMatchObject({
			'Response Status': '1000'
		});
		await authorised(PUSH, push({ Amount: '25', AccountReference: 'A1B2C3D4E5F6' }));
		simulator().script({}, { outcome: '1032' });
		await authorised(PUSH, push({ PartyA: 254711000003, PhoneNumber: 254711000003 }));
		simulator().advance(1_000);
		const at = (ms: number) =>
			new Date(simulator().books.now() + 10_800_000 + ms).toISOString().slice(0, 19).replace('T', ' ');
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
		simulator().advance(49 * 3_600_000);
		expect(await list()).toMatchObject({ ResponseCode: '1001', Response: [] });
	});
});

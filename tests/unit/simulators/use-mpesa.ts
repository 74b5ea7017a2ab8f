import { afterAll, beforeAll, expect } from 'vitest';
import { mpesa } from '../../simulators/mpesa/mpesa.ts';
import { startReceiver, type Received, type Receiver } from '../../support/api/receiver.ts';
import { basic, useSimulator, type Headers, type Json } from './use-simulator.ts';

export const PUSH = '/mpesa/stkpush/v1/processrequest';
export const QUERY = '/mpesa/stkpushquery/v1/query';
const PASSKEY = 'simulated-passkey-of-174379';
export const password = (time: string, shortcode = '174379', passkey = PASSKEY) =>
	Buffer.from(shortcode + passkey + time).toString('base64');

export const TIME = '20261121101500';
export const signed = { BusinessShortCode: 174379, Password: password(TIME), Timestamp: TIME };

export const bodyOf = (received: Received | undefined) => JSON.parse(received?.raw ?? '{}') as Json;

/** The simulated Daraja, whose callbacks come to a receiver. */
export function useMpesa() {
	const { simulator, call, restart } = useSimulator(() => mpesa());
	let receiver: Receiver;
	let calls = 0;
	beforeAll(async () => {
		receiver = await startReceiver();
	});
	afterAll(() => receiver.stop());

	async function token(): Promise<string> {
		const { consumer_key, consumer_secret } = simulator().credentials;
		const { body } = await call('GET', '/oauth/v1/generate?grant_type=client_credentials', {
			authorization: basic(consumer_key, consumer_secret)
		});
		return String(body['access_token']);
	}

	const post = (path: string, body: object | string, headers: Headers = {}) =>
		call('POST', path, { 'content-type': 'application/json', ...headers }, body);

	const authorised = async (path: string, body: object) =>
		post(path, body, { authorization: `Bearer ${await token()}` });

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

	async function came(path: string): Promise<Received[]> {
		return expect
			.poll(() => receiver.at(path), { timeout: 3_000 })
			.toHaveLength(1)
			.then(() => receiver.at(path));
	}
	/** A payment of 40 shillings. @returns its receipt */
	async function paid(): Promise<string> {
		const body = push({ Amount: '40' });
		await authorised(PUSH, body);
		simulator().advance(1_000);
		const [received] = await came(new URL(String(body['CallBackURL'])).pathname);
		return /"MpesaReceiptNumber","Value":"([A-Z0-9]+)"/.exec(received?.raw ?? '')?.[1] ?? '';
	}

	return {
		simulator,
		call,
		restart,
		receiver: () => receiver,
		token,
		post,
		authorised,
		push,
		came,
		paid,
		/** A number for an address of its own. */
		newCall: () => (calls += 1)
	};
}

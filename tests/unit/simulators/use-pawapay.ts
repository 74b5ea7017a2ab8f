import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach } from 'vitest';
import { pawapay } from '../../simulators/pawapay/pawapay.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';
import { useSimulator, type Headers, type Json } from './use-simulator.ts';

export const CALLBACKS = '/from/pawapay';

/** The simulated pawaPay, whose callbacks come to a receiver. */
export function usePawapay() {
	const { simulator, ask } = useSimulator(pawapay);
	let receiver: Receiver;
	beforeEach(async () => {
		receiver = await startReceiver();
		simulator().portal({ callback_url: receiver.url + CALLBACKS });
	});
	afterEach(() => receiver.stop());

	const send = (method: string, path: string, body?: unknown, headers: Headers = {}) => {
		const type = body === undefined ? {} : { 'content-type': 'application/json' };
		const authorization = `Bearer ${simulator().credentials['api_token'] ?? ''}`;
		return ask(method, path, { authorization, ...type, ...headers }, body);
	};
	async function call(...request: Parameters<typeof send>): Promise<{ status: number; body: Json }> {
		const { status, body } = await send(...request);
		return { status, body };
	}
	const deposit = (more: Json = {}, phoneNumber = '250783456789', provider = 'MTN_MOMO_RWA'): Json => ({
		depositId: randomUUID(),
		amount: '100',
		currency: 'RWF',
		payer: { type: 'MMO', accountDetails: { phoneNumber, provider } },
		...more
	});
	const post = (body: unknown) => call('POST', '/v2/deposits', body);
	const read = async (body: Json) => (await call('GET', `/v2/deposits/${String(body['depositId'])}`)).body;
	const failure = (answer: { body: Json }) =>
		(answer.body['failureReason'] as Json | undefined)?.['failureCode'];
	const at = (path: string) => receiver.at(path).map(({ raw }) => JSON.parse(raw) as Json);

	async function paid(more: Json = {}): Promise<Json> {
		const body = deposit(more);
		await post(body);
		simulator().advance(2_000);
		return body;
	}
	/** Reads a deposit whose first read says only that it was accepted. @returns its failure, or its state */
	async function outcome(body: Json): Promise<unknown> {
		await read(body);
		const { data } = (await read(body)) as { data: Json };
		return failure({ body: data }) ?? data['status'];
	}

	return { simulator, receiver: () => receiver, send, call, deposit, post, read, failure, at, paid, outcome };
}

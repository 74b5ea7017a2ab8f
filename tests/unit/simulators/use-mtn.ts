import { randomUUID } from 'node:crypto';
import { mtn } from '../../simulators/mtn/mtn.ts';
import { basic, useSimulator, type Headers } from './use-simulator.ts';

/** The simulated MTN MoMo. */
export function useMtn() {
	const { simulator, ask: call, restart } = useSimulator(() => mtn());

	const keyOf = (product: string): Headers => ({
		'Ocp-Apim-Subscription-Key': simulator().credentials[`${product}_subscription_key`] ?? ''
	});

	async function tokenFor(product = 'collection'): Promise<string> {
		const user = product === 'collection' ? 'api_' : 'disbursement_api_';
		const { [`${user}user`]: id, [`${user}key`]: key } = simulator().credentials;
		const headers = { ...keyOf(product), Authorization: basic(id, key) };
		return String((await call('POST', `/${product}/token/`, headers)).body['access_token']);
	}

	async function enter(product = 'collection'): Promise<Headers> {
		return {
			...keyOf(product),
			Authorization: `Bearer ${await tokenFor(product)}`,
			'X-Target-Environment': simulator().credentials['target_environment'] ?? '',
			'Content-Type': 'application/json'
		};
	}

	const order = (changes: Record<string, unknown> = {}) => ({
		amount: '5',
		currency: 'EUR',
		externalId: 'ORDER-1',
		payer: { partyIdType: 'MSISDN', partyId: '256772123456' },
		payerMessage: 'Wi-Fi 1h',
		payeeNote: 'site 12',
		...changes
	});

	async function pay(changes: Record<string, unknown> = {}, headers: Headers = {}, reference = randomUUID()) {
		const answer = await call(
			'POST',
			'/collection/v1_0/requesttopay',
			{ ...(await enter()), 'X-Reference-Id': reference, ...headers },
			order(changes)
		);
		return { ...answer, reference };
	}

	const statusOf = async (reference: string) =>
		call('GET', `/collection/v1_0/requesttopay/${reference}`, await enter());

	return { simulator, call, restart, keyOf, enter, order, pay, statusOf };
}

import type { OperatorDependencies } from '../definition.ts';
import { createClient } from '../client.ts';
import type { MtnValues } from './settings.ts';

/** Used if MTN names no lifetime. */
const USUAL_TOKEN_SECONDS = 3_600;

/** Creates the client of each product, with its own subscription key, user and token (reference 1.3, 1.4). */
export function createMtnClients(values: MtnValues, { http, clock }: OperatorDependencies) {
	function clientOf(name: 'collection' | 'disbursement', key: string, user: string, userKey: string) {
		const baseUrl = `${values.MTN_BASE_URL}/${name}`;
		const subscription = { 'Ocp-Apim-Subscription-Key': key };
		const basic = Buffer.from(`${user}:${userKey}`).toString('base64');
		return createClient({
			http,
			clock,
			baseUrl,
			headers: { ...subscription, 'X-Target-Environment': values.MTN_TARGET_ENVIRONMENT },
			// MTN's path has a trailing slash, and MTN refuses a body.
			tokenRequest: {
				method: 'POST',
				url: `${baseUrl}/token/`,
				headers: { ...subscription, Authorization: `Basic ${basic}` }
			},
			usualTokenSeconds: USUAL_TOKEN_SECONDS
		});
	}
	const { MTN_API_USER: user, MTN_API_KEY: userKey, MTN_DISBURSEMENT_SUBSCRIPTION_KEY: refundKey } = values;
	const { MTN_DISBURSEMENT_API_USER: refundUser = user, MTN_DISBURSEMENT_API_KEY: refundUserKey = userKey } =
		values;
	return {
		collection: clientOf('collection', values.MTN_SUBSCRIPTION_KEY, user, userKey),
		disbursement:
			refundKey === undefined ? null : clientOf('disbursement', refundKey, refundUser, refundUserKey)
	};
}

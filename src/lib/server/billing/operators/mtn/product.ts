import type { OperatorDependencies } from '../definition.ts';
import { createClient, type Client } from '../client.ts';
import type { Values } from './settings.ts';

/** Used if MTN names no lifetime. */
const USUAL_TOKEN_SECONDS = 3_600;

interface Access {
	subscriptionKey: string;
	apiUser: string;
	apiKey: string;
}

/** Creates the client of a product, with its own subscription key, user and token (reference 1.3, 1.4). */
function createProduct(
	name: 'collection' | 'disbursement',
	{ subscriptionKey, apiUser, apiKey }: Access,
	values: Values,
	{ http, clock }: OperatorDependencies
): Client {
	const baseUrl = `${values.MTN_BASE_URL}/${name}`;
	const subscription = { 'Ocp-Apim-Subscription-Key': subscriptionKey };
	const basic = Buffer.from(`${apiUser}:${apiKey}`).toString('base64');
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

export function createProducts(values: Values, dependencies: OperatorDependencies) {
	const collecting = { apiUser: values.MTN_API_USER, apiKey: values.MTN_API_KEY };
	const {
		MTN_DISBURSEMENT_SUBSCRIPTION_KEY: refundKey,
		MTN_DISBURSEMENT_API_USER: apiUser,
		MTN_DISBURSEMENT_API_KEY: apiKey
	} = values;
	const disbursing = apiUser === undefined || apiKey === undefined ? collecting : { apiUser, apiKey };
	const access = { subscriptionKey: values.MTN_SUBSCRIPTION_KEY, ...collecting };
	return {
		collection: createProduct('collection', access, values, dependencies),
		disbursement:
			refundKey === undefined
				? null
				: createProduct('disbursement', { subscriptionKey: refundKey, ...disbursing }, values, dependencies)
	};
}

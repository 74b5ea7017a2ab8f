import { createClient, type Client } from '../client.ts';
import type { OperatorDependencies } from '../definition.ts';
import { isTokenRefusal } from './outcomes.ts';
import type { MpesaValues } from './settings.ts';

/** Default if the response names none (Daraja's page). */
const USUAL_TOKEN_SECONDS = 3_599;

export function createMpesaClient(values: MpesaValues, { http, clock }: OperatorDependencies): Client {
	const { MPESA_BASE_URL: baseUrl, MPESA_CONSUMER_KEY: key, MPESA_CONSUMER_SECRET: secret } = values;
	const basic = Buffer.from(`${key}:${secret}`).toString('base64');
	const accept = 'application/json';
	return createClient({
		http,
		clock,
		baseUrl,
		headers: { accept },
		tokenRequest: {
			method: 'GET',
			url: `${baseUrl}/oauth/v1/generate?grant_type=client_credentials`,
			headers: { accept, authorization: `Basic ${basic}` }
		},
		usualTokenSeconds: USUAL_TOKEN_SECONDS,
		isTokenRefusal
	});
}

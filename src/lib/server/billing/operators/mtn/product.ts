import type { Clock } from '#lib/server/platform/clock.ts';
import { jsonObject, textMember, type OperatorHttp } from '../http.ts';
import {
	createTokens,
	sendAuthorised,
	type AuthorisedOutcome,
	type FetchedToken,
	type TokenOutcome
} from '../tokens.ts';

/**
 * Client for one product of MTN MoMo (Collection, Disbursement), each with its own subscription key, API user and token.
 * Source: MTN's developer pages, reference sections 1.3 and 1.4.
 */
export interface Product {
	/** @param path after the product's, e.g. `/v1_0/requesttopay` */
	get(path: string): Promise<AuthorisedOutcome>;
	/** Sends once, and again only after a refused token, when nothing was done. */
	post(path: string, request: ProductRequest): Promise<AuthorisedOutcome>;
	token(): Promise<TokenOutcome>;
}

export interface ProductRequest {
	/** Sent as X-Reference-Id, MTN's key for the request. */
	reference: string;
	callbackUrl: string | null;
	body: Readonly<Record<string, unknown>>;
}

export interface ProductAccess {
	/** Address of the product, e.g. `https://…/collection`. */
	url: string;
	targetEnvironment: string;
	subscriptionKey: string;
	apiUser: string;
	apiKey: string;
}

/** Used if MTN names no lifetime. */
const USUAL_LIFE_SECONDS = 3_600;

export function createProduct(access: ProductAccess, http: OperatorHttp, clock: Clock): Product {
	const subscription = { 'Ocp-Apim-Subscription-Key': access.subscriptionKey };

	async function fetchToken(): Promise<FetchedToken> {
		const basic = Buffer.from(`${access.apiUser}:${access.apiKey}`).toString('base64');
		// The path has a trailing slash, and a body would be refused.
		const outcome = await http.send({
			method: 'POST',
			url: `${access.url}/token/`,
			headers: { ...subscription, Authorization: `Basic ${basic}` }
		});
		if (outcome.kind === 'failure') return { kind: 'unavailable', cause: outcome.cause };
		const { status, text } = outcome;
		if (status === 400 || status === 401 || status === 403) return { kind: 'refused', status, text };
		const answer = status === 200 ? jsonObject(text) : null;
		const value = textMember(answer, 'access_token');
		if (value === null || value === '') return { kind: 'unavailable', cause: `no token (HTTP ${status})` };
		const life = Number(textMember(answer, 'expires_in'));
		return { kind: 'token', value, expiresInSeconds: life > 0 ? life : USUAL_LIFE_SECONDS };
	}

	const tokens = createTokens(clock, fetchToken);

	const authorised = (request: Parameters<OperatorHttp['send']>[0]): Promise<AuthorisedOutcome> =>
		sendAuthorised(
			tokens,
			(token) =>
				http.send({
					...request,
					headers: {
						...subscription,
						'X-Target-Environment': access.targetEnvironment,
						...request.headers,
						Authorization: `Bearer ${token}`
					}
				}),
			({ status }) => status === 401
		);

	return {
		get: (path) => authorised({ method: 'GET', url: access.url + path, headers: {} }),
		post: (path, { reference, callbackUrl, body }) =>
			authorised({
				method: 'POST',
				url: access.url + path,
				headers: {
					'X-Reference-Id': reference,
					'Content-Type': 'application/json',
					// An empty one would be refused.
					...(callbackUrl === null ? {} : { 'X-Callback-Url': callbackUrl })
				},
				body: JSON.stringify(body)
			}),
		token: () => tokens.get()
	};
}

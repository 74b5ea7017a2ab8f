import type { Clock } from '#lib/server/platform/clock.ts';
import type { HttpOutcome, OperatorHttp } from '../http.ts';
import { signedHeaders, type SigningKey } from './signatures.ts';

/** Requests to pawaPay with the API token, which does not expire (reference section 5). */
export interface Calls {
	get(path: string): Promise<HttpOutcome>;
	post(path: string, body: object): Promise<HttpOutcome>;
	/** Sends a request that moves money, signed if a key is configured. */
	postFinancial(path: string, body: object): Promise<HttpOutcome>;
}

export function createCalls(dependencies: {
	http: OperatorHttp;
	clock: Clock;
	baseUrl: string;
	token: string;
	signingKey: SigningKey | null;
}): Calls {
	const { http, clock, baseUrl, token, signingKey } = dependencies;
	const authorization = `Bearer ${token}`;

	function post(path: string, body: object, key: SigningKey | null): Promise<HttpOutcome> {
		const url = `${baseUrl}${path}`;
		const text = JSON.stringify(body);
		const content = { 'content-type': 'application/json', accept: 'application/json' };
		const signed = key ? signedHeaders({ key, url, body: text, now: clock.now() }) : {};
		const headers = { ...content, ...signed, authorization };
		return http.send({ method: 'POST', url, headers, body: text });
	}

	return {
		get: (path) =>
			http.send({
				method: 'GET',
				url: `${baseUrl}${path}`,
				headers: { accept: 'application/json', authorization }
			}),
		post: (path, body) => post(path, body, null),
		postFinancial: (path, body) => post(path, body, signingKey)
	};
}

import type { OperatorDependencies } from '../definition.ts';
import type { HttpOutcome } from '../http.ts';
import type { PawapayValues } from './settings.ts';
import { signedHeaders } from './signatures.ts';

export type Calls = ReturnType<typeof createCalls>;

/** The API token does not expire (reference section 5). */
export function createCalls(values: PawapayValues, { http, clock }: OperatorDependencies) {
	const { PAWAPAY_BASE_URL: baseUrl, PAWAPAY_SIGNING_KEY: key, PAWAPAY_SIGNING_KEY_ID: id } = values;
	const common = { accept: 'application/json', authorization: `Bearer ${values.PAWAPAY_API_TOKEN}` };

	function post(path: string, body: object, isFinancial = false): Promise<HttpOutcome> {
		const url = baseUrl + path;
		const text = JSON.stringify(body);
		const isSigned = isFinancial && key !== undefined && id !== undefined;
		const signed = isSigned && signedHeaders({ key: { key, id }, url, body: text, now: clock.now() });
		const headers = { 'content-type': 'application/json', ...common, ...signed };
		return http.send({ method: 'POST', url, headers, body: text });
	}

	return {
		get: (path: string) => http.send({ method: 'GET', url: baseUrl + path, headers: common }),
		post: (path: string, body: object) => post(path, body),
		/** Sends a request that moves money, signed if a key is configured. */
		postFinancial: (path: string, body: object) => post(path, body, true)
	};
}

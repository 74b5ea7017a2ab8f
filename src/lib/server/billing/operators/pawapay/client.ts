import type { OperatorDependencies } from '../definition.ts';
import type { PawapayValues } from './settings.ts';
import { signedHeaders } from './signatures.ts';

export type PawapayClient = ReturnType<typeof createPawapayClient>;

/** The API token does not expire (docs.pawapay.io/v2/docs). */
export function createPawapayClient(values: PawapayValues, { http, clock }: OperatorDependencies) {
	const { PAWAPAY_BASE_URL: baseUrl, PAWAPAY_SIGNING_KEY: key, PAWAPAY_SIGNING_KEY_ID: id } = values;
	const common = { accept: 'application/json', authorization: `Bearer ${values.PAWAPAY_API_TOKEN}` };

	return {
		get: (path: string) => http.send({ method: 'GET', url: baseUrl + path, headers: common }),
		/** @param isFinancial the request moves money: it is signed if a key is configured */
		post(path: string, body: object, isFinancial = false) {
			const url = baseUrl + path;
			const text = JSON.stringify(body);
			const isSigned = isFinancial && key !== undefined && id !== undefined;
			const signed = isSigned && signedHeaders({ key: { key, id }, url, body: text, now: clock.now() });
			const headers = { 'content-type': 'application/json', ...common, ...signed };
			return http.send({ method: 'POST', url, headers, body: text });
		}
	};
}

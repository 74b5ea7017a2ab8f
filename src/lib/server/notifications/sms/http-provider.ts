import type { HttpClient } from '#lib/server/platform/http-client.ts';
import { failureOf, type HttpProviderConfig, type SmsProvider } from './provider.ts';

export const httpProvider = ({ url, headers, body }: HttpProviderConfig, http: HttpClient): SmsProvider => ({
	async send({ to, text }) {
		const values: Record<string, string> = { number: to, digits: to.slice(1), text };
		const written = isForm(headers) ? encodeURIComponent : inJson;
		const outcome = await http.send({
			method: 'POST',
			url,
			headers,
			body: body.replace(/\{(number|digits|text)\}/g, (_, name: string) => written(values[name] ?? ''))
		});
		const isSent = outcome.kind === 'response' && outcome.status >= 200 && outcome.status < 300;
		return isSent ? { kind: 'sent' } : failureOf(outcome);
	}
});

const isForm = (headers: Record<string, string>): boolean =>
	Object.entries(headers).some(
		([name, value]) => name.toLowerCase() === 'content-type' && value.includes('urlencoded')
	);

/** Without the quotes, which the template has. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

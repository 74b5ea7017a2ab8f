import type { GatewayFacts, Reach } from './gateway.ts';

/** Result of a call to a gateway's own API. `reason` is a sentence for people and contains no secret. */
export type Called =
	| { kind: 'answer'; status: number; body: unknown; headers: Record<string, string> }
	| { kind: 'unavailable'; reason: string };

export interface Call {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Appended to the base URL of the API. */
	path: string;
	body?: Record<string, unknown>;
	headers: Record<string, string>;
}

/** Calls the API of a gateway. */
export async function callVendorApi(call: Call, facts: GatewayFacts, reach: Reach): Promise<Called> {
	const { api, apiCertificate } = facts.settings;
	if (api === undefined) return unavailable('The gateway was registered without the URL of its API (--api).');
	const { host } = new URL(api);
	const outcome = await reach.send(
		{
			method: call.method,
			url: api + call.path,
			headers: {
				accept: 'application/json',
				...(call.body && { 'content-type': 'application/json' }),
				...call.headers
			},
			...(call.body && { body: JSON.stringify(call.body) })
		},
		apiCertificate ?? null
	);
	if (outcome.kind === 'answer') {
		const { status, headers } = outcome;
		return { kind: 'answer', status, headers, body: parsed(outcome.text) };
	}
	if (outcome.cause === 'timeout') return unavailable(`${host} did not respond in time.`);
	if (outcome.cause === 'too_large') return unavailable(`The response of ${host} is too large.`);
	if (outcome.untrusted) {
		return unavailable(
			apiCertificate === undefined
				? `The certificate of ${host} is not trusted on this machine. Give it with --api-certificate-file.`
				: `The certificate of ${host} is not the one in --api-certificate-file, or it has expired.`
		);
	}
	return unavailable(outcome.sent ? `${host} closed the connection.` : `${host} cannot be reached.`);
}

export const unavailable = (reason: string) => ({ kind: 'unavailable' as const, reason });

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

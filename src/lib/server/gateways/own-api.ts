import type { GatewayFacts, Reach } from './gateway.ts';

/** Calls to a gateway's own API, with what can go wrong as sentences for people; no secret ever stands in them. */
export type Called =
	| { kind: 'answer'; status: number; body: unknown; headers: Record<string, string> }
	| { kind: 'unavailable'; reason: string };

export interface Call {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Behind the address of the API. */
	path: string;
	body?: Record<string, unknown>;
	headers: Record<string, string>;
}

export async function callOwnApi(call: Call, facts: GatewayFacts, reach: Reach): Promise<Called> {
	const { api, apiCertificate } = facts.settings;
	if (api === undefined) return unavailable('It was registered without the address of its API.');
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
	if (outcome.cause === 'timeout') return unavailable(`${host} did not answer in time.`);
	if (outcome.cause === 'too_large') return unavailable(`${host} answered more than it should.`);
	if (outcome.untrusted) {
		return unavailable(
			apiCertificate === undefined
				? `${host} shows a certificate that this machine does not trust: give it with --api-certificate-file.`
				: `${host} shows another certificate than the one of --api-certificate-file, or one that is out of date.`
		);
	}
	return unavailable(outcome.sent ? `${host} broke the connection off.` : `${host} cannot be reached.`);
}

export const unavailable = (reason: string) => ({ kind: 'unavailable' as const, reason });

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

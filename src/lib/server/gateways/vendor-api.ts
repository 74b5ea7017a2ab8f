import { type GatewayFacts, type GatewayStatus, type GatewayTransport } from './gateway.ts';
import type { Base } from '../base.ts';
import { type HttpClient, createHttpClient, resolvePublicly } from '../platform/http-client.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';

export interface VendorResponse {
	status: number;
	/** Parsed JSON; null if the response has none. */
	body: unknown;
	headers: Record<string, string>;
}

export interface Call {
	method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	/** Appended to the API's base URL. */
	path: string;
	body?: Record<string, unknown>;
	headers: Record<string, string>;
}

/** @throws Unavailable */
export async function callVendorApi(
	call: Call,
	facts: GatewayFacts,
	transport: GatewayTransport
): Promise<VendorResponse> {
	const { api, apiCertificate } = facts.settings;
	if (api === undefined) {
		throw new Unavailable('The gateway was registered without the URL of its API (--api).');
	}
	const { host } = new URL(api);
	const outcome = await transport.send(
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
		facts.settings
	);
	if (outcome.kind === 'response') {
		const { status, headers } = outcome;
		return { status, headers, body: parseJson(outcome.text) };
	}
	if (outcome.cause === 'timeout') throw new Unavailable(`${host} did not respond in time.`);
	if (outcome.cause === 'too_large') throw new Unavailable(`The response of ${host} is too large.`);
	if (outcome.untrusted) {
		throw new Unavailable(
			apiCertificate === undefined
				? `The certificate of ${host} is not trusted on this machine. Give it with --api-certificate-file.`
				: `The certificate of ${host} is not the one in --api-certificate-file, or it has expired.`
		);
	}
	throw new Unavailable(outcome.sent ? `${host} closed the connection.` : `${host} cannot be reached.`);
}

/** What goes on after the limit makes no further call. */
export const limitTransport = (transport: GatewayTransport, limit: AbortSignal): GatewayTransport => ({
	...transport,
	send: (...call) => (limit.throwIfAborted(), transport.send(...call))
});

export const describeUnusable = (problem: string, reachable = false): GatewayStatus => ({
	...{ problems: [problem], reachable, isUsable: false },
	...{ clockOffsetMs: null, online: null, reading: null }
});

/** Awaits a part of a status. Turns its failure into a problem. */
export async function orProblem<T>(problems: string[], part: Promise<T>): Promise<T | null> {
	try {
		return await part;
	} catch (error) {
		if (!(error instanceof Unavailable)) throw error;
		if (!problems.includes(error.message)) problems.push(error.message);
		return null;
	}
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

const HTTP_TIMEOUT_MS = 10_000;

/** HTTP clients kept, one for each certificate of a gateway. The oldest is closed first. */
const MAX_CLIENTS = 200;

export function createGatewayTransport({
	clock
}: Pick<Base, 'clock'>): GatewayTransport & { stop(): Promise<void> } {
	const clients = new Map<string, HttpClient>();

	function clientFor(certificate: string | null, isPublic: boolean): HttpClient {
		const name = `${isPublic} ${certificate}`;
		const known = clients.get(name);
		if (known) return known;
		const [oldest] = clients;
		if (oldest && clients.size >= MAX_CLIENTS) {
			clients.delete(oldest[0]);
			void oldest[1].stop();
		}
		const made = createHttpClient({
			timeoutMs: HTTP_TIMEOUT_MS,
			...(certificate !== null && { certificate }),
			...(isPublic && { publicBy: resolvePublicly })
		});
		clients.set(name, made);
		return made;
	}

	return {
		send: (outgoing, { apiCertificate = null, publicApi = false }) =>
			clientFor(apiCertificate, publicApi).send(outgoing),
		now: () => clock.now(),
		async stop() {
			await Promise.all([...clients.values()].map((one) => one.stop()));
		}
	};
}

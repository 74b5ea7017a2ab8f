import type { Base } from '../base.ts';
import { type HttpClient, createHttpClient, resolvePublicly } from '../platform/http-client.ts';
import type { GatewayTransport } from './gateway.ts';

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

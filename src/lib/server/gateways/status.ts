import { Unavailable, type GatewayStatus, type GatewayTransport } from './gateway.ts';
import { formatUnreadable, type RegisteredGateway } from './gateway-record.ts';
import { findAdapter } from './registry.ts';

/** For all calls of a status together. */
const STATUS_TIMEOUT_MS = 12_000;

/** Calls a gateway. Returns null for one that Airtill does not call. @throws the reason of `stopping` */
export async function fetchGatewayStatus(
	gateway: RegisteredGateway,
	transport: GatewayTransport,
	stopping?: AbortSignal
): Promise<GatewayStatus | null> {
	const { controller } = findAdapter(gateway.kind);
	if (gateway.mode !== 'push' || controller === null) return null;
	if (gateway.unreadable.length > 0) return describeUnusable(formatUnreadable(gateway));
	stopping?.throwIfAborted();
	const timeout = new AbortController();
	const timer = setTimeout(() => timeout.abort(), STATUS_TIMEOUT_MS);
	const limit = AbortSignal.any([timeout.signal, ...(stopping ? [stopping] : [])]);
	// A status that goes on after the limit makes no further call.
	const limited: GatewayTransport = {
		...transport,
		send: (...call) => (limit.throwIfAborted(), transport.send(...call))
	};
	const late = new Promise<never>((_resolve, reject) => {
		limit.addEventListener('abort', () => reject(limit.reason), { once: true });
	});
	try {
		return await Promise.race([controller.status(gateway, limited), late]);
	} catch (error) {
		if (timeout.signal.aborted) {
			return describeUnusable(`The gateway did not respond within ${STATUS_TIMEOUT_MS / 1000} seconds.`);
		}
		if (error instanceof Unavailable) return describeUnusable(error.message);
		throw error;
	} finally {
		clearTimeout(timer);
		// Node keeps a signal that waits for `stopping` until it aborts.
		timeout.abort();
	}
}

const describeUnusable = (problem: string): GatewayStatus => ({
	...{ problems: [problem], reachable: false, isUsable: false },
	...{ clockOffsetMs: null, online: null }
});
